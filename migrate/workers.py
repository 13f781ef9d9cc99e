"""Programs spread over processes."""

from __future__ import annotations

import multiprocessing
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from queue import SimpleQueue

from . import memory, stops
from .analysis import Engine, analyse_program, internal_error
from .components import Component
from .model import FileResult, Settings

_WORTH_PROCESSES = 8  # below, starting them takes longer than they save


def results_of(
    programs: Sequence[Component],
    settings: Settings,
    jobs: int,
    engine: Engine,
    added: deque[Component] | None = None,
) -> Iterator[tuple[Component, tuple[FileResult, ...]]]:
    """What becomes of programs, and of those that the caller adds for what became of others."""
    added = deque() if added is None else added
    if jobs == 1 or sum(len(one.sources) for one in programs) < _WORTH_PROCESSES:
        added.extendleft(reversed(programs))
        while added:
            program = added.popleft()
            yield program, analyse_program(program, settings, engine)
        return
    # Large ones first, so that no process is left with one at the end.
    waiting = sorted(programs, key=lambda program: -program.size)
    lost: list[Component] = []
    yield from _gather(min(jobs, len(waiting)), waiting, added, settings, engine, lost)
    for program in sorted(lost, key=lambda program: program.sources[0].shown):
        yield program, _alone(program, settings, engine)
    while added:
        program = added.popleft()
        yield program, _alone(program, settings, engine)


def _gather(
    size: int,
    waiting: Sequence[Component],
    added: deque[Component],
    settings: Settings,
    engine: Engine,
    lost: list[Component],
) -> Iterator[tuple[Component, tuple[FileResult, ...]]]:
    """Results as they come; the programs of a pool that broke are appended to ``lost``."""
    futures: dict[Future[tuple[FileResult, ...]], Component] = {}
    done: SimpleQueue[Future[tuple[FileResult, ...]]] = SimpleQueue()
    with _pool(size) as pool:
        todo = deque(waiting)
        while todo or futures:
            for program in todo:
                try:
                    future = _submitted(pool, program, settings, engine)
                except BrokenProcessPool:
                    lost.append(program)
                else:
                    futures[future] = program
                    future.add_done_callback(done.put)
            todo.clear()
            if futures:
                future = done.get()
                program = futures.pop(future)  # or the texts of all files would be held until the end
                try:
                    results = future.result()
                except BrokenProcessPool:
                    lost.append(program)
                else:
                    yield program, results
            while added:
                todo.append(added.popleft())


def _alone(program: Component, settings: Settings, engine: Engine) -> tuple[FileResult, ...]:
    """A process died and took others' work along: try each program in a process of its own."""
    with _pool(1) as pool:
        try:
            return _submitted(pool, program, settings, engine).result()
        except BrokenProcessPool:
            why = "the process that analysed this file died"
            return tuple(internal_error(source.shown, why) for source in program.sources)


@contextmanager
def _pool(size: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block, whatever ends it, and with this process, should it be killed."""
    # Where it is safe, forked processes share what is imported already and start at once.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    reader, writer = context.Pipe(duplex=False)  # nothing is ever written: its end tells of this process's
    with reader, writer:
        pool = ProcessPoolExecutor(
            size, mp_context=context, initializer=_begin_worker, initargs=(reader, writer)
        )
        try:
            yield pool
        except BaseException:  # Ctrl-C: nobody waits for what the processes are still at
            for process in multiprocessing.active_children():
                process.kill()  # one that was stopped (SIGSTOP) would keep SIGTERM for later
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _begin_worker(parent: Connection, ours: Connection) -> None:
    stops.begin_worker(parent, ours)
    memory.begin()


def _submitted(
    pool: ProcessPoolExecutor, program: Component, settings: Settings, engine: Engine
) -> Future[tuple[FileResult, ...]]:
    with stops.held():  # a process that is born here must not answer them before it is set up
        return pool.submit(analyse_program, program, settings, engine)
