"""Evaluation whose author switched casts off: ``with amp.disable_casts(): validate(model)``."""

from __future__ import annotations

import ast

from ...units.unit import Context


def switches_off(item: ast.withitem) -> bool:
    """Whether a context switches casts off."""
    text = ast.unparse(item.context_expr)
    return "disable_casts" in text or ("autocast" in text and "enabled=False" in text)


def uncast(ctx: Context, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool | None:
    """Whether a node runs where casts are switched off, by its function or by all that call it; None where by some."""
    if _switched_off(ctx, node):
        return True
    scope = ctx.m.function(node)
    calls = ctx.v.calls[scope.node] if scope.is_function and scope.node not in seen else []
    said = {uncast(ctx, call, seen | {scope.node}) for call in calls}
    return None if None in said or len(said) > 1 else said == {True}


def _switched_off(ctx: Context, node: ast.AST) -> bool:
    """Whether a block around a node, in its function, switches casts off."""
    below = node
    for outer in ctx.m.ancestors(node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return False
        if isinstance(outer, (ast.With, ast.AsyncWith)) and below in outer.body and any(map(switches_off, outer.items)):
            return True
        below = outer
    return False
