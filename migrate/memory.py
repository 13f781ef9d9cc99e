"""When memory is given back.

Nearly all that the analysis of a program makes lives until its end, and hangs together in circles. To look for circles
that nobody holds any more while it goes on takes a good part of its time and finds next to nothing; behind it, all is
found. So it is done seldom, and behind a program only where this process has grown.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 2_000_000  # objects that are made before circles among them are looked for
_GROWN = 1_000_000  # blocks (some 128 MB) that a process may hold more than after it last gave some back
_least: list[int] = [0]  # what it held then


@contextmanager
def seldom_collected() -> Iterator[None]:
    """What is there already is left out, and circles among what is made anew are seldom looked for."""
    before = gc.get_threshold()
    begin()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def begin() -> None:
    """The same in a process that is there for nothing else."""
    gc.freeze()
    gc.set_threshold(_MANY, 10, 1_000)
    _least[0] = sys.getallocatedblocks()


def give_back() -> None:
    """A program is done: what its analysis took goes back, if it is much. Blocks that are held are counted, not what
    the process takes of the machine: that hardly shrinks, and next to it nothing would seem to have grown."""
    if not _least[0] or sys.getallocatedblocks() - _least[0] > _GROWN:
        gc.collect()
        _least[0] = sys.getallocatedblocks()
