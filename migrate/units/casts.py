"""Apex's cast decorators and registrations: which of them have a counterpart of autocast's own."""

from __future__ import annotations

import ast

from migrate.facts.names import last_name
from migrate.knowledge.apex import CASTS
from migrate.knowledge.operations import NATIVE_FLOAT, NATIVE_HALF
from migrate.units.unit import Context


def casts_only(ctx: Context) -> bool:
    """Whether every use of amp in a file is a cast that has a counterpart."""
    uses = {use: dotted for use, dotted in ctx.facts.uses.items() if dotted.startswith("apex.amp.")}
    return bool(uses) and all(
        dotted.split(".")[-1] in CASTS and resolved(ctx, use, dotted.split(".")[-1]) for use, dotted in uses.items()
    )


def _decorates(use: ast.expr, above: ast.AST) -> bool:
    return isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and use in above.decorator_list


def wraps_extension(ctx: Context, use: ast.expr) -> bool:
    """``nms = amp.float_function(_C.nms)``: a function from elsewhere or of a file, called with tensors."""
    call = ctx.m.parent[use]
    if not (isinstance(call, ast.Call) and call.func is use and len(call.args) == 1 and not call.keywords):
        return False
    wrapped = call.args[0]
    plain = isinstance(wrapped, ast.Name) and any(isinstance(f, ast.FunctionDef) for f in ctx.m.declared(wrapped.id))
    return isinstance(ctx.m.parent[call], ast.Assign) and (plain or isinstance(wrapped, ast.Attribute))


def resolved(ctx: Context, use: ast.expr, tail: str) -> bool:
    """Whether autocast's own can stand for a use: a decorator of a method, or a registration that autocast knows.

    ``custom_fwd`` marks its first argument, so a plain function may not be called by keyword or with a list."""
    above = ctx.m.parent[use]
    if tail in ("float_function", "half_function"):
        if wraps_extension(ctx, use):
            return True
        if not _decorates(use, above):
            return False
        first = above.args.args[0].arg if above.args.args else ""  # type: ignore[attr-defined]
        if first == "ctx":
            return True
        calls = ctx.v.calls[above]
        plain = bool(calls) and all(c.args and not isinstance(c.args[0], (ast.List, ast.Tuple)) for c in calls)
        return plain or ctx.m.self_name(ctx.m.scope_of[above]) is not None
    if tail in ("register_half_function", "register_float_function"):
        return isinstance(above, ast.Call) and known(above, tail) and isinstance(ctx.m.parent[above], ast.Expr)
    return True


def known(call: ast.Call, tail: str) -> bool:
    """Whether a registration names a torch function that autocast lists the same way."""
    if len(call.args) != 2 or not isinstance(call.args[1], ast.Constant):
        return False
    if last_name(call.args[0]) not in ("torch", "F", "functional", "Tensor"):
        return False
    name = call.args[1].value
    return name in (NATIVE_HALF if tail == "register_half_function" else NATIVE_FLOAT)
