"""What a file imports, by a quick look at its bytes: the one scanner of imports for files that are not parsed.

A tree has thousands of files, and which of them are one program has to be known ahead of reading any. Files of a
program are parsed, and their imports are the syntax tree's.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SPACE = rb"(?:[ \t\f]|\\\n)"
# Names in parentheses go up to the next parenthesis outside of a comment, so that a file is read once.
_FROM = re.compile(
    rb"from(?:S+|(?=\.))([.\w\x80-\xff]+)(?:S+|(?<=\.))import\b"
    rb"S*(\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|(?:[^\n#;\\]|\\\n)+)".replace(b"S", _SPACE)
)
_IMPORT = re.compile(rb"import(?=[ \t\f\\])((?:[^\n#;\\]|\\\n)+)")
_NAME = re.compile(r"(\w+|\*)(?:\s+as\s+(\w+))?")
_COMMENT, _QUOTED = re.compile(rb"#[^\n]*"), re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
# What a statement may stand behind on its line: ``try: import a``, ``import a; import b``.
_BLOCK = re.compile(rb"(?:try|else|finally|except|if|elif|for|while|with|def|class|async|case)\b.*:")
_LONGEST = 2000  # bytes of a line ahead of a statement


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
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.removeprefix(codecs.BOM_UTF8)
    return Spelled(tuple(_froms(data)), tuple(_whole(data)))


def _froms(data: bytes) -> list[From]:
    found = []
    for at in _places(data, b"from"):
        if (one := _FROM.match(data, at)) is not None:
            names = tuple(_NAME.findall(_text(_COMMENT.sub(b"", one[2].replace(b"\\\n", b" ")))))
            found.append(From(_text(one[1]), names, not one[2].startswith(b"("), data[at - 1 : at] in (b"", b"\n")))
    return found


def _whole(data: bytes) -> list[tuple[str, str]]:
    """Modules by their dotted names, with the name that holds them: ``import a.b as c``, ``import a.b``."""
    found = (_IMPORT.match(data, at) for at in _places(data, b"import"))
    rows = (_text(one[1].replace(b"\\\n", b" ")).split(",") for one in found if one is not None)
    parts = (part.split() for row in rows for part in row)
    return [(words[0], words[2] if len(words) == 3 else words[0]) for words in parts if words]


def _places(data: bytes, word: bytes) -> Iterator[int]:
    """Where a statement may begin with a word. Going through all lines would take several times as long."""
    at = data.find(word)
    while at >= 0:
        floor = max(at - _LONGEST, 0)
        begin = data.rfind(b"\n", floor, at) + 1 or floor
        ahead = data[begin:at].strip(b" \t\f")
        if not ahead:
            if data[begin - 2 : begin] != b"\\\n":
                yield at
        elif ahead.endswith((b";", b":")):
            rest = _QUOTED.sub(b"", ahead)
            if not any(mark in rest for mark in (b"#", b"'", b'"')) and (rest[-1:] == b";" or _BLOCK.fullmatch(rest)):
                yield at
        at = data.find(word, at + 1)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def module_name(location: str) -> str:
    """The name other files import a file by: its stem, or its folder's for a package."""
    path = Path(location)
    return path.parent.name if path.stem == "__init__" else path.stem


def within_apex(location: str) -> bool:
    """Whether a file lies in a copy of Apex's package."""
    return "apex" in Path(location).parts
