"""State that a class or a module has itself, and that functions reach by its name: ``Engine.optimizer``,
``cls.optimizer`` in a class method, ``state.optimizer`` behind ``import state``."""

from __future__ import annotations

import ast

from ...facts.scopes import Scope
from ...flow.objects import Obj
from ...units.unit import Context
from ..schedule import Scaler
from .places import Place


def said(ctx: Context, scaler: Scaler, place: Place, scope: Scope) -> str | None:
    """How a function says the owner, an attribute of which it gives the optimizer; None where it gives it none."""
    for node in _kept(ctx, scaler):
        if ctx.m.function(node) is scope and _any(ctx, node.value, place):
            return ctx.m.src(node.value)
    return None


def named(ctx: Context, scaler: Scaler, place: Place, scope: Scope) -> str | None:
    """What a function calls an owner that has the optimizer itself; None where it has no name for it, or where the
    optimizer is a class's objects'."""
    if not any(_any(ctx, node.value, place) for node in _kept(ctx, scaler)):
        return None
    for node in ctx.m.own(scope, ast.Name):
        if _any(ctx, node, place):
            return node.id
    name = place.owner.name if place.owner is not None else ""
    home = ctx.m.binding_scope(name, scope) if name else None
    meant = ctx.v.variable(name, home) if home is not None else ()
    return name if any(_is(ctx, o, place) for o in meant) else None


def declaration(ctx: Context, scaler: Scaler, place: Place) -> ast.stmt | None:
    """Where a module that others give its optimizer declares it, ``optimizer = None``: they expect its scaler there."""
    if place.scope is None or place.scope.is_function:
        return None
    names = [node.attr for node in _kept(ctx, scaler) if _any(ctx, node.value, place)]
    stored = [node for name in names for node in ctx.m.stores(name, place.scope)]
    return ctx.m.statement(stored[0]) if stored else None


def objects(ctx: Context, place: Place) -> list[ast.Name | ast.Attribute]:
    """What is given the only object of a class that is handed its optimizer and has no constructor here to keep it (a
    dataclass): ``learner = Learner(model, optimizer)``. Nothing may be made of it that lacks the attribute."""
    if place.owner is None or ctx.v.functions(cls := Obj("class", place.owner, place.owner.name)):
        return []
    m = ctx.m
    calls = [call for call in m.calls(place.owner.name) if cls in ctx.v.of(call.func)]
    anew = [call for name in ("replace", "asdict", "astuple", "evolve") for call in m.calls(name) if call.args]
    if len(calls) != 1 or any(o.key is place.owner for call in anew for o in ctx.v.of(call.args[0])):
        return []
    match m.parent[calls[0]]:
        case ast.Assign(targets=[(ast.Name() | ast.Attribute()) as one]):
            return [one]
        case _:
            return []


def _any(ctx: Context, expr: ast.expr, place: Place) -> bool:
    return any(_is(ctx, o, place) for o in ctx.v.of(expr))


def _is(ctx: Context, obj: Obj, place: Place) -> bool:
    if obj.kind == "module":
        return place.scope is not None and ctx.m.scope_of[obj.key] is place.scope  # type: ignore[index]
    return obj.kind == "class" and place.owner is not None and obj.key is place.owner


def _kept(ctx: Context, scaler: Scaler) -> list[ast.Attribute]:
    return [n for n in ctx.given(scaler.objects) if isinstance(n, ast.Attribute)]
