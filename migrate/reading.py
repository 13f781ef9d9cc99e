"""The one way files of the target are read: regular ones, without waiting, up to a limit."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from .beneath import open_regular

SOURCE_LIMIT = 5 * 1024 * 1024  # larger files are no sources to be migrated
LOOK_LIMIT = 100 * 1024 * 1024  # and this much of them is looked at
NOTEBOOK = ".ipynb"
# What JSON puts before a line of a cell.
_QUOTED = re.compile(rb"^[ \t]*[\",\[][ \t\",\[]*(?=from\b|import\b)", re.M)
_WINDOW = 1 << 20
_OVERLAP = 1 << 16


class TooLarge(OSError):
    """A file is larger than what would be read of it."""


def read(location: str | Path, limit: int = SOURCE_LIMIT) -> bytes:
    """All bytes of a regular file at a real path; `TooLarge` where they are more than ``limit``."""
    descriptor = open_regular(Path(location))
    try:
        return read_open(descriptor, str(location), limit)
    finally:
        os.close(descriptor)


def read_open(descriptor: int, name: str, limit: int) -> bytes:
    """The same for a file that is open already; ``name`` is for the error."""
    # The size may grow while the file is read, and some systems' files have one of 0.
    parts: list[bytes] = []
    left = limit + 1
    while left and (part := os.read(descriptor, min(left, _WINDOW))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise TooLarge(errno.EFBIG, "it is too large", name)
    return b"".join(parts)


def imports_of(location: str, data: bytes) -> bytes:
    """What of a file's bytes its imports are looked for in: of a notebook the lines of its cells, without the quotes
    that JSON puts around them."""
    if not location.endswith(NOTEBOOK):
        return data
    return _QUOTED.sub(b"", data.replace(b"\\n", b"\n"))


def windows(location: str | Path, limit: int = LOOK_LIMIT) -> Iterator[bytes]:
    """The beginning of a file of any size in pieces that overlap, in memory that does not grow with it."""
    descriptor = open_regular(Path(location))
    try:
        tail = b""
        while limit > 0 and (part := os.read(descriptor, min(limit, _WINDOW))):
            limit -= len(part)
            window = tail + part
            yield window
            tail = window[-_OVERLAP:]
    finally:
        os.close(descriptor)
