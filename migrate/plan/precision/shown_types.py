"""A type that a function of another file prints, of what a network gave: O1 and autocast leave some results in another
type (`y.softmax(-1)` was half under O1, and is float32 under autocast).
"""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...facts.networks import handed_elsewhere
from ...nodes import walk
from ...units.unit import Context, Unit


def review_shown_types(ctx: Context, unit: Unit) -> None:
    """Names the calls of such functions that are handed what a network of the unit gave."""
    if not unit.by_functions or not (typing := ctx.facts.elsewhere.typing):
        return
    for call in ctx.m.all(ast.Call):
        handed = handed_elsewhere(ctx.v, call, typing)
        if any(_of_network(ctx, unit, one) for one in handed):
            unit.review(
                call,
                "APX037",
                f"`{called_name(call)}` shows the type of what a network gave: it may be another one than under O1, as "
                "autocast runs some operations in another type than Apex's casts did",
            )


def _of_network(ctx: Context, unit: Unit, expr: ast.expr) -> bool:
    """Whether an expression was computed with a call of a network, through names of its function."""
    todo: list[ast.AST] = [expr]
    met = set[str]()
    while todo:
        for node in walk(todo.pop()):
            if isinstance(node, ast.Call) and not unit.model_objects.isdisjoint(ctx.v.of(node.func)):
                return True
            if isinstance(node, ast.Name) and node.id not in met:
                met.add(node.id)
                todo += (value for stmt in ctx.m.stores(node.id, ctx.m.scope(node)) for value in _given(ctx, stmt))
    return False


def _given(ctx: Context, target: ast.AST) -> list[ast.AST]:
    stmt = ctx.m.statement(target)
    value = getattr(stmt, "value", None)
    return [value] if isinstance(stmt, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and value is not None else []
