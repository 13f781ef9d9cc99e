"""An operand gets another type where it stands."""

from __future__ import annotations

import ast

from .common import Work


def convert(work: Work, operand: ast.expr, method: str) -> None:
    """``.float()`` behind an expression, and behind the parentheses that it stands in."""
    m = work.m
    start, end = m.start(operand), m.end(operand)
    if isinstance(operand, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        work.draft.insert_at(end, method)
    elif m.text[:start].rstrip().endswith("(") and m.text[end:].lstrip().startswith(")"):
        inside = m.parent[operand]
        called = isinstance(inside, ast.Call) and operand in inside.args and len(inside.args) == 1
        if called:  # those are the parentheses of the call
            work.draft.insert_at(start, "(")
            work.draft.insert_at(end, f"){method}")
        else:
            work.draft.insert_at(m.text.index(")", end) + 1, method)
    else:
        work.draft.insert_at(start, "(")
        work.draft.insert_at(end, f"){method}")
