"""What ends a run from outside: Ctrl-C, SIGTERM, SIGHUP, and for a worker the end of its parent.

In the first process each of the three signals becomes `Stopped`, once: whoever cleans up after it
is not disturbed by the next one. Workers leave the answer to it, and end when it is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_NAMES = tuple(name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_SIGNALS = tuple(signal.Signals[name] for name in _NAMES)


class Stopped(KeyboardInterrupt):
    """A signal asked the run to end; ``done`` is what has to be said of what it did before."""

    def __init__(self, number: int, done: str = "") -> None:
        super().__init__(number)
        self.number = number
        self.done = done

    @property
    def sentence(self) -> str:
        what = "interrupted" if self.number == signal.SIGINT else f"stopped by {_name(self.number)}"
        return f"{what}{self.done}."

    @property
    def exit_code(self) -> int:
        return 128 + self.number


def said_of(stop: KeyboardInterrupt, done: str = "") -> Stopped:
    """The same end of the run, with what was done before it."""
    return Stopped(stop.number, done or stop.done) if isinstance(stop, Stopped) else Stopped(signal.SIGINT, done)


def written(left: int) -> str:
    """What was done once the files are written, but for ``left`` that somebody else changed."""
    return " after every file was written" + (f" but {left}, changed in the moment of writing" if left else "")


@contextmanager
def answered() -> Iterator[None]:
    """The three signals raise `Stopped` meanwhile, but for those that the caller's shell ignores (nohup)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.getsignal(one) for one in _SIGNALS}
    taken = [one for one, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    heard: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        if len(heard) == 1:
            raise Stopped(number)

    try:
        for one in taken:
            signal.signal(one, stop)
        yield
    finally:
        for one in taken:
            signal.signal(one, before[one])


@contextmanager
def held() -> Iterator[None]:
    """The signals wait until the end, or until `let_in`."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # raises what came just before
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_in() -> None:
    """A moment inside of `held` at which a signal that waits may end the run."""
    if sys.platform != "win32" and signal.sigpending() & set(_SIGNALS):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # of those that only this process ignores


def begin_worker(parent: Connection, ours: Connection) -> None:
    """Set a worker up: ``parent`` is at its end once every process that holds ``ours`` has gone or closed it."""
    ours.close()
    for one in _SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # who ends this worker alone means it
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)  # it was born while they were held
    with suppress(RuntimeError):  # no thread is to be had: it ends when it is done with what it is at
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Connection) -> None:
    with suppress(EOFError, OSError):
        parent.recv_bytes()
    os._exit(1)


def _name(number: int) -> str:
    return signal.Signals(number).name
