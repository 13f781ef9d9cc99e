"""Loops that initialize network by network, ahead of training: ``for i in range(n): nets[i], opts[i] = …``.

Apex had one loss scale for the process, however many networks were initialized; so one scaler is made, behind the loop.
"""

from __future__ import annotations

import ast

from ...nodes import walk
from ...units.unit import Context

_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
_TRAINS = frozenset({"backward", "step", "scale_loss"})
_DEPTH = 3  # functions that are gone into


def prepares(ctx: Context, loop: ast.AST, call: ast.Call) -> bool:
    """Whether a loop around an ``initialize`` only prepares: nothing in it trains, and what the call hangs on is no
    matter of the round."""
    if not isinstance(loop, ast.For) or loop.orelse or any(isinstance(n, _LEAVES) for n in walk(loop)):
        return False
    if trains(ctx, loop):
        return False
    set_inside = {n.id for n in walk(loop) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    tests = [s.test for s in ctx.m.spine(call) if isinstance(s, ast.If) and ctx.m.inside(s, loop)]
    return not any(isinstance(n, ast.Name) and n.id in set_inside for test in tests for n in walk(test))


def trains(ctx: Context, node: ast.AST, depth: int = _DEPTH) -> bool:
    """Whether code takes a step or runs a backward, itself or in functions that it calls."""
    calls = [n for n in walk(node) if isinstance(n, ast.Call)]
    if any(isinstance(c.func, ast.Attribute) and c.func.attr in _TRAINS for c in calls):
        return True
    called = dict.fromkeys(f for c in calls for f in ctx.v.callees(c)) if depth > 0 else {}
    return any(trains(ctx, f, depth - 1) for f in called)


def outside(ctx: Context, anchor: ast.stmt, call: ast.Call) -> ast.stmt:
    """A statement, or the outermost of the loops around it that only prepare."""
    found = anchor
    for outer in ctx.m.spine(anchor):
        if ctx.m.inside(call, outer) and prepares(ctx, outer, call):
            found = outer
    return found
