"""Blocks that hold a backward and look at its gradients as they end, by a method of the program's own (``__exit__``):
gradients are unscaled as the last thing in the block."""

from __future__ import annotations

import ast

from ...facts.scopes import Scope
from ...facts.sites import Scale
from ...units.unit import Context, Step, Unit
from ..blocks import common, exclusive
from .reached import conditions_of


def block_ends(
    ctx: Context, unit: Unit, scope: Scope, steps: list[Step], sites: list[Scale]
) -> dict[Step, ast.With | ast.AsyncWith]:
    """For each step the innermost such block ahead of it, where it always follows and finds no other gradients."""
    found: dict[Step, ast.With | ast.AsyncWith] = {}
    for stmt in ctx.m.statements(scope):
        if isinstance(stmt, (ast.With, ast.AsyncWith)) and ctx.unnamed.at_end(stmt):
            step = _step_behind(ctx, unit, stmt, steps, sites)
            if step is not None:
                found[step] = stmt  # an inner one comes behind the one around it
    return found


def _step_behind(
    ctx: Context, unit: Unit, block: ast.With | ast.AsyncWith, steps: list[Step], sites: list[Scale]
) -> Step | None:
    m = ctx.m
    inside = [s for s in sites if m.inside(s.call, block)]
    after = [s for s in steps if m.start(s.call) > m.end(block) and not exclusive(ctx, block, s.call)]
    if not inside or any(m.inside(s.call, block) for s in steps) or len(after) != 1 or after[0].text is None:
        return None
    step, tops = after[0], common(ctx, block, after[0].anchor)
    again = any(m.end(block) < m.start(s.call) < m.start(step.call) for s in sites)
    leaves = isinstance(block.body[-1], (ast.Return, ast.Continue, ast.Break, ast.Raise))
    if again or leaves or tops is None or tops[0] is not block or conditions_of(ctx, unit, tops[1], step):
        return None
    return step if all(s.optimizer_objects & step.objects for s in inside) else None
