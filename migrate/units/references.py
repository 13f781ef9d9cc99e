"""Functions as values: who is handed one may call it, anywhere."""

from __future__ import annotations

import ast

from migrate.facts.names import called_name
from migrate.facts.sites import opened
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


# Calls that look at what they are handed and call none of it.
_LOOK = frozenset(
    "len print isinstance callable id repr str type hasattr dict list tuple set sorted reversed zip enumerate iter "
    "next items values keys get append add setdefault update wraps update_wrapper signature super issubclass".split()
)


def escape(ctx: Context, function: ast.AST) -> ast.AST | None:
    """Where a function, or the class that it constructs, is handed to code that is not followed, which may call it
    with arguments of its own choice."""
    m, v = ctx.m, ctx.v

    def held(expr: ast.expr) -> bool:
        return any(o.kind in ("function", "method", "class") and v.callee(o) is function for o in opened(v, v.of(expr)))

    for call in m.all(ast.Call):
        if v.callees(call) or any(o.kind == "partial" for o in v.of(call)):
            continue
        name = called_name(call)
        if name in _LOOK or any(o.kind == "class" for o in v.of(call.func)):
            continue
        for arg in (*call.args, *(k.value for k in call.keywords)):
            if held(arg.value if isinstance(arg, ast.Starred) else arg):
                return arg
    for file in m.files:
        for name in ctx.exported_by(file) & file.scope.names:
            held_there = opened(v, v.variable(name, file.scope))
            if any(v.callee(o) is function for o in held_there if o.kind in ("function", "class")):
                return function
    return None
