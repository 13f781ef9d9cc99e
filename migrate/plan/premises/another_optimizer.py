"""A plain backward for an optimizer that Apex never had, beside scaled ones: the temperature of a soft actor-critic.

Whether its gradients reach the unit's weights as well is for the comparison of both programs to find out.
"""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...knowledge.gradients import SCHEDULERS
from ...nodes import walk
from ...units.unit import Context, Unit


def steps_another(ctx: Context, unit: Unit, node: ast.Call) -> bool:
    """Whether the next step behind a backward is that of an optimizer that is none of the unit's."""
    block, index = ctx.m.place[ctx.m.statement(node)]
    moments = {moment.call for moment in unit.moments}
    for stmt in block.body[index + 1 :]:
        calls = [n for n in walk(stmt) if isinstance(n, ast.Call)]
        if not moments.isdisjoint(calls):
            return False
        for call in calls:
            if called_name(call) == "step" and isinstance(call.func, ast.Attribute):
                held = ctx.v.of(call.func.value)
                if not of_scheduler(ctx, call.func):
                    return bool(held) and not held & unit.optimizer_objects and not ctx.v.callees(call)
    return False


def of_scheduler(ctx: Context, step: ast.Attribute) -> bool:
    """Whether a ``step`` is that of a learning rate scheduler, as far as names tell."""
    return any(SCHEDULERS.fit(name) for name in (ctx.m.src(step), *(o.label for o in ctx.v.of(step.value))))
