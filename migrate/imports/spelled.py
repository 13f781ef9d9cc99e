"""What a file imports, by a quick look at its bytes: the one scanner of imports for files that are not parsed.

A tree has thousands of files, and which of them are one program has to be known ahead of reading any. Files of a
program are parsed, and their imports are the syntax tree's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# Names in parentheses go up to the next parenthesis outside of a comment, so that a file is read once.
_FROM = re.compile(
    rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|(?:[^\n#;\\]|\\\r?\n)+)", re.M
)
_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([^\n#;]+)", re.M)
_NAME = re.compile(r"(\w+|\*)(?:\s+as\s+(\w+))?")
_COMMENT = re.compile(rb"#[^\n]*")


@dataclass(frozen=True)
class From:
    """``from module import name as alias, …``, each name with its alias or none; ``*`` for all."""

    module: str
    names: tuple[tuple[str, str], ...]
    one_line: bool = True  # no parentheses
    top: bool = True  # not indented

    def dotted(self, name: str) -> str:
        """The module that a name may be, as this file would import it."""
        return f"{self.module}{'' if self.module.endswith('.') else '.'}{name}"


@dataclass(frozen=True)
class Spelled:
    """The imports of a text: names that are taken from modules, and modules, with what the file calls them."""

    froms: tuple[From, ...] = ()
    whole: tuple[tuple[str, str], ...] = ()

    def modules(self) -> list[str]:
        """Dotted names of the modules that a file imports, and of what it takes from packages, which may be modules."""
        found = []
        for one in self.froms:
            found.append(one.module)
            found += [one.dotted(name) for name, _ in one.names if name != "*"]
        return [*found, *(dotted for dotted, _ in self.whole)]

    def names(self) -> frozenset[tuple[str, str]]:
        """The names that a file takes from others, and what they are called there."""
        taken = {(alias or name, name) for one in self.froms for name, alias in one.names}
        return frozenset(taken | {(local, dotted.rpartition(".")[2]) for dotted, local in self.whole})

    def stars(self) -> list[str]:
        """The modules whose names a file takes all together."""
        return [one.module for one in self.froms if ("*", "") in one.names]


def spelled(data: bytes) -> Spelled:
    """The imports of a text."""
    return Spelled(tuple(_froms(data)), tuple(_whole(data)))


def _froms(data: bytes) -> list[From]:
    """By way of the word, as going through all lines takes several times as long."""
    found, at, end = [], data.find(b"from"), 0
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        one = _FROM.match(data, begin) if begin >= end and not data[begin:at].strip(b" \t") else None
        if one is not None:
            names = tuple(_NAME.findall(_text(_COMMENT.sub(b"", one[2]))))
            found.append(From(_text(one[1]), names, not one[2].startswith(b"("), one[0].startswith(b"from")))
        end = end if one is None else one.end()
        at = data.find(b"from", max(at + 1, end))
    return found


def _whole(data: bytes) -> list[tuple[str, str]]:
    """Modules by their dotted names, with the name that holds them: ``import a.b as c``, ``import a.b``."""
    if b"import" not in data:
        return []
    parts = (part.split() for names in _IMPORT.findall(data) for part in _text(names).split(","))
    return [(words[0], words[2] if len(words) == 3 else words[0]) for words in parts if words]


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def module_name(location: str) -> str:
    """The name other files import a file by: its stem, or its folder's for a package."""
    path = Path(location)
    return path.parent.name if path.stem == "__init__" else path.stem


def within_apex(location: str) -> bool:
    """Whether a file lies in a copy of Apex's package."""
    return "apex" in Path(location).parts
