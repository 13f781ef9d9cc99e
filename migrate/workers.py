"""Programs spread over processes.

Each worker has a pipe of its own, and this process no threads and no semaphores: where the system gives no more
processes, descriptors or shared memory, the work is done by those that there are, or here.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from . import memory, stops
from .analysis import Engine, analyse_program, internal_error
from .components import Component
from .model import FileResult, Settings

_WORTH_PROCESSES = 8  # below, starting them takes longer than they save
Done = tuple[Component, tuple[FileResult, ...]]


def results_of(
    programs: Sequence[Component],
    settings: Settings,
    jobs: int,
    engine: Engine,
    added: deque[Component] | None = None,
) -> Iterator[Done]:
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
) -> Iterator[Done]:
    """Results as they come; the programs of processes that died are appended to ``lost``."""
    todo = deque(waiting)
    with _pool(size, settings, engine) as pool:
        while todo or pool.at_work:
            while todo and pool.takes(todo[0]):
                todo.popleft()
            if pool.at_work:
                yield from pool.done(todo, lost)
            else:  # not one could be begun
                program = todo.popleft()
                yield program, analyse_program(program, settings, engine)
            while added:
                todo.append(added.popleft())


def _alone(program: Component, settings: Settings, engine: Engine) -> tuple[FileResult, ...]:
    """A process died at a program: try it in one of its own, which may take no other along."""
    lost: list[Component] = []
    with _pool(1, settings, engine) as pool:
        if not pool.takes(program):
            why = "the process that analysed this file died, and no other could be begun"
            return tuple(internal_error(source.shown, why) for source in program.sources)
        for _, results in pool.done(deque(), lost):
            return results
    why = "the process that analysed this file died"
    return tuple(internal_error(source.shown, why) for source in program.sources)


class _Pool:
    """Up to ``size`` processes, begun when there is work for one more."""

    def __init__(self, size: int, settings: Settings, engine: Engine) -> None:
        # Where it is safe, forked processes share what is imported already and start at once.
        self._context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
        self._size, self._work = size, (settings, engine)
        self._processes: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._ends: tuple[Connection, Connection] | None = None
        self.at_work: dict[Connection, Component] = {}

    def takes(self, program: Component) -> bool:
        """Whether a process is free for a program, which is handed to it."""
        if not (self._idle or self._begin()):
            return False
        one = self._idle.pop()
        with suppress(OSError):  # it died while it waited, and nothing comes back
            one.send(program)
        self.at_work[one] = program
        return True

    def done(self, todo: deque[Component], lost: list[Component]) -> Iterator[Done]:
        """Wait for results; who gave one is handed the next of ``todo`` before it is told."""
        ready: list[Done] = []
        for one in wait([*self.at_work]):
            assert isinstance(one, Connection)
            program = self.at_work.pop(one)
            try:
                results = one.recv()
            except (EOFError, OSError):
                self._drop(one)
                lost.append(program)
            else:
                self._idle.append(one)
                ready.append((program, results))
            if todo and self.takes(todo[0]):
                todo.popleft()
        yield from ready

    def _begin(self) -> bool:
        """Begin one more process, where there may be one and the system gives it."""
        if len(self._processes) >= self._size:
            return False
        with ExitStack() as stack:
            try:
                if self._ends is None:  # nothing is ever written: its end tells of this process's
                    self._ends = self._context.Pipe(duplex=False)
                ours, theirs = self._context.Pipe()
                stack.enter_context(theirs)
                process = self._context.Process(target=_serve, args=(*self._ends, theirs, *self._work), daemon=True)
                with stops.held():  # a process that is born here must not answer them before it is set up
                    process.start()
            except OSError:  # no more processes, descriptors or memory: those that there are do the rest
                self._size = len(self._processes)
                return False
        self._processes[ours] = process
        self._idle.append(ours)
        return True

    def end(self) -> None:
        """End all processes, whatever they are at: what they have done is told."""
        for process in self._processes.values():
            process.kill()  # one that was stopped (SIGSTOP) would keep SIGTERM for later
        for one in [*self._processes]:
            self._drop(one)
        for end in self._ends or ():
            end.close()

    def _drop(self, one: Connection) -> None:
        """A process is dead, or about to be; another may be begun in its place."""
        one.close()
        process = self._processes.pop(one)
        process.kill()
        process.join()


@contextmanager
def _pool(size: int, settings: Settings, engine: Engine) -> Iterator[_Pool]:
    """Processes that end with the block, whatever ends it, and with this process, should it be killed."""
    pool = _Pool(size, settings, engine)
    try:
        yield pool
    finally:
        pool.end()


def _serve(parent: Connection, ours: Connection, tasks: Connection, settings: Settings, engine: Engine) -> None:
    """What a process does: program after program, until it is ended."""
    stops.begin_worker(parent, ours)
    memory.begin()
    with suppress(EOFError, OSError, MemoryError):  # the first process tells of one that ends too soon
        while True:
            tasks.send(analyse_program(tasks.recv(), settings, engine))
    os._exit(1)
