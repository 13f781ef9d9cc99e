"""What runs for objects that initialize nothing, where only objects of other classes do and nobody in the program makes
either: ``class Tester(Solver)`` beside ``class Trainer(Solver)``, and a main script that picks one of them."""

from __future__ import annotations

import ast

from ..facts.scopes import Scope
from ..units.references import callers_known
from ..units.unit import Context, Unit

TOLD = (
    "this runs for objects of {theirs}, and Apex is initialized for such of {mine} alone, which nobody in the program "
    "makes beside them: in a process without one it ran without casts, and is under autocast now"
)


def of_other_objects(ctx: Context, unit: Unit, stmt: ast.stmt) -> str | None:
    """What is to be told of an evaluation of that kind."""
    theirs = _run_for(ctx, ctx.m.function(stmt), frozenset())
    mine = [_run_for(ctx, ctx.m.function(init.call), frozenset()) for init in unit.initializes]
    both = theirs.union(*mine)
    if not theirs or not all(mine) or any(not one.isdisjoint(theirs) for one in mine):
        return None
    if any(o.kind == "class" and o.key in both for call in ctx.m.all(ast.Call) for o in ctx.v.of(call.func)):
        return None
    mine_too = sorted(frozenset[ast.ClassDef]().union(*mine), key=lambda cls: cls.lineno)
    placed = [f"`{cls.name}` (line {cls.lineno})" for cls in mine_too]
    return TOLD.format(theirs=", ".join(sorted({f"`{cls.name}`" for cls in theirs})), mine=", ".join(placed))


def _run_for(ctx: Context, scope: Scope, seen: frozenset[Scope]) -> frozenset[ast.ClassDef]:
    """The classes, with those that derive from them, for whose objects alone a method runs, by who calls it on
    ``self``; nothing where that is not known."""
    cls = ctx.m.parent.get(scope.node)
    if not scope.is_function or scope in seen or not isinstance(cls, ast.ClassDef) or not ctx.m.self_name(scope):
        return frozenset()
    if not callers_known(ctx, scope):
        return frozenset()
    calls = ctx.v.calls[scope.node]
    if not calls or not all(_on_self(ctx, call) for call in calls):
        return frozenset(one for one in ctx.m.all(ast.ClassDef) if cls in ctx.v.order(one))
    found = [_run_for(ctx, ctx.m.function(call), seen | {scope}) for call in calls]
    return frozenset().union(*found) if all(found) else frozenset()


def _on_self(ctx: Context, call: ast.Call) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id == ctx.m.self_name(ctx.m.function(call))
