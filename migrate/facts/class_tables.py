"""Tables of classes that a file keeps under a name: ``extractors = {"window": Window, "fuzzy": Fuzzy}``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

Table = tuple[str, frozenset[str]]  # its name, and what it holds; nothing where that cannot be said

_MADE = re.compile(r"^(\w+)[ \t]*(?::[^=\n{}]*)?=(?!=)[ \t]*([^\n]*)", re.M)
_ITEM = re.compile(r"\s*(?:'[^'\n]*'|\"[^\"\n]*\"|\w+)\s*:\s*((?:\w+\.)*\w+)\s*(?:,|\Z)")


def tables(text: str) -> tuple[Table, ...]:
    """The names of a file's own level that are given a table, each as often as it is given something."""
    named = {name for name, value in _MADE.findall(text) if value.startswith("{")}
    return tuple(
        (made[1], _items(text, made.start(2)) if _as_made(text, made[1]) else frozenset())
        for made in _MADE.finditer(text)
        if made[1] in named
    )


def plain_tables(files: Iterable[Collection[Table]], plain: Collection[str]) -> frozenset[str]:
    """The names under which these files keep nothing but classes that are no networks."""
    said = [one for file in files for one in file]
    other = {name for name, held in said if not held or not held.issubset(plain)}
    return frozenset(name for name, _ in said if name not in other)


def _items(text: str, start: int) -> frozenset[str]:
    """What stands behind the keys from an opening brace on, where each is a name."""
    at, end = start + 1, text.find("}", start)
    found = set[str]()
    while at < end and text[at:end].strip():
        item = _ITEM.match(text, at, end)
        if item is None:
            return frozenset()
        found.add(item[1].rpartition(".")[2])
        at = item.end()
    return frozenset(found)


def _as_made(text: str, name: str) -> bool:
    """Whether nothing is put into a table later on, as far as its own file tells."""
    put = r"\[[^\]\n]*\][ \t]*=(?!=)|\.(?:update|setdefault|__setitem__)\b|[ \t]*\|="
    return not re.search(rf"\b{name}(?:{put})", text)
