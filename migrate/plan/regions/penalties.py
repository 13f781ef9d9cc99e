"""Losses that no call of a model leads to: penalties of the weights, with a backward of their own (EWC)."""

from __future__ import annotations

import ast

from ...facts.once import once_each
from ...facts.scopes import Scope
from ...knowledge.models import PARAMETERS
from ...nodes import walk
from ...units.compute import Compute
from ...units.unit import Context


def of_weights(ctx: Context, compute: Compute, stmt: ast.stmt, loss: ast.expr) -> bool:
    """Whether a local variable is a loss that functions of the program make of weights, which are float32 as they are:
    autocast has nothing to do there but in products, which are looked for wherever they stand."""
    scope = ctx.m.function(stmt)
    if not isinstance(loss, ast.Name) or not scope.is_function or loss.id in scope.params:
        return False
    made = _given(ctx, scope, loss.id)
    if not made or any(map(compute.forwards, made)):
        return False
    return all(_made_of_weights(ctx, value) for value in made)


@once_each
def _given(ctx: Context, scope: Scope, name: str) -> list[ast.expr]:
    """What a local variable is given but for constants; empty where it is given something in another way."""
    given = [ctx.m.statement(node) for node in ctx.m.bindings(name, scope)]
    values = [one.value for one in given if isinstance(one, (ast.Assign, ast.AugAssign))]
    return [] if len(values) < len(given) else [value for value in values if not _constant(value)]


def _constant(value: ast.expr) -> bool:
    """``torch.tensor(0.)``: what stands for no penalty."""
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Call) and all(isinstance(arg, ast.Constant) for arg in value.args) and not value.keywords
    )


def _made_of_weights(ctx: Context, value: ast.expr) -> bool:
    callees = [c for node in walk(value) if isinstance(node, ast.Call) for c in ctx.v.callees(node)]
    return any(isinstance(n, ast.Attribute) and n.attr in PARAMETERS for c in callees for n in walk(c))
