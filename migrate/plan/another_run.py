"""Functions of which a process runs one at most: ``if args.synthesize: synthesize(model) else: train(model)``."""

from __future__ import annotations

import ast

from ..facts.scopes import Scope
from ..units.references import callers_known
from ..units.unit import Context
from .blocks import exclusive


def in_another_run(ctx: Context, one: Scope, other: Scope) -> bool:
    """Whether all calls of two functions are known and stand in different arms, to which a process comes once."""
    if not all(scope.is_function and _callers_known(ctx, scope) for scope in (one, other)):
        return False
    pairs = [(a, b) for a in ctx.v.calls[one.node] for b in ctx.v.calls[other.node]]
    return all(exclusive(ctx, a, b) and not ctx.m.loops(a) and _runs_once(ctx, ctx.m.function(a)) for a, b in pairs)


def _callers_known(ctx: Context, scope: Scope) -> bool:
    return bool(ctx.v.calls[scope.node]) and callers_known(ctx, scope)


def _runs_once(ctx: Context, scope: Scope) -> bool:
    """Whether a process comes to a function once at most: it is a file's, or one that a file calls once."""
    if not scope.is_function:
        return isinstance(scope.node, ast.Module)
    calls = ctx.v.calls[scope.node]
    once = len(calls) == 1 and not ctx.m.loops(calls[0]) and _callers_known(ctx, scope)
    return once and isinstance(ctx.m.function(calls[0]).node, ast.Module)
