"""Objects that only evaluate, of a class whose training initializes: ``tagger = Tagger(path); tagger.predict(x)``."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...units.order import NOT_YET
from ...units.public import public
from ...units.unit import Context, Unit
from ..plan import Plan
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


def review_public_evaluations(ctx: Context, unit: Unit, plan: Plan) -> None:
    """What whoever has a package may evaluate without training, where nothing in the tree does: ``Trainer.evaluate`` of
    a class whose ``train`` initializes. Where that was all that a process ran, nothing was cast."""
    for region in plan.planner.regions:
        enabled = plan.enabled_at.get(region, "")
        if region.why != "evaluation" or enabled == "False" or ".is_enabled()" in enabled:
            continue
        entries = _entries(ctx, plan.planner, region.block.body[region.first])
        if entries:
            plan.alone.append(region)
            unit.review(
                region.block.body[region.first],
                "APX035",
                f"whoever calls {_listed(entries)} in a process that trains nothing ran this in float32, as nothing "
                "had initialized Apex; now it runs under autocast wherever its switch is on",
            )


def _listed(names: list[str]) -> str:
    spelled = [f"{name}()" for name in names]
    return " or ".join([", ".join(spelled[:-1]), spelled[-1]] if len(spelled) > 1 else spelled)


def _entries(ctx: Context, regions: Planner, stmt: ast.stmt) -> list[str]:
    """The public functions that nothing in the tree calls, and public methods of classes of which it makes no object,
    that lead to a statement on a way that initializes nothing."""
    m, order = ctx.m, regions.order
    todo, met, found = [m.function(stmt).node], set[ast.AST](), set[str]()
    while todo:
        one = todo.pop()
        if one in met or order.switches(one) or not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        met.add(one)
        callers = [m.function(call).node for call in ctx.v.calls.get(one, ())]
        scope = m.scope_of[one]
        cls = m.class_of(scope)
        here = callers if cls is None else [caller for caller in callers if m.class_of(m.scope_of[caller]) is not cls]
        if not here and public(ctx, scope) and (cls is None or _made_elsewhere(ctx, regions, cls)):
            found.add(one.name)
        todo += callers
    return sorted(found)


def _made_elsewhere(ctx: Context, regions: Planner, cls: ast.ClassDef) -> bool:
    """Whether nothing in the tree makes an object of a class, and making one initializes nothing."""
    made = ctx.m.method(cls, "__init__")
    return made is not None and not regions.order.switches(made) and not makers(ctx, made)


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
