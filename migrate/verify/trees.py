"""Scratch copies of the user's tree: the runs happen there."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError

_LEFT_OUT = frozenset(
    ".git .hg .svn .tox .nox .venv __pycache__ .mypy_cache .pytest_cache .ruff_cache node_modules".split()
)
_GIB = 1 << 30


@dataclass(frozen=True)
class Limit:
    """How much is copied: more is refused before anything is."""

    size: int = 2 * _GIB  # bytes
    files: int = 100_000


def copy(tree: Path, to: Path, link: Sequence[str], limit: Limit, scratch: Path | None = None) -> None:
    """Copy ``tree``, without version control, caches, environments and ``scratch``, where the copies go.

    What ``link`` names (paths in the tree, such as a folder of data) becomes a link to the original. Links of the
    tree stay links. Raises UserError where the tree is too large, and names its largest part."""
    linked = {os.path.normpath(name) for name in link}
    for name in sorted(linked):
        if name.startswith("..") or os.path.isabs(name) or not (tree / name).exists():
            raise UserError(f"--link {name}: there is no such file or folder in {tree}.")
    away = os.path.realpath(scratch or to)
    _refuse_large(tree, linked, limit, away)
    for folder, folders, files in os.walk(tree):
        here = os.path.relpath(folder, tree)
        place = to / here
        place.mkdir(parents=True, exist_ok=True)
        folders[:] = sorted(name for name in folders if not _is_left_out(folder, name, away))
        for name in [*folders, *files]:
            path, inside = os.path.join(folder, name), os.path.normpath(os.path.join(here, name))
            if inside in linked:
                os.symlink(os.path.realpath(path), place / name)
            elif os.path.islink(path):
                os.symlink(os.readlink(path), place / name)
            elif stat.S_ISREG(os.lstat(path).st_mode):
                shutil.copy(path, place / name)
                os.chmod(place / name, os.lstat(path).st_mode | stat.S_IWUSR | stat.S_IRUSR)
        folders[:] = [name for name in folders if not os.path.islink(place / name)]


def lay_over(stubs: Path, tree: Path) -> None:
    """Copy a folder of stand-ins over the tree: what has the same path is replaced."""
    shutil.copytree(stubs, tree, dirs_exist_ok=True)


def _is_left_out(folder: str, name: str, away: str) -> bool:
    path = os.path.join(folder, name)
    return name in _LEFT_OUT or os.path.exists(os.path.join(path, "pyvenv.cfg")) or os.path.realpath(path) == away


def _refuse_large(tree: Path, linked: set[str], limit: Limit, away: str) -> None:
    sizes: dict[str, int] = {}
    count = 0
    for folder, folders, files in os.walk(tree):
        here = os.path.relpath(folder, tree)
        folders[:] = [
            name
            for name in folders
            if not _is_left_out(folder, name, away) and os.path.normpath(os.path.join(here, name)) not in linked
        ]
        for name in files:
            inside = os.path.normpath(os.path.join(here, name))
            if inside in linked:
                continue
            count += 1
            top = inside.split(os.sep)[0]
            sizes[top] = sizes.get(top, 0) + os.lstat(os.path.join(folder, name)).st_size
    total = sum(sizes.values())
    if total <= limit.size and count <= limit.files:
        return
    largest = max(sizes, key=lambda name: (sizes[name], name))
    raise UserError(
        f"{tree} holds {total / _GIB:.1f} GiB in {count} files, too much to copy three times: "
        f"--link {largest} uses the original of its largest part ({sizes[largest] / _GIB:.1f} GiB)."
    )
