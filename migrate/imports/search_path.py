"""The files of a tree that a dotted name may mean.

Nothing is imported and ``sys.path`` is not known: a dotted name is looked up as a path, relative ones
from the file itself, absolute ones below any folder, the nearest first. A name of one word has to lie
beside the file or in a folder above it, as a script's own folder is on the path, or in one that the file names where it
puts folders there.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from contextlib import suppress

from ..reading import read
from ..required import Requirements
from .spelled import module_name, spelled

_QUOTED = re.compile(rb"[\"']([\w./-]+)[\"']")
_ADDED = ("lib", "src")  # folders that scripts put on the path of what they import


class SearchPath:
    """Where the imports of a tree's files lead."""

    def __init__(self, python_files: Iterable[str]) -> None:
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for location in python_files:
            self._by_name[module_name(location)].append(location)
        self._requirements = Requirements()
        self._paths: dict[str, frozenset[str]] = {}

    @property
    def names(self) -> Collection[str]:
        """What the files are called by those that import them."""
        return self._by_name.keys()

    def inits(self, package: str) -> list[str]:
        """The ``__init__.py`` of packages that are called like the last word of a dotted name."""
        files = self._by_name.get(package.rpartition(".")[2], ())
        return [one for one in files if os.path.basename(one) == "__init__.py"]

    def resolve(self, dotted: str, location: str) -> list[str]:
        """The files that ``dotted`` may mean in ``location``."""
        here = os.path.dirname(location)
        level = len(dotted) - len(dotted.lstrip("."))
        words = [word for word in dotted.split(".") if word]
        if not words:
            return self._package(here, level)
        files = self._by_name.get(words[-1])
        if not files:
            return []
        if level:
            for _ in range(level - 1):
                here = os.path.dirname(here)
            base = os.path.join(here, *words)
            return [one for one in files if one in (f"{base}.py", os.path.join(base, "__init__.py"))]
        tail = os.path.join(os.sep, *words)
        near = [one for one in files if one.endswith((f"{tail}.py", os.path.join(tail, "__init__.py")))]
        if len(words) == 1:
            added = [one for one in near if os.path.dirname(one) in (os.path.join(here, path) for path in _ADDED)]
            above = [one for one in near if _above(one, here)]
            near = above or added or [one for one in near if _near_by(one, here, self._shown(location))]
        else:
            near = [one for one in near if not self._installed(words[0], here, _begun(one, len(words)))]
        if len(near) < 2:
            return near
        if len(words) == 1 and (own := os.path.join(here, "__init__.py")) in near:
            return [own]  # a file of the package `data` is imported, and no script beside `data/data.py`
        shared = [len(os.path.commonpath([one, location])) for one in near]
        near = [one for one, length in zip(near, shared, strict=True) if length == max(shared)]
        # of `utils/misc.py` and `timm/utils/misc.py` a script beside both folders means the former
        begun = [one for one in near if _above(_begun(one, len(words)), here)] if len(near) > 1 else near
        return begun or near

    def _package(self, folder: str, level: int) -> list[str]:
        """The ``__init__.py`` of the package that a file in a folder means by so many dots."""
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        files = self._by_name.get(os.path.basename(folder), ()) if level else ()
        return [one for one in files if one == os.path.join(folder, "__init__.py")]

    def _shown(self, location: str) -> frozenset[str]:
        """The folders that a file spells in which it has to do with ``sys.path``; likewise the ``_init_paths.py`` that
        it imports."""
        if location not in self._paths:
            self._paths[location] = frozenset()
            with suppress(OSError):
                data = read(location)
                beside = os.path.join(os.path.dirname(location), "_init_paths.py")
                if "_init_paths" in spelled(data).modules() and beside in self._by_name.get("_init_paths", ()):
                    data += read(beside)
                quoted = _QUOTED.findall(data) if b"sys.path" in data else []
                self._paths[location] = frozenset(part for one in quoted for part in one.decode().split("/"))
        return self._paths[location]

    def _installed(self, package: str, here: str, begun: str) -> bool:
        """Whether what a file in ``here`` imports is not what ``begun`` is, but a package that is installed."""
        home = os.path.dirname(begun)
        return not _above(begun, here) and self._requirements.pin(package, here, home)


def _near_by(module: str, folder: str, names: Collection[str]) -> bool:
    """Whether a module (or package) lies in a folder of one of these names, beside ``folder`` or one above it, or one
    further down."""
    around, name = os.path.split(_home(module))
    return name in names and any(inside(folder, one) for one in (around, os.path.dirname(around)))


def inside(folder: str, outer: str) -> bool:
    return folder == outer or folder.startswith(outer + os.sep)


def _above(module: str, folder: str) -> bool:
    """Whether a module (or package) lies in ``folder`` or in one above it."""
    return inside(folder, _home(module))


def _home(module: str) -> str:
    """The folder that a module (or package) is found in."""
    home = os.path.dirname(module)
    return os.path.dirname(home) if os.path.basename(module) == "__init__.py" else home


def _begun(location: str, words: int) -> str:
    """What is imported first of the dotted name that a file fits: the package, or the file itself."""
    whole = os.path.dirname(location) if os.path.basename(location) == "__init__.py" else location
    for _ in range(words - 1):
        whole = os.path.dirname(whole)
    return whole
