"""Objects that initialize themselves and train side by side: an ensemble, agents in a list.

Apex had one loss scale for all of them, as the last `initialize` left it; now each has a GradScaler of its own.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from ...facts.scopes import Scope
from ...units.unit import Context, Unit
from ..blocks import exclusive
from .places import Homes
from .preparing import trains
from .switch import constructor, hierarchy

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


def review_own_scales(ctx: Context, unit: Unit, homes: Homes) -> None:
    """Say so where several objects of a class that initializes are made before one of them trains."""
    m = ctx.m
    for creation in homes.creations:
        scope = m.function(creation.anchor)
        owner = m.class_of(scope) if "." in creation.text else None
        init = constructor(owner) if owner is not None else None
        if owner is None or init is None or creation.enabled.value is False or unit.fixed_scale:
            continue
        family = [cls for cls in ctx.made_classes if owner in hierarchy(ctx, cls)]
        own = any(m.class_of(m.function(i.call)) in {owner, *family} for i in unit.initializes if i.optimizers)
        if own and _side_by_side(ctx, [c for c in dict.fromkeys(ctx.v.calls[init]) if not m.idle(c)]):
            unit.review(
                creation.anchor,
                "APX060",
                f"each object of {owner.name} has a GradScaler of its own; Apex shared one loss scale between them, "
                "so that an overflow in one of them halved it for all",
            )
            return


def _side_by_side(ctx: Context, calls: list[ast.Call]) -> bool:
    """Whether some calls make several objects before anything trains."""
    m = ctx.m
    for call in calls:
        if any(isinstance(outer, _COMPREHENSIONS) for outer in m.ancestors(call) if m.inside(outer, m.statement(call))):
            return True
        if any(isinstance(loop, ast.For) and not trains(ctx, loop) for loop in m.loops(call)):
            return True
    by_scope: dict[Scope, list[ast.Call]] = {}
    for call in calls:
        by_scope.setdefault(m.function(call), []).append(call)
    return any(_none_between(ctx, scope, sorted(own, key=m.start)) for scope, own in by_scope.items())


def _none_between(ctx: Context, scope: Scope, calls: list[ast.Call]) -> bool:
    """Whether one run makes two objects of a function with nothing that trains between them."""
    m = ctx.m
    for one, other in pairwise(calls):
        if exclusive(ctx, one, other):
            continue
        first, last = m.start(m.statement(one)), m.start(m.statement(other))
        if not any(first <= m.start(s) < last and trains(ctx, s) for s in m.statements(scope)):
            return True
    return False
