"""Functions as values: who is handed one may call it, anywhere."""

from __future__ import annotations

import ast

from ..facts.names import called_name
from ..facts.once import once_each
from ..facts.scopes import Scope
from ..facts.sites import opened
from ..flow.commands import SETS_COMMANDS
from .unit import Context


def handed_on(ctx: Context, function: ast.AST) -> bool:
    """Whether a function is an argument of a call that is not followed here (a pool's ``map``, a ``Thread``)."""
    return bool(handed_to(ctx, function))


@once_each
def handed_to(ctx: Context, function: ast.AST) -> list[ast.Call]:
    """The calls that are not followed here and are handed a function (``mp.spawn(worker, …)``)."""
    name = getattr(function, "name", None)
    found: list[ast.Call] = []
    if name is None:
        return found
    uses: list[ast.Name | ast.Attribute] = [*ctx.m.named(name), *ctx.m.attributes(name)]
    for use in uses:
        if not isinstance(use.ctx, ast.Load):
            continue
        above = ctx.m.parent[use]
        if isinstance(above, ast.keyword):
            above = ctx.m.parent[above]
        if not isinstance(above, ast.Call) or above.func is use or ctx.v.callees(above):
            continue
        if any(o.kind == "partial" for o in ctx.v.of(above)):
            continue
        if called_name(above) == SETS_COMMANDS and ctx.v.calls.get(function):
            continue  # `args.func(args)` is followed
        if any(o.kind in ("function", "method") and ctx.v.callee(o) is function for o in ctx.v.of(use)):
            found.append(above)
    return found


def callers_known(ctx: Context, scope: Scope) -> bool:
    """Whether nobody calls a function but who is seen to: it is not handed out, nor imported elsewhere by its name."""
    taken = ctx.exported(scope.node) & {getattr(scope.node, "name", ""), "*"}
    return scope.node not in ctx.handed_out and not taken


def escape(ctx: Context, function: ast.AST) -> ast.AST | None:
    """Where a function, or the class that it constructs, is handed to code that is not followed, which may call it
    with arguments of its own choice."""
    m, v = ctx.m, ctx.v
    if function in ctx.handed_out:
        return ctx.handed_out[function]
    for file in m.files:
        for name in ctx.exported_by(file) & file.scope.names:
            held_there = opened(v, v.variable(name, file.scope))
            if any(function in v.functions(o) for o in held_there if o.kind in ("function", "class")):
                return function
    return None
