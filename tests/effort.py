"""How much is tried: `make test` tries a part of what repeats itself, the same each time, `make long` (LONG=1) all."""

from __future__ import annotations

import os

import pytest

LONG = bool(os.environ.get("LONG"))

#: What takes long and guards what seldom changes, or has a shorter sibling that always runs.
long = pytest.mark.skipif(not LONG, reason="takes long: `make long` runs it")


def some(all_of_them: int, part: int) -> int:
    """How many of the same kind are tried."""
    return all_of_them if LONG else part
