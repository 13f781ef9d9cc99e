"""Gradients that are only looked at, after every backward: ``writer.add_scalar(name, p.grad.mean(), step)``.

Where the step is taken under a condition they cannot be unscaled there, but what is looked at can be divided by the
loss scale, which is exact: it is a power of two."""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...knowledge.gradients import CLIP, LOOKS
from ...nodes import walk
from ...units.readers import is_none_test, reads_gradients
from ...units.references import handed_on
from ...units.unit import Context, Unit

MAX_DEPTH = 4
# Attributes that hand on a gradient's values.
_SAME = ("data", "T", "real")


def looked_at(ctx: Context, unit: Unit, stmt: ast.stmt) -> list[ast.expr]:
    """The gradients by which a statement, and the functions that only it calls, look at them; empty where something
    else may be done with them, or in these functions at another time."""
    return _looked_at(ctx, unit, stmt, 0) or []


def _looked_at(ctx: Context, unit: Unit, stmt: ast.stmt, depth: int) -> list[ast.expr] | None:
    found: list[ast.expr] = []
    for node in walk(stmt):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            if is_none_test(ctx, node):
                continue
            if (whole := _whole(ctx, node)) is None:
                return None
            found.append(whole)
        if not isinstance(node, ast.Call):
            continue
        callees = [c for c in ctx.v.callees(node) if any(reads_gradients(ctx, unit, s) for s in _body(c))]
        written = any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in walk(node))
        changes = CLIP.fit(called_name(node)) or not written
        if not callees and changes and reads_gradients(ctx, unit, node):
            return None  # a norm, or a clip, of gradients that are not written out
        for callee in callees:
            if depth == MAX_DEPTH or len(ctx.v.calls[callee]) > 1 or handed_on(ctx, callee):
                return None
            for inner in _body(callee):
                more = _looked_at(ctx, unit, inner, depth + 1)
                if more is None:
                    return None
                found += more
    return found


def _body(node: ast.AST) -> list[ast.stmt]:
    return node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []


def _whole(ctx: Context, grad: ast.Attribute) -> ast.expr | None:
    """``p.grad.data`` for ``p.grad`` where it is only looked at; None where something else is done with it."""
    node: ast.expr = grad
    above = ctx.m.parent[node]
    while isinstance(above, ast.Attribute) and above.attr in _SAME:
        node, above = above, ctx.m.parent[above]
    if not isinstance(getattr(node, "ctx", None), ast.Load):
        return None
    match above:
        case ast.Attribute(attr=method) if LOOKS.fit(method):
            return node
        case ast.Call(func=ast.Attribute(attr=name)) if above.func is not node and LOOKS.fit(name):
            return node
        case ast.BinOp():
            return node
        case _:
            return None
