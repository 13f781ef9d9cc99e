"""What reads gradients after every backward and asks itself whether the step follows: ``if trainer.steps_now:``.

Gradients are unscaled ahead of it in those rounds; that it reads them in no other one is for the judge to see."""

from __future__ import annotations

import ast

from ...flow.touching import touches
from ...nodes import walk
from ...units.unit import Context, Step
from .reached import may_change, plain_test

MAX_DEPTH = 4
_LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)


def asks_for_the_step(ctx: Context, reader: ast.stmt, conditions: list[ast.stmt], step: Step) -> ast.expr | None:
    """The condition of the step, where code that a statement runs asks for it ahead of gradients, and it can be asked
    before that statement as well."""
    m = ctx.m
    match conditions:
        case [ast.If(test=test) as condition] if any(m.inside(step.call, stmt) for stmt in condition.body):
            pass
        case _:
            return None
    if step.text is None or not plain_test(test) or may_change(ctx, test, reader, condition):
        return None
    until = m.start(condition)
    if any(m.start(reader) < m.start(s) < until and isinstance(s, _LEAVES) for s in m.statements(m.function(reader))):
        return None
    names = {n.attr for n in walk(test) if isinstance(n, ast.Attribute)}
    names = names or {n.id for n in walk(test) if isinstance(n, ast.Name)}
    return test if any(_asks(ctx, one, names) for one in _run_by(ctx, reader)) else None


def _run_by(ctx: Context, stmt: ast.stmt) -> set[ast.AST]:
    """The functions that a statement runs, and those that these run."""
    found: set[ast.AST] = set()
    new: set[ast.AST] = {stmt}
    for _ in range(MAX_DEPTH):
        calls = [n for one in new for n in walk(one) if isinstance(n, ast.Call)]
        new = {f for call in calls for f in ctx.v.callees(call)} - found
        found |= new
    return found


def _asks(ctx: Context, function: ast.AST, names: set[str]) -> bool:
    """Whether a function looks at gradients where one of some names is asked."""
    if not touches(ctx.m, function):
        return False
    asked = [n for one in walk(function) if isinstance(one, ast.If) for n in walk(one.test)]
    return any(getattr(n, "attr", getattr(n, "id", None)) in names for n in asked)
