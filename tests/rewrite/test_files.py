"""Edits of a program land in the file they are meant for."""

from __future__ import annotations

from migrate.facts.module import Module
from migrate.model import DeleteLines, Edit, InsertLines, Reindent, Replace
from migrate.rewrite.apply import apply_edits
from migrate.rewrite.files import by_file

TEXTS = ("a = 1\nb = 2", "", "if c:\n    d = 3\n")


def _edited(*edits: Edit) -> list[str]:
    m = Module(*TEXTS, links=[{}, {}, {}])
    return [apply_edits(file.text, mine) for file, mine in zip(m.files, by_file(m.files, edits), strict=True)]


def test_positions_are_those_of_each_file() -> None:
    m = Module(*TEXTS, links=[{}, {}, {}])
    b, c = m.files[0].tree.body[1], m.files[2].tree.body[0]
    at = m.start(b)
    assert _edited(Replace(at, at + 1, "B"), DeleteLines(c.lineno + 1, c.lineno + 1)) == ["a = 1\nB = 2", "", "if c:\n"]


def test_what_is_appended_stays_in_its_file() -> None:
    m = Module(*TEXTS, links=[{}, {}, {}])
    behind = m.last_line(m.files[0].tree.body[1]) + 1
    assert _edited(InsertLines(behind, ("x = 9",), after_previous=True))[0] == "a = 1\nb = 2\nx = 9"
    first = m.files[2].first
    assert _edited(InsertLines(first, ("x = 9",)))[2] == "x = 9\nif c:\n    d = 3\n"


def test_blocks_move_within_their_file() -> None:
    m = Module(*TEXTS, links=[{}, {}, {}])
    line = m.files[2].first + 1
    assert _edited(Reindent(line, line, "    ", "        "))[2] == "if c:\n        d = 3\n"
