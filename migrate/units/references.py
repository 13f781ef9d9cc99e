"""Functions as values: who is handed one may call it, anywhere."""

from __future__ import annotations

import ast

from migrate.units.unit import Context


def handed_on(ctx: Context, function: ast.AST) -> bool:
    """Whether a function is an argument of a call that is not followed here (a pool's ``map``, a ``Thread``)."""
    name = getattr(function, "name", None)
    for use in ctx.m.nodes:
        named = use.id if isinstance(use, ast.Name) else use.attr if isinstance(use, ast.Attribute) else None
        if name is None or named != name or not isinstance(use.ctx, ast.Load):  # type: ignore[attr-defined]
            continue
        above = ctx.m.parent[use]
        if isinstance(above, ast.keyword):
            above = ctx.m.parent[above]
        if not isinstance(above, ast.Call) or above.func is use or ctx.v.callees(above):
            continue
        if any(o.kind == "partial" for o in ctx.v.of(above)):
            continue
        if any(o.kind in ("function", "method") and ctx.v.callee(o) is function for o in ctx.v.of(use)):
            return True
    return False
