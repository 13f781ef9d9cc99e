"""Where the processes of a session run: on this machine, on one GPU or several, or as jobs of a cluster.

Every task is a process of its own with its own file of records, so that trainings may run side by side; speed tasks
never do, they have the machine alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from .process import Progress, run_task
from .records import Ended
from .worker import Request

TURN = 0.5
"""Seconds after which who waits for tasks looks whether Ctrl-C was pressed."""


class Engine(Protocol):
    """Runs tasks. `side_by_side` is how many trainings it runs at a time."""

    @property
    def side_by_side(self) -> int: ...

    def run(
        self, request: Request, progress: Progress, timeout: float | None, slot: int, stop: threading.Event
    ) -> Ended:
        """Run a task to its recorded end, in one of the slots (0 and up); end it early where `stop` is set.

        Raises UserError where records cannot be written, KeyboardInterrupt where it was stopped.
        """


@dataclass(frozen=True)
class Here:
    """This machine; with `gpus` one training on each of them at a time."""

    gpus: tuple[str, ...] = ()
    """As CUDA_VISIBLE_DEVICES names them; none: what the environment says."""

    @property
    def side_by_side(self) -> int:
        return max(1, len(self.gpus))

    def run(
        self, request: Request, progress: Progress, timeout: float | None, slot: int, stop: threading.Event
    ) -> Ended:
        gpu = self.gpus[slot] if self.gpus else None
        return run_task(request, progress, timeout, gpu, stop)


def all_of(
    tasks: list[Callable[[int], None]], slots: int, may_start: Callable[[int], bool], stop: threading.Event
) -> int:
    """Call each with the number of a free slot, at most `slots` at a time, in order; returns how many were begun.

    No more are begun once `may_start` (of the next one's index) says no, or one raised: that is raised here when the
    others have ended, which `stop` asks them to do early.
    """
    free = list(range(slots))
    begun: list[Future[None]] = []
    errors: list[BaseException] = []

    def one(task: Callable[[int], None], slot: int) -> None:
        try:
            task(slot)
        except BaseException as error:
            errors.append(error)
            stop.set()
        finally:
            free.append(slot)

    def running() -> list[Future[None]]:
        return [future for future in begun if not future.done()]

    # Of a thread whose `join` is interrupted Python up to 3.12 says that it has ended, though it runs on: what is
    # waited for are futures.
    with ThreadPoolExecutor(slots) as pool:
        try:
            for index, task in enumerate(tasks):
                while not free:
                    wait(running(), TURN, FIRST_COMPLETED)
                if stop.is_set() or not may_start(index):
                    break
                slot = min(free)
                free.remove(slot)
                begun.append(pool.submit(one, task, slot))
            while running():
                wait(running(), TURN)
        except BaseException:
            stop.set()
            wait(begun)
            raise
    if errors:
        raise errors[0]
    return len(begun)
