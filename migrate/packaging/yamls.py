"""YAML: the lists of conda environments, and settings and commands in any other file."""

from __future__ import annotations

import re
from dataclasses import replace

from .lines import spoken
from .mention import About, Mention
from .texts import comments_above, lines, whole_lines
from .words import WORD, requirement

_TOP = re.compile(r"([\w.-]+)\s*:")
_ITEM = re.compile(r"(\s*)-\s+(.*)", re.S)


def look(text: str) -> list[Mention]:
    """Items of a conda environment that are Apex, each with its line, and other mentions."""
    rows = lines(text)
    found: list[Mention] = []
    tops = {match[1] for row in rows if (match := _TOP.match(row))}
    if "dependencies" in tops and tops & {"channels", "name", "prefix", "variables"}:
        found = [one for number in _listed(rows, "dependencies") if (one := _item(text, rows, number))]
    elif {"package", "requirements"} <= tops or tops == {"dependencies"}:
        # a recipe of conda, or a list of whoever reads it: what it means is not ours to say
        key = "requirements" if "requirements" in tops else "dependencies"
        items = [one for number in _listed(rows, key) if (one := _item(text, rows, number))]
        found = [replace(one, cut=None) for one in items]
    taken = {one.line for one in found}
    return found + [one for one in spoken(text) if one.line not in taken]


def _listed(rows: list[str], key: str) -> list[int]:
    """The lines below a key at the margin."""
    found: list[int] = []
    inside = False
    for number, row in enumerate(rows, 1):
        if match := _TOP.match(row):
            inside = match[1] == key
        elif inside:
            found.append(number)
    return found


def _item(text: str, rows: list[str], number: int) -> Mention | None:
    match = _ITEM.match(rows[number - 1])
    sure = requirement(match[2]) if match else None
    if match is None or sure is None:
        return None
    # Where its list holds nothing else nothing valid would be left.
    listed = [other for other in _siblings(rows, number) if other and len(other[1]) == len(match[1])]
    alone = all(requirement(other[2]) is not None for other in listed)
    begin = comments_above(rows, number, WORD)
    cut = None if alone or _goes_on(rows, number, len(match[1])) else whole_lines(text, begin, number)
    return Mention(About.REQUIRES, number, number, sure, cut)


def _siblings(rows: list[str], number: int) -> list[re.Match[str] | None]:
    """The items around one until the list ends, as the indentation tells."""
    indent = _indent(rows[number - 1])

    def inside(row: str) -> bool:
        return not _TOP.match(row) and (not row.strip() or _indent(row) >= indent)

    first = last = number
    while first > 1 and inside(rows[first - 2]):
        first -= 1
    while last < len(rows) and inside(rows[last]):
        last += 1
    return [_ITEM.match(row) for row in rows[first - 1 : last]]


def _goes_on(rows: list[str], number: int, indent: int) -> bool:
    """Whether the item has further lines of its own."""
    return number < len(rows) and bool(rows[number].strip()) and _indent(rows[number]) > indent


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))
