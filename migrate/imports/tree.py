"""The imports of a whole tree: which files reach which, and what they take from each other."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from ..reading import read
from .by_name import Computed, computed
from .graph import Graph
from .search_path import inside
from .spelled import module_name, within_apex
from .taken import mentions, takings

_OF_APEX = frozenset({"amp", "apex"})
_APEX = re.compile(rb"\b(?:amp|apex)\b")
_STARS = re.compile(rb"\bfrom[ \t]+[\w.]+[ \t]+import[ \t]+\*")
_COMPUTES = re.compile(rb"\bgetattr\(\s*(?:\w+\.)*(\w+)\s*,\s*(?![\"'])|\bexec\(")


class Imports(Graph):
    """The import graph of a tree, and the names that its files take."""

    def __init__(self, python_files: Iterable[str], notebooks: Iterable[str] = ()) -> None:
        super().__init__(python_files)
        self._names = {*self.path.names, *map(module_name, notebooks)}
        self._folders = {part for location in self.files for part in location.split(os.sep)[:-1]}
        self._takings: dict[str, Mapping[str, frozenset[str]]] = {}
        self._computed: dict[str, Computed] = {}
        self._speaking: dict[str, list[str]] | None = None

    def taken(self, location: str, together: Collection[str]) -> frozenset[str]:
        """The names that files which are not ``together`` with it take from a file, or from one of which they know no
        more than that it is called like it."""
        users = {*self.importers(location), *self._speaking_of(location)}.difference(together)
        found = frozenset[str]().union(*(self._takes(one, location) for one in users))
        # By a name or a path that is not written as an import: who imports it, or lies in the same folder, or one above
        # or below it. Nobody follows that, so a file that is together with it counts as well.
        return found | {"*"} if self._taken_by_name(location) else found

    def taken_by_package(self, location: str, together: Collection[str]) -> frozenset[str]:
        """The names that the ``__init__`` files of packages which are not ``together`` with a file take from it."""
        users = (one for one in self.importers(location) if os.path.basename(one) == "__init__.py")
        return frozenset[str]().union(*(self._takes(one, location) for one in users if one not in together))

    def _taken_by_name(self, location: str) -> bool:
        here, importers = os.path.dirname(location), self.importers(location)
        by_name = (one for one in self.by_name_only if one in importers or _near(os.path.dirname(one), here))
        return any(self._takes_any(one, location) for one in by_name)

    def unread(self, location: str, together: Collection[str]) -> frozenset[str]:
        """What a file may call Apex and its amp that nobody takes from it by a star: no file that takes all
        of its names by one, of those not ``together`` with it, says the word, nor one that imports such a file."""
        users = {*self.importers(location), *self._speaking_of(location)}.difference(together)
        takers = [one for one in users if "*" in self._takes(one, location)]
        above = self.above(takers)
        if not above.isdisjoint(self.large) or self._taken_by_name(location):
            return frozenset()
        if not all(self._by_star_alone(one, location) for one in takers):
            return frozenset()
        return _OF_APEX.difference(*(self.words(_APEX, one) for one in above))

    def _by_star_alone(self, user: str, location: str) -> bool:
        """Whether it is a star by which one file takes all names of another, and no name that it computes."""
        if location not in self.imported(user) or not self.words(_STARS, user):
            return False
        return self.words(_COMPUTES, user).isdisjoint({module_name(location), ""})

    def _speaking_of(self, location: str) -> list[str]:
        """Files that import a module called like a file, which leads to none of the tree."""
        if self._speaking is None:
            self._speaking = defaultdict(list)
            for one in self.files:
                for dotted, meant in self.meant(one).items():
                    if not meant and (name := dotted.rpartition(".")[2]) in self._names:
                        self._speaking[name].append(one)
        return self._speaking.get(module_name(location), [])

    def _takes(self, user: str, location: str) -> frozenset[str]:
        """The names that one file takes from another."""
        meant = self.meant(user)
        if user in self.large:
            return frozenset("*" if any(leads(one, location, files) for one, files in meant.items()) else "")
        if user not in self._takings:
            self._takings[user] = {}
            with suppress(OSError):  # the walk has said so already
                self._takings[user] = takings(read(user), self._names)
        found = self._takings[user].items()
        return frozenset[str]().union(*(names for one, names in found if leads(one, location, meant.get(one))))

    def _takes_any(self, user: str, location: str) -> bool:
        """Whether one file may take any name of another, by one that it computes."""
        if user in self.large:
            return mentions(user, module_name(location))
        if user not in self._computed:
            self._computed[user] = Computed()
            with suppress(OSError):
                self._computed[user] = computed(read(user))
        return self._computed[user].holds(location, self._folders)


def leads(dotted: str, location: str, meant: Collection[str] | None) -> bool:
    """Whether an import that means some files of the tree may lead to one. One that means none may do so all the same,
    by a path that somebody adds or a package that is installed under another name: `mmcv.utils` is no `utils.py` of a
    tree without `mmcv`."""
    if meant:
        return location in meant
    *packages, name = dotted.split(".")
    if name != module_name(location) or (dotted.startswith("apex.") and not within_apex(location)):
        return False
    folders = os.path.dirname(location).split(os.sep)
    return not packages or any(one in folders for one in packages if one)


def _near(one: str, other: str) -> bool:
    return inside(one, other) or inside(other, one)
