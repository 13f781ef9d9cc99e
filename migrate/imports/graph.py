"""The import graph of a tree: which files reach which, read as it is asked for."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from ..facts.elsewhere import Outline
from ..flow.found_by_name import LOCATES
from ..reading import NOTEBOOK, SOURCE_LIMIT, imports_of, windows
from .by_name import takes_by_name
from .search_path import SearchPath
from .spelled import Spelled, spelled
from .texts import Texts

_BY_WORD = re.compile(rb"\b(?:import_module|__import__)\(\s*[\"']((?:\w+\.)*\w+)[\"']\s*\)")  # as good as an import
_LOCATED = re.compile(rb"\b(?:" + "|".join(sorted(LOCATES)).encode() + rb")\(\s*f?[\"']((?:\w+\.)*\w+)[.:]")
# Who asks a module for a name that is not written: ``getattr(losses, name)``, ``vars(losses)``, ``"losses." + name``.
_ANY_OF = (
    rb"\b(?:getattr|vars|getmembers|dir)\(\s*%(name)s\s*[,)]|(?<![\w.])%(name)s\.__dict__|[\"']%(name)s\.[\"'{%%]"
)
_ATTRIBUTE = re.compile(rb"\.(\w+)")
_PACKAGE_IN_TEXT = re.compile(
    rb"\b(?:import_module|__import__)\(\s*[\"']((?:\w+\.)*\w+)[\"']|" + _LOCATED.pattern
)


class Graph(Texts):
    """Files, and those that they import."""

    def __init__(self, python_files: Iterable[str]) -> None:
        super().__init__()
        self.files = list(python_files)
        self.path = SearchPath(self.files)
        self._edges: dict[str, tuple[str, ...]] = {}
        self._meant: dict[str, dict[str, list[str]]] = {}
        self._above: dict[str, list[str]] | None = None
        self._takers: dict[str, tuple[str, ...]] = {}
        self._stars: dict[str, list[str]] = {}
        self.by_name_only: list[str] = []  # files that may take from others what they do not spell as an import
        self.large: set[str] = set()  # files of which no more is known than what they mention

    def reached(self, start: str, wanted: Collection[str]) -> str | None:
        """The first of ``wanted`` that ``start`` imports, directly or through other files; None where it does not."""
        seen, todo = {start}, [start]
        while todo:
            for following in self.imported(todo.pop(0)):
                if following in wanted:
                    return following
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        return None

    def beside(self, start: str, wanted: Collection[str]) -> str | None:
        """The first of ``wanted`` that runs in one process with ``start``: one of them reaches the other, or a third
        file both."""
        above = self.above((start,))
        return next((one for one in sorted(wanted) if one in above or self._reached_from(above, one)), None)

    def above(self, files: Collection[str]) -> set[str]:
        """Files, and those that import them, directly or through others."""
        found, todo = set(files), list(files)
        while todo:
            for importer in self.importers(todo.pop()):
                if importer not in found:
                    found.add(importer)
                    todo.append(importer)
        return found

    def _reached_from(self, starts: Collection[str], wanted: str) -> bool:
        return any(self.reached(one, (wanted,)) for one in starts)

    def imported(self, location: str) -> tuple[str, ...]:
        """The files that a file may import."""
        if location not in self._edges:
            found = dict.fromkeys(one for meant in self.meant(location).values() for one in meant)
            found.pop(location, None)
            self._edges[location] = tuple(found)
        return self._edges[location]

    def importers(self, location: str) -> tuple[str, ...]:
        """The files that may import a file; all of the tree are read for that, once."""
        if self._above is None:
            self._above = defaultdict(list)
            for one in self.files:
                for imported in self.imported(one):
                    self._above[imported].append(one)
        return tuple(self._above.get(location, ()))

    def takers(self, location: str) -> tuple[str, ...]:
        """The files that may import a file, or take what is in it from packages that hand it on: ``from algo import
        PPO``, ``algo.PPO``."""
        if location not in self._takers:
            found = dict.fromkeys(self.importers(location))
            names = _made(self.outline(location))
            todo = [one for one in found if os.path.basename(one) == "__init__.py"]
            seen = set(todo)
            while todo:
                for one in self.importers(todo.pop()):
                    if location in self.through(one) or names & self.words(_ATTRIBUTE, one):
                        found[one] = None
                    if os.path.basename(one) == "__init__.py" and one not in seen:
                        seen.add(one)
                        todo.append(one)
            self._takers[location] = tuple(found)
        return self._takers[location]

    def meant(self, location: str) -> dict[str, list[str]]:
        """For each dotted name that a file imports the files that it may mean."""
        if location not in self._meant:
            found = {name: self.path.resolve(name, location) for name in self._look(location)}
            for package in [one for one in found if not one.strip(".")]:  # ``from . import name``
                taken = {one for one in found if one.startswith(package) and one[len(package) :].isidentifier()}
                names = {one[len(package) :] for one in taken if not found[one]}
                if taken and not any(names & self.names_of(init) for init in found[package]):
                    found[package] = []  # modules, and nothing of the package itself but its version
            self._meant[location] = found
        return self._meant[location]

    def _look(self, location: str) -> dict[str, None]:
        """The names that a file of any size imports; none where it cannot be read."""
        names: dict[str, None] = {}
        by_name = False
        with suppress(OSError):
            for window in windows(location):
                imports = spelled(imports_of(location, window))
                names.update(dict.fromkeys(imports.modules()))
                names.update((found.decode(), None) for found in _BY_WORD.findall(window))
                names.update((found.decode(), None) for found in _LOCATED.findall(window))
                names.update(dict.fromkeys(self._asked_of_packages(imports, window)))
                by_name = by_name or takes_by_name(window)
            if os.path.getsize(location) > SOURCE_LIMIT:
                self.large.add(location)
        if by_name and not location.endswith(NOTEBOOK):
            self.by_name_only.append(location)
        return names

    def _asked_of_packages(self, imports: Spelled, data: bytes) -> Iterator[str]:
        """What is asked of packages as their attribute (``import losses``, ``losses.Focal()``): as good as taken. By a
        name that is not written (``getattr(losses, name)``, ``locate("losses." + name)``) all that they have may be."""
        for package, local in _packages(imports):
            inits = self.path.inits(package)
            if inits:
                name = re.escape(local.encode())
                found = {one.decode() for one in re.findall(rb"(?<![\w.])" + name + rb"\.(\w+)", data)}
                yield from (f"{package}.{one}" for one in sorted(found))
                if re.search(_ANY_OF % {b"name": name}, data):
                    yield from self._handed_on(package, inits)
        for names in _PACKAGE_IN_TEXT.findall(data):
            for package in map(bytes.decode, filter(None, names)):
                yield from self._handed_on(package, self.path.inits(package))

    def _handed_on(self, package: str, inits: Iterable[str]) -> Iterator[str]:
        """All that a package has from other files, as it is asked for."""
        for init in inits:
            names = {one for one, _ in self.outline(init).imported if one != "*"}
            for one in self._starred(init):
                names |= _made(self.outline(one))
            yield from (f"{package}.{one}" for one in sorted(names))

    def names_of(self, init: str) -> set[str]:
        """The functions and classes that a package has, those from other files among them."""
        outline = self.outline(init)
        made = [_made(one) for one in (outline, *map(self.outline, self._starred(init)))]
        return {local for local, _ in outline.imported if not local.startswith("__")}.union(*made)

    def _starred(self, location: str) -> list[str]:
        """The files whose names a file takes all together."""
        stars = self._ask(self._stars, lambda text: spelled(text.encode()).stars(), location, [])
        return [one for dotted in sorted({*stars}) for one in self.path.resolve(dotted, location) if one != location]

    def through(self, location: str) -> set[str]:
        """The files that a file's names come from where a package hands them on."""
        found: set[str] = set()
        todo = [(location, name) for name in self.meant(location)]
        seen = set(todo)
        while todo:
            at, dotted = todo.pop()
            package, _, name = dotted.rpartition(".")
            meant = self.meant(at)
            if dotted.startswith(".") and not package.strip("."):  # ``from . import name``
                package = f"{package}."
            for init in meant.get(package, ()) if not meant.get(dotted) else ():
                if os.path.basename(init) != "__init__.py":
                    continue
                onward = [k for k in self.meant(init) if k.rpartition(".")[2] == name and k.strip(".") != name]
                sources = {one for k in onward for one in self.meant(init).get(k.rpartition(".")[0], ())}
                if not onward:
                    sources = {one for one in self._starred(init) if name in _made(self.outline(one))}
                found |= sources
                more = [(init, k) for k in onward if (init, k) not in seen]
                seen.update(more)
                todo += more
        return found


def _made(outline: Outline) -> set[str]:
    return {cls.name for cls in outline.classes} | {function.name for function in outline.functions}


def _packages(imports: Spelled) -> Iterator[tuple[str, str]]:
    """The modules that a file imports whole, and what it calls them; those that it may, from a package of this name."""
    yield from imports.whole
    for one in imports.froms:
        if one.one_line and not one.module.startswith("."):
            yield from ((one.dotted(name), alias or name) for name, alias in one.names if name != "*")
