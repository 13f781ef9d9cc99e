"""Blank lines around lines that go."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..facts.files import file_at
from ..facts.module import Module
from ..model import DeleteLines, Edit, InsertLines

_HEADER_END = re.compile(r":[ \t]*(?:#.*)?$")


def closed_gaps(m: Module, edits: Sequence[Edit]) -> list[Edit]:
    """Lines that go take the blank lines on one of their sides with them: the wider gap stays."""
    found: list[Edit] = []
    gone = {n for e in edits if isinstance(e, DeleteLines) for n in range(e.first, e.last + 1)}
    kept = {n for e in edits if isinstance(e, InsertLines) for n in (e.before - 1, e.before)}
    last = len(m.starts)
    for end in sorted(n for n in gone if n + 1 not in gone):  # and between lines that go, unless widest
        between = range(end + 1, end + 1 + _blank(m, range(end + 1, last + 1), gone))
        if between and between.stop in gone and not kept & {*between, between.stop}:
            first = next(n for n in range(end, 0, -1) if n - 1 not in gone)
            behind = next(n for n in range(between.stop, last + 2) if n not in gone)
            around = _blank(m, range(first - 1, 0, -1), gone), _blank(m, range(behind, last + 1), gone)
            if len(between) <= max(around):
                found.append(DeleteLines(between.start, between.stop - 1))
                gone |= set(between)
    for first in sorted(n for n in gone if n - 1 not in gone):
        end = first
        while end + 1 in gone:
            end += 1
        above = _blank(m, range(first - 1, 0, -1), gone)
        below = _blank(m, range(end + 1, last + 1), gone)
        begins = first - above == file_at(m.files, first).first
        if begins or _HEADER_END.search(m.line_text(first - above - 1)):  # none is above
            above, less = 0, below
        elif end + below + 1 >= file_at(m.files, end).fence:  # none is below
            less = above
        else:
            less = min(above, below)
        edge = range(first - less, first) if above else range(end + 1, end + 1 + less)
        if less and not kept & {*range(edge.start, edge.stop + 1), *range(first, end + 2)}:
            found.append(DeleteLines(edge.start, edge.stop - 1))
    return found


def _blank(m: Module, numbers: range, gone: set[int]) -> int:
    """How many lines, one after the other, are blank and stay."""
    count = 0
    for number in numbers:
        if number in gone or m.line_text(number).strip():
            break
        count += 1
    return count
