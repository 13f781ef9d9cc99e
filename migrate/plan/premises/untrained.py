"""Objects that only evaluate, of a class whose training initializes: ``tagger = Tagger(path); tagger.predict(x)``."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...units.order import NOT_YET
from ...units.unit import Context, Unit
from ..regions.planner import Planner
from .doubts import makers


def review_untrained(ctx: Context, unit: Unit, regions: Planner) -> None:
    """Objects that only evaluate where they are made, of a class whose training switches Apex on: in a run of their own
    nothing was cast."""
    m, order = ctx.m, regions.order
    classes = {cls for init in unit.initializes if (cls := m.class_of(m.function(init.call))) is not None}
    for cls in sorted(classes, key=m.start):
        method = m.method(cls, "__init__")
        made = makers(ctx, method) if method is not None and not order.switches(method) else set()
        for call in m.in_order(made):
            match m.statement(call):
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call:
                    calls = _called_alone(ctx, name, call)
                case _:
                    continue
            callees = {callee for one in calls for callee in ctx.v.callees(one)}
            scope = m.function(call)
            known = bool(ctx.v.calls[scope.node]) and NOT_YET not in order.states(call)  # training was ahead of it
            if known or order.calls(scope.node) or any(map(order.switches, callees)):
                continue
            scaled = {m.function(site.call).node for site in unit.sites}
            if any(_runs_one_of(ctx, scaled, callee) for callee in callees):
                continue  # it does train, whoever initializes
            if any(_has_region(ctx, regions, callee) for callee in callees):
                unit.review(
                    call,
                    "APX035",
                    f"this {cls.name} never trains here: where nothing else in the process had initialized Apex, it "
                    "ran in float32, and now it runs under autocast where its switch is on",
                )


def _called_alone(ctx: Context, name: str, made: ast.Call) -> list[ast.Call]:
    """The calls of methods of what a name of a function holds; none where anybody else gets it."""
    m = ctx.m
    scope = m.function(made)
    if not scope.is_function or len(list(m.stores(name, scope))) != 1:
        return []
    calls: list[ast.Call] = []
    for node in m.named(name):
        if isinstance(node.ctx, ast.Load) and m.binding_scope(name, m.scope(node)) is scope:
            taken = m.parent[node]
            above = m.parent[taken]
            if not isinstance(taken, ast.Attribute):
                return []
            if isinstance(above, ast.Call) and above.func is taken:
                calls.append(above)
    return calls


def _has_region(ctx: Context, regions: Planner, function: ast.AST) -> bool:
    """Whether a method has a region, or what it calls."""
    starts = {ctx.m.function(region.block.body[region.first]).node for region in regions.regions}
    return _runs_one_of(ctx, starts, function)


def _runs_one_of(ctx: Context, wanted: Collection[ast.AST], function: ast.AST) -> bool:
    """Whether a method is one of these functions, or runs one, directly or through others."""
    todo, met = [function], {function}
    while todo:
        one = todo.pop()
        if one in wanted:
            return True
        for call in ctx.calls_in.get(ctx.m.scope_of[one], ()):
            new = set(ctx.v.callees(call)) - met
            met |= new
            todo += new
    return False
