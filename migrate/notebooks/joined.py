"""The code of all cells as one Python text, as they are run from top to bottom; and a text of that kind as cells again.

A comment marks where each cell begins. Lines that only IPython understands (``%matplotlib inline``, ``!pip install``)
are held by a ``pass`` each, what they go on with by a comment. Cells that are no Python (``%%bash``) or do not parse
are left out.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from .cells import Cell

_BEGIN = "#apex2native:cell "
_HELD = "#apex2native:line "
_MARK = re.compile(rf"^{_BEGIN}(\d+)$", re.M)
_HOLDER = re.compile(rf"(?:(?:pass|None)  )?{_HELD}(\d+)")
_SHELL = re.compile(r"^(\s*)(?:[%!]|\?{1,2}\w)|^\s*[\w.]+\?{1,2}\s*$")
_ASSIGNED = re.compile(r"^(\s*\w[\w, ]*=\s*)[%!]")
_COMMAND = re.compile(r"\s*(?:\w[\w, ]*=\s*)?%")
_OF_PYTHON = re.compile(r"^%%(?:time|timeit|capture|prun|python3?|debug)\b")


@dataclass(frozen=True)
class Joined:
    """The code of a notebook. ``held`` are the lines that only IPython understands, ``begins`` where the cells of
    ``indexes`` begin (the line of their mark). ``broken`` are cells that seem to be Python and do not parse."""

    text: str
    held: tuple[str, ...]
    indexes: tuple[int, ...]
    begins: tuple[int, ...]
    broken: tuple[int, ...] = ()

    def holds(self, index: int, line: str) -> bool:
        """Whether a line of a cell is not in the text as Python."""
        return index not in self.indexes or line in self.held

    def unread(self, index: int, line: str) -> bool:
        """Whether a line of a cell is Python that is not in the text: the cell does not parse, or IPython runs it."""
        return index in self.broken or (line in self.held and _COMMAND.match(line) is not None)

    def place(self, line: int) -> tuple[int, int]:
        """The cell (its index) and the line in it that a line of the text stands for."""
        at = max(bisect_right(self.begins, line) - 1, 0)
        return self.indexes[at], max(line - self.begins[at], 1)


def join(cells: Sequence[Cell]) -> Joined:
    """The code of ``cells`` as one text."""
    parts: list[str] = []
    held: list[str] = []
    indexes: list[int] = []
    begins: list[int] = []
    broken: list[int] = []
    line = 1
    for cell in cells:
        code = _python(cell.source, held)
        if code is None:
            broken += [] if _other_language(cell.source) else [cell.index]
            continue
        part = f"{_BEGIN}{cell.index}\n{code}\n"
        parts.append(part)
        indexes.append(cell.index)
        begins.append(line)
        line += part.count("\n")
    return Joined("".join(parts), tuple(held), tuple(indexes), tuple(begins), tuple(broken))


def split(text: str, joined: Joined) -> dict[int, str] | None:
    """The source of each cell of a text that was made of ``joined``; None where it cannot be told apart any more."""
    marks = list(_MARK.finditer(text))
    if [int(mark[1]) for mark in marks] != list(joined.indexes) or text[: marks[0].start()].strip():
        return None
    if [int(one[1]) for one in _HOLDER.finditer(text)] != list(range(len(joined.held))):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    found: dict[int, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        code = text[mark.end() + 1 : end].removesuffix("\n")
        found[int(mark[1])] = "\n".join(_released(line, joined.held) for line in code.split("\n"))
    return found


def _python(source: str, held: list[str]) -> str | None:
    """The source of a cell as Python; None where it is none. Lines that are held are added to ``held``."""
    if _parses(source):
        return source
    mine: list[str] = []
    lines: list[str] = []
    on = False  # whether the line before goes on in this one
    for number, line in enumerate(source.split("\n")):
        shell = _SHELL.match(line)
        assigned = _ASSIGNED.match(line)
        if _other_language(line):
            return None
        if shell or assigned or on or (number == 0 and line.startswith("%%")):
            bare = assigned[1] + "None  " if assigned else f"{line[: len(line) - len(line.lstrip())]}pass  "
            lines.append(f"{'' if on else bare}{_HELD}{len(held) + len(mine)}")
            mine.append(line)
            on = line.rstrip().endswith("\\")
        else:
            lines.append(line)
    code = "\n".join(lines)
    if not _parses(code):
        return None
    held += mine
    return code


def _other_language(source: str) -> bool:
    """Whether a cell, or the rest of one, is handed to something else than Python: ``%%bash``."""
    return source.startswith("%%") and not _OF_PYTHON.match(source)


def _parses(code: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(code)
        except (SyntaxError, ValueError):
            return False
    return True


def _released(line: str, held: Sequence[str]) -> str:
    """A line as it was, where it was held: as deep as it stands now."""
    holder = _HOLDER.search(line)
    if holder is None:
        return line
    was = held[int(holder[1])]
    if holder[0].startswith(_HELD):  # the rest of the line before
        return was
    return line[: len(line) - len(line.lstrip())] + was.lstrip()
