"""Two arms of one condition, one behind the other, become one: ``if a: … elif b: B`` is ``if a or b: B``."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..model import DeleteLines, Edit, Replace

LOOSER = (ast.Lambda, ast.IfExp, ast.NamedExpr)  # these bind less than ``or``


def joined(m: Module, gone: ast.If, stays: ast.If, edits: list[Edit]) -> list[Edit]:
    """``edits``, and those that let the arm of ``stays`` serve the condition of ``gone`` too, whose own arm goes; one
    is the other's ``elif``."""
    if stays in gone.orelse:
        return [*edits, Replace(m.end(gone.test), m.start(stays.test), " or ")]
    first, last = m.start(gone.test), m.end(gone.test)
    inside = [e for e in edits if isinstance(e, Replace) and first <= e.start and e.end <= last]
    text = m.src(gone.test)
    for edit in sorted(inside, key=lambda one: -one.start):
        text = text[: edit.start - first] + edit.text + text[edit.end - first :]
    behind = m.end(stays.test)
    whole = DeleteLines(gone.lineno, m.last_line(gone.body[-1]))
    return [*(e for e in edits if e not in inside), Replace(behind, behind, f" or {text}"), whole]
