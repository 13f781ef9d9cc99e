"""``apex2native`` where folders are listed, and objects lie, in another order: ``shuffled SEED ARGUMENTS``."""

from __future__ import annotations

import os
import random
import sys
from types import TracebackType
from typing import Any

from migrate.cli import main
from tests.shell.scattered import scatter


class _Listing:
    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> _Listing:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Listing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


def shuffle(seed: int) -> None:
    """From now on no two looks into a folder have the same order."""
    chance = random.Random(seed)
    scan, listing = os.scandir, os.listdir

    def scandir(*words: Any) -> _Listing:
        with scan(*words) as found:
            entries = list(found)
        chance.shuffle(entries)
        return _Listing(entries)

    def listdir(*words: Any) -> list[Any]:
        names = listing(*words)
        chance.shuffle(names)
        return names

    os.scandir, os.listdir = scandir, listdir  # type: ignore[assignment]


if __name__ == "__main__":
    shuffle(int(sys.argv[1]))
    scatter(int(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
