"""Mixed precision is on where the object that scales is there: ``if use_amp: … ; loss_scaler = ApexScaler()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from ...facts.scopes import Scope
from ...facts.sites import Initialize
from ...units.unit import Context, Manual, Unit
from .guards import guards, terms_there

_Guard = tuple[str, bool]  # a condition, and whether it holds


def made(ctx: Context, cls: ast.ClassDef) -> list[ast.Call]:
    """The calls that make objects of a class."""
    return [
        call for call in ctx.m.all(ast.Call) if any(o.kind == "class" and o.key is cls for o in ctx.v.of(call.func))
    ]


def object_there(ctx: Context, unit: Unit, cls: ast.ClassDef, stmt: ast.stmt) -> str | None:
    """The condition that an object of a class is at hand at ``stmt``, where each is made under what an initialize runs
    under; None where that is not so, or where no name holds one."""
    every = made(ctx, cls)
    if not every or not all(any(_together(ctx, unit, call, init) for init in unit.initializes) for call in every):
        return None
    at: Scope | None = ctx.m.function(stmt)
    while at is not None:
        for name in sorted({*at.params, *at.names}):
            held = {o for o in ctx.v.variable(name, at) if o.kind != "param"}
            if held and all(o.kind == "instance" and o.key is cls for o in held):
                return f"{name} is not None"
        at = at.parent
    return None


def _together(ctx: Context, unit: Unit, call: ast.Call, init: Initialize) -> bool:
    """Whether a call runs where an initialize does, and only there, by the conditions around both."""
    scope = ctx.m.function(call)
    if scope is ctx.m.function(init.call):
        return _guards(ctx, call) == _guards(ctx, init.call)
    try:
        terms = terms_there(ctx, guards(ctx, unit, init, None, scope), scope)
    except Manual:
        return False
    if isinstance(terms, str):
        return False
    own = {ast.unparse(s.test) if way else "" for s, way in _ifs(ctx, call)}
    return own == {term.text for term in terms if term.value is not True}


def _ifs(ctx: Context, call: ast.Call) -> Iterator[tuple[ast.If, bool]]:
    """The ``if`` statements around a call, each with whether the call stands in its body."""
    spine = ctx.m.spine(call)
    for inner, outer in pairwise(spine):
        if isinstance(outer, ast.If):
            yield outer, inner in outer.body


def _guards(ctx: Context, call: ast.Call) -> set[_Guard]:
    """The conditions that a call stands under in its function."""
    return {(ast.dump(stmt.test), way) for stmt, way in _ifs(ctx, call)}
