"""The tool where what is told apart by its place in memory lies in another order: ``scattered SEEDS FILE…``.

Nodes, and objects without a value of their own, are hashed by their addresses. These are nearly the same from run to
run of one program, so that a set of them that is gone through in its own order looks as if it had one. Here such hashes
are drawn anew for each seed; printed is for each file how many different things the engine said of it, and a digest.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import migrate
from migrate.engine import migrate_module
from migrate.model import Settings

_NOT_OURS = ("migrate.verify.", "migrate.checkpoint.")  # what runs in the user's processes, or needs torch
_seed = 0


def _drawn(self: object) -> int:
    return hash((_seed, id(self)))


def scatter(seed: int) -> None:
    """From now on such objects have other hashes; those that are there already must not be used again."""
    global _seed
    _seed = seed
    ast.AST.__hash__ = _drawn  # type: ignore[method-assign]
    for module in pkgutil.walk_packages(migrate.__path__, "migrate."):
        if module.name.startswith(_NOT_OURS) or module.name.endswith("__main__"):
            continue
        for cls in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(cls) and cls.__module__.startswith("migrate.") and cls.__hash__ is object.__hash__:
                cls.__hash__ = _drawn


def main(seeds: int, names: list[str]) -> None:
    for name in names:
        text, said = Path(name).read_text(encoding="utf-8"), set[str]()
        for seed in range(seeds):
            scatter(seed)
            said.add(repr(migrate_module(text, Settings())))
        print(len(said), Path(name).name, hashlib.sha256("".join(sorted(said)).encode()).hexdigest()[:12])


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
