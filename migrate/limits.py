"""What the analysis of one program may take: time, memory and depth."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .errors import Tangled

MOST_SECONDS = 120  # of CPU, for one program
MOST_IN_ALL = 600  # for all programs that share files: a base of trainers, and sixty scripts that derive from it
MOST_MEMORY = 2 << 30  # bytes that one program may take, beside what the process has
_begun = 0.0  # when the work under `guarded` began, in seconds of CPU of this process
_RECURSION_LIMIT = 4000  # long chains of elif or + nest deeply; the C stack bears this on every version


@contextmanager
def guarded() -> Iterator[None]:
    """What the analysis of a program runs under."""
    with warnings.catch_warnings(), _deep_recursion(), _limited_time(), _limited_memory():
        warnings.simplefilter("ignore")  # the files' own, such as invalid escapes
        yield


@contextmanager
def _limited_time() -> Iterator[None]:
    """End the work on a file that takes longer than any should: seconds of CPU, so that a busy machine says the same.

    Bounds on facts and on states come first; this is for what they do not see."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: object) -> None:
        raise Tangled(f"it was given {MOST_SECONDS} seconds")

    global _begun
    _begun = time.process_time()
    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def begin_anew() -> None:
    """The next of the programs that are worked on under one `guarded` has all the time for itself: how many there are
    does not decide what becomes of the last one, unless they are so many that all have to end."""
    if sys.platform == "win32" or not signal.getitimer(signal.ITIMER_PROF)[0]:
        return
    if time.process_time() - _begun > MOST_IN_ALL:
        raise Tangled(f"all programs that share its files were given {MOST_IN_ALL} seconds")
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)


@contextmanager
def _limited_memory() -> Iterator[None]:
    """End the work on a file that takes more than any should, where the system has such a bound: on Linux."""
    had = _address_space() if sys.platform == "linux" else 0
    if sys.platform != "linux" or not had:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    bounds = [had + MOST_MEMORY, *(one for one in before if one != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), before[1]))
    given = max(min(bounds) - had, 0)  # less than it should be where the caller set a bound
    try:
        yield
    except MemoryError:
        if _address_space() - had >= given // 2:  # else it is the parser, which says so of a full stack
            raise Tangled(f"it was given {given >> 20} megabytes of memory") from None
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _address_space() -> int:
    """Bytes that this process has mapped; 0 where nobody says (a root without /proc)."""
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as told:
        return int(told.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit for a while, never lower it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
