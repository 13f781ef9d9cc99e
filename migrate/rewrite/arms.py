"""Two arms of one condition, one behind the other, become one: ``if a: … elif b: B`` is ``if a or b: B``."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..model import DeleteLines, Edit, Replace

LOOSER = (ast.Lambda, ast.IfExp, ast.NamedExpr)  # these bind less than ``or``


def joined(m: Module, gone: ast.If, stays: ast.If, edits: list[Edit]) -> list[Edit]:
    """``edits``, and those that let the arm of ``stays`` serve the condition of ``gone`` too, whose own arm goes; one
    is the other's ``elif``."""
    both = None if _within(m, gone.test, edits) or _within(m, stays.test, edits) else _one_of(m, gone.test, stays.test)
    if stays in gone.orelse:
        if both is not None:
            return [*edits, Replace(m.start(gone.test), m.end(stays.test), both)]
        return [*edits, Replace(m.end(gone.test), m.start(stays.test), " or ")]
    first, inside = m.start(gone.test), _within(m, gone.test, edits)
    text = m.src(gone.test)
    for edit in sorted(inside, key=lambda one: -one.start):
        text = text[: edit.start - first] + edit.text + text[edit.end - first :]
    behind = m.end(stays.test)
    whole = DeleteLines(gone.lineno, m.last_line(gone.body[-1]))
    if both is not None:
        return [*edits, Replace(m.start(stays.test), behind, both), whole]
    return [*(e for e in edits if e not in inside), Replace(behind, behind, f" or {text}"), whole]


def _within(m: Module, test: ast.expr, edits: list[Edit]) -> list[Replace]:
    first, last = m.start(test), m.end(test)
    return [e for e in edits if isinstance(e, Replace) and first <= e.start and e.end <= last]


def _one_of(m: Module, gone: ast.expr, stays: ast.expr) -> str | None:
    """``use_amp in ("apex", "native")`` of two comparisons of one name."""
    match gone, stays:
        case (
            ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant() as one]),
            ast.Compare(left=other, ops=[ast.Eq()], comparators=[ast.Constant() as two]),
        ) if m.src(left) == m.src(other) and isinstance(left, (ast.Name, ast.Attribute)):
            return f"{m.src(left)} in ({m.src(one)}, {m.src(two)})"
        case _:
            return None
