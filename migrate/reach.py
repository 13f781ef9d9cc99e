"""Which files of the tree reach which through their imports.

Nothing is imported and ``sys.path`` is not known: a dotted name is looked up as a path, relative ones
from the file itself, absolute ones below any folder, the nearest first. A name of one word has to lie
beside the file or in a folder above it, as a script's own folder is on the path, or in one that the file names where it
puts folders there.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

from .exports import IMPORT, Computed, computed, imports, mentions, module_name, takes_by_name, takings, within_apex
from .facts.elsewhere import Elsewhere, Outline, defined, elsewhere, outline
from .facts.handed_types import Given, gives_other_types, puts_handed
from .facts.masks import adds_to_products
from .facts.stores import stores_other_types
from .flow.found_by_name import LOCATES
from .reading import NOTEBOOK, SOURCE_LIMIT, imports_of, read, windows
from .required import Requirements

T = TypeVar("T")
_BY_WORD = re.compile(rb"\b(?:import_module|__import__)\(\s*[\"']((?:\w+\.)*\w+)[\"']\s*\)")  # as good as an import
_INIT_PATHS = re.compile(rb"^[ \t]*(?:import|from)[ \t]+_init_paths\b", re.MULTILINE)
_QUOTED = re.compile(rb"[\"']([\w./-]+)[\"']")
_LOCATED = re.compile(rb"\b(?:" + "|".join(sorted(LOCATES)).encode() + rb")\(\s*f?[\"']((?:\w+\.)*\w+)[.:]")
# Who asks a module for a name that is not written: ``getattr(losses, name)``, ``vars(losses)``, ``"losses." + name``.
_ANY_OF = (
    rb"\b(?:getattr|vars|getmembers|dir)\(\s*%(name)s\s*[,)]|(?<![\w.])%(name)s\.__dict__|[\"']%(name)s\.[\"'{%%]"
)
_PACKAGE_IN_TEXT = re.compile(
    rb"\b(?:import_module|__import__)\(\s*[\"']((?:\w+\.)*\w+)[\"']|" + _LOCATED.pattern
)
_STAR = re.compile(rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+\*", re.M)
_TAKEN = re.compile(rb"(\w+)(?:\s+as\s+\w+)?")


class Imports:
    """The import graph of a tree, read as it is asked for."""

    def __init__(self, python_files: Iterable[str], notebooks: Iterable[str] = ()) -> None:
        self._files = list(python_files)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for location in self._files:
            self._by_name[module_name(location)].append(location)
        self._names = {*self._by_name, *map(module_name, notebooks)}
        self._by_name_only: list[str] = []  # files that may take from others what they do not spell as an import
        self._requirements = Requirements()
        self._large: set[str] = set()  # files of which no more is known than what they mention
        self._edges: dict[str, tuple[str, ...]] = {}
        self._meant: dict[str, dict[str, list[str]]] = {}
        self._words: dict[tuple[re.Pattern[bytes], str], frozenset[str]] = {}
        self._outlines: dict[str, Outline] = {}
        self._defined: dict[str, tuple[str, ...]] = {}
        self._elsewhere: dict[tuple[str, ...], Elsewhere] = {}
        self._stores: dict[str, bool] = {}
        self._adds: dict[str, bool] = {}
        self._puts: dict[str, frozenset[str]] = {}
        self._gives: dict[str, Given] = {}
        self._takings: dict[tuple[str, bool], Mapping[str, frozenset[str]]] = {}
        self._computed: dict[str, Computed] = {}
        self._paths: dict[str, frozenset[str]] = {}
        self._folders = {part for location in self._files for part in location.split(os.sep)[:-1]}
        self._above: dict[str, list[str]] | None = None
        self._speaking: dict[str, list[tuple[str, str]]] | None = None

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
            for one in self._files:
                for imported in self.imported(one):
                    self._above[imported].append(one)
        return tuple(self._above.get(location, ()))

    def taken(self, location: str, inside: Collection[str]) -> frozenset[str]:
        """The names that files which are not ``inside`` take from a file, or from one of which they know no more than
        that it is called like it."""
        speaking = self._speaking_of(location)
        called = [one for one, dotted in speaking if not self.meant(one)[dotted] and _may_mean(dotted, location)]
        users = {*self.importers(location), *called} - set(inside)
        found = frozenset().union(*(self._takes(one, location, within_apex(location)) for one in users))
        # by a name or a path that is not written as an import: from the same folder, or one above or below it, also
        # by a file that is ``inside``, as nobody follows that
        here = os.path.dirname(location)
        by_name = (one for one in self._by_name_only if _near(os.path.dirname(one), here))
        return found | {"*"} if any(self._takes_any(one, location) for one in by_name) else found

    def taken_by_name(self, location: str, vendored: bool) -> frozenset[str]:
        """The names that files take from any module that is called like a file."""
        users = {one for one, _ in self._speaking_of(location)}
        users.update(self._by_name_only, self._large)
        return frozenset().union(*(self._takes(one, location, vendored) for one in users))

    def _speaking_of(self, location: str) -> list[tuple[str, str]]:
        """Files that import a module called like a file, whichever that is, and the dotted names that they do so by."""
        if self._speaking is None:
            self._speaking = defaultdict(list)
            for one in self._files:
                for dotted in self.meant(one):
                    if (name := dotted.rpartition(".")[2]) in self._names:
                        self._speaking[name].append((one, dotted))
        return self._speaking.get(module_name(location), [])

    def _takes_any(self, user: str, location: str) -> bool:
        """Whether one file may take any name of another, by one that it computes."""
        if user in self._large:
            return mentions(user, module_name(location))
        if user not in self._computed:
            self._computed[user] = Computed()
            with suppress(OSError):
                self._computed[user] = computed(read(user))
        return self._computed[user].holds(location, self._folders)

    def _takes(self, user: str, location: str, vendored: bool) -> frozenset[str]:
        """The names that one file takes from modules called like another."""
        name = module_name(location)
        if user in self._large:
            return frozenset("*") if mentions(user, name) else frozenset()
        if (user, vendored) not in self._takings:
            self._takings[user, vendored] = {}
            with suppress(OSError):  # the walk has said so already
                self._takings[user, vendored] = takings(read(user), self._names, vendored=vendored)
        return self._takings[user, vendored].get(name, frozenset())

    def meant(self, location: str) -> dict[str, list[str]]:
        """For each dotted name that a file imports the files that it may mean."""
        if location not in self._meant:
            self._meant[location] = {name: self._resolve(name, location) for name in self._look(location)}
        return self._meant[location]

    def _look(self, location: str) -> dict[str, None]:
        """The names that a file of any size imports; none where it cannot be read."""
        names: dict[str, None] = {}
        by_name = False
        with suppress(OSError):
            for window in windows(location):
                names.update(dict.fromkeys(_names(imports_of(location, window))))
                names.update((found.decode(), None) for found in _BY_WORD.findall(window))
                names.update((found.decode(), None) for found in _LOCATED.findall(window))
                names.update(dict.fromkeys(self._asked_of_packages(window)))
                by_name = by_name or takes_by_name(window)
            if os.path.getsize(location) > SOURCE_LIMIT:
                self._large.add(location)
        if by_name and not location.endswith(NOTEBOOK):
            self._by_name_only.append(location)
        return names

    def _asked_of_packages(self, data: bytes) -> Iterator[str]:
        """What is asked of packages as their attribute (``import losses``, ``losses.Focal()``): as good as taken. By a
        name that is not written (``getattr(losses, name)``, ``locate("losses." + name)``) all that they have may be."""
        for package, local in _packages(data):
            inits = self._inits(package)
            if inits:
                name = re.escape(local.encode())
                found = {one.decode() for one in re.findall(rb"(?<![\w.])" + name + rb"\.(\w+)", data)}
                yield from (f"{package}.{one}" for one in sorted(found))
                if re.search(_ANY_OF % {b"name": name}, data):
                    yield from self._handed_on(package, inits)
        for names in _PACKAGE_IN_TEXT.findall(data):
            for package in map(bytes.decode, filter(None, names)):
                yield from self._handed_on(package, self._inits(package))

    def _inits(self, package: str) -> list[str]:
        files = self._by_name.get(package.rpartition(".")[2], ())
        return [one for one in files if os.path.basename(one) == "__init__.py"]

    def _handed_on(self, package: str, inits: Iterable[str]) -> Iterator[str]:
        """All that a package has from other files, as it is asked for."""
        for init in inits:
            names = {one for one, _ in self.outline(init).imported if one != "*"}
            for one in self._starred(init):
                names |= _made(self.outline(one))
            yield from (f"{package}.{one}" for one in sorted(names))

    def _starred(self, location: str) -> list[str]:
        """The files whose names a file takes all together."""
        stars = sorted(self.words(_STAR, location))
        return [one for dotted in stars for one in self._resolve(dotted, location) if one != location]

    def words(self, pattern: re.Pattern[bytes], location: str) -> frozenset[str]:
        """What of a file fits a pattern, each once; a file is read once for each pattern."""
        if (pattern, location) not in self._words:
            found: set[str] = set()
            with suppress(OSError):
                for window in windows(location):
                    found.update(one.decode(errors="replace") for one in pattern.findall(window))
            self._words[(pattern, location)] = frozenset(found)
        return self._words[(pattern, location)]

    def outline(self, location: str) -> Outline:
        """The classes and functions of a file."""
        return self._ask(self._outlines, outline, location, Outline())

    def defined(self, location: str) -> tuple[str, ...]:
        """What the functions and methods of a file are called."""
        return self._ask(self._defined, defined, location, ())

    def elsewhere(self, files: tuple[str, ...]) -> Elsewhere:
        """What files make of networks, all together; worked out once, as many scripts import the same."""
        if files not in self._elsewhere:
            self._elsewhere[files] = elsewhere([self.outline(one) for one in files])
        return self._elsewhere[files]

    def stores_other_types(self, location: str) -> bool:
        """Whether a file puts into tensors what has another type under autocast."""
        return self._ask(self._stores, stores_other_types, location, False)

    def puts_handed(self, location: str) -> frozenset[str]:
        """The functions of a file that put what they are handed into a tensor."""
        return self._ask(self._puts, puts_handed, location, frozenset())

    def gives_other_types(self, location: str) -> Given:
        """What a file gives back that has another type under autocast."""
        return self._ask(self._gives, gives_other_types, location, Given())

    def adds_to_products(self, location: str) -> bool:
        """Whether a file adds something in place to what a product gave."""
        return self._ask(self._adds, adds_to_products, location, False)

    def _ask(self, known: dict[str, T], ask: Callable[[str], T], location: str, nothing: T) -> T:
        """The answer of a file's text, looked for once; ``nothing`` of one that is too large, or cannot be read."""
        if location not in known:
            known[location] = nothing
            with suppress(OSError):
                known[location] = ask(read(location).decode(errors="replace"))
        return known[location]

    def through(self, location: str) -> set[str]:
        """The files that a file's names come from where a package hands them on."""
        found: set[str] = set()
        todo = [(location, name) for name in self.meant(location)]
        seen = set(todo)
        while todo:
            at, dotted = todo.pop()
            package, _, name = dotted.rpartition(".")
            meant = self.meant(at)
            for init in meant.get(package, meant.get(f"{package}.", ())) if not meant.get(dotted) else ():
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

    def _resolve(self, dotted: str, location: str) -> list[str]:
        """The files that ``dotted`` may mean in ``location``."""
        here = os.path.dirname(location)
        level = len(dotted) - len(dotted.lstrip("."))
        words = [word for word in dotted.split(".") if word]
        if not words:
            return []
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
        shared = [len(os.path.commonpath([one, location])) for one in near]
        near = [one for one, length in zip(near, shared, strict=True) if length == max(shared)]
        # of `utils/misc.py` and `timm/utils/misc.py` a script beside both folders means the former
        begun = [one for one in near if _above(_begun(one, len(words)), here)] if len(near) > 1 else near
        return begun or near

    def _shown(self, location: str) -> frozenset[str]:
        """The folders that a file spells in which it has to do with ``sys.path``; likewise the ``_init_paths.py`` that
        it imports."""
        if location not in self._paths:
            self._paths[location] = frozenset()
            with suppress(OSError):
                data = read(location)
                beside = os.path.join(os.path.dirname(location), "_init_paths.py")
                if _INIT_PATHS.search(data) and beside in self._by_name["_init_paths"]:
                    data += read(beside)
                spelled = _QUOTED.findall(data) if b"sys.path" in data else []
                self._paths[location] = frozenset(part for one in spelled for part in one.decode().split("/"))
        return self._paths[location]

    def _installed(self, package: str, here: str, begun: str) -> bool:
        """Whether what a file in ``here`` imports is not what ``begun`` is, but a package that is installed."""
        home = os.path.dirname(begun)
        return not _above(begun, here) and self._requirements.pin(package, here, home)


_ADDED = ("lib", "src")  # folders that scripts put on the path of what they import


def _may_mean(dotted: str, location: str) -> bool:
    """Whether a name that leads to no file of the tree may mean one all the same, by a path that somebody adds or a
    package that is installed under another name: `mmcv.utils` is no `utils.py` of a tree without `mmcv`."""
    packages = dotted.split(".")[:-1]
    folders = os.path.dirname(location).split(os.sep)
    return not packages or any(one in folders for one in packages if one)


def _near_by(module: str, folder: str, names: Collection[str]) -> bool:
    """Whether a module (or package) lies in a folder of one of these names, beside ``folder`` or one above it, or one
    further down."""
    around, name = os.path.split(_home(module))
    return name in names and any(_inside(folder, one) for one in (around, os.path.dirname(around)))


def _inside(folder: str, outer: str) -> bool:
    return folder == outer or folder.startswith(outer + os.sep)


def _near(one: str, other: str) -> bool:
    return _inside(one, other) or _inside(other, one)


def _above(module: str, folder: str) -> bool:
    """Whether a module (or package) lies in ``folder`` or in one above it."""
    return _inside(folder, _home(module))


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


def _names(data: bytes) -> Iterator[str]:
    """Dotted names of the modules that a file imports, and of what it takes from packages, which may be modules."""
    for source, names in imports(data):
        module = source.decode(errors="replace")
        yield module
        for name in _TAKEN.findall(names):
            yield f"{module}{'' if module.endswith('.') else '.'}{name.decode(errors='replace')}"
    for names in IMPORT.findall(data):
        for part in names.split(b","):
            words = part.split()
            if words:
                yield words[0].decode(errors="replace")


def _made(outline: Outline) -> set[str]:
    return {cls.name for cls in outline.classes} | {function.name for function in outline.functions}


_FROM = re.compile(rb"^[ \t]*from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+([^\n#;(*]+)", re.M)


def _packages(data: bytes) -> Iterator[tuple[str, str]]:
    """The modules that a text imports whole, and what it calls them."""
    for names in IMPORT.findall(data):
        for words in map(bytes.split, names.split(b",")):
            if words:
                yield words[0].decode(errors="replace"), words[-1].decode(errors="replace")
    for above, names in _FROM.findall(data):
        for words in map(bytes.split, names.split(b",")):
            if words:
                package = f"{above.decode(errors='replace')}.{words[0].decode(errors='replace')}"
                yield package, words[-1].decode(errors="replace")
