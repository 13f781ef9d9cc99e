"""``--format patch``: what ``git apply`` takes, from the top of the repository."""

from __future__ import annotations

from collections.abc import Iterator

from .diff import unified
from .given import Given


def render(given: Given) -> Iterator[bytes]:
    """The bytes of the patch, file by file; nothing where nothing changes."""
    for one in given.outcome.changed:
        texts = given.texts(one)
        if texts is not None:
            yield b"".join(unified(given.name(one.result.path), *texts))
