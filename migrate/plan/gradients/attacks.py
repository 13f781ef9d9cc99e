"""Functions that ask for the gradient of an input: attacks, saliency maps.

No optimizer holds such a tensor, so its gradient carries the loss scale under Apex and natively. A backward that was
not scaled may not become a scaled one there: the attack would see another gradient.
"""

from __future__ import annotations

import ast

from ...facts.sites import Scale
from ...flow.tensors import own_gradient
from ...nodes import walk
from ...units.unit import Context


def asks_for_its_own(ctx: Context, node: ast.AST) -> bool:
    """Whether the function of a backward reads the gradient of a tensor that no optimizer holds."""
    m = ctx.m
    grads = (n for n in m.own(m.function(node), ast.Attribute) if n.attr == "grad" and isinstance(n.ctx, ast.Load))
    return any(own_gradient(m, ctx.v, n) for n in grads)


def scaled_at_times(ctx: Context, guard: ast.If, scale: Scale) -> bool:
    """Whether an attack scales its loss under a condition that is not the one of mixed precision, as far as names go:
    ``if opt is not None`` where it attacks while it trains."""
    if not asks_for_its_own(ctx, scale.call):
        return False
    asked: set[str] = set()
    for init in ctx.facts.initializes:
        around = [outer.test for outer in ctx.m.spine(init.call) if isinstance(outer, ast.If)]
        asked.update(*map(_spelled, (*around, *init.options.values())))
    return not _spelled(guard.test) & asked


def _spelled(expr: ast.expr) -> set[str]:
    """The names and attributes that an expression reads."""
    found = {n.id for n in walk(expr) if isinstance(n, ast.Name)}
    return found | {n.attr for n in walk(expr) if isinstance(n, ast.Attribute)}
