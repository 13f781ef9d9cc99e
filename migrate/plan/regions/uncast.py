"""Evaluation whose author switched casts off: ``with amp.disable_casts(): validate(model)``."""

from __future__ import annotations

import ast

from ...facts.once import once
from ...units.unit import Context


def switches_off(item: ast.withitem) -> bool:
    """Whether a context switches casts off."""
    text = ast.unparse(item.context_expr)
    return "disable_casts" in text or ("autocast" in text and "enabled=False" in text)


def uncast(ctx: Context, node: ast.AST) -> bool | None:
    """Whether a node runs where casts are switched off, by its function or by all that call it; None where by some."""
    if not _ever(ctx):
        return False
    off = on = False
    todo, seen = [node], set[ast.AST]()
    while todo:
        at = todo.pop()
        if _switched_off(ctx, at):
            off = True
            continue
        scope = ctx.m.function(at)
        calls = ctx.v.calls[scope.node] if scope.is_function else []
        on = on or not calls
        todo += calls if scope.node not in seen else []
        seen.add(scope.node)
    return None if off and on else off


@once
def _ever(ctx: Context) -> bool:
    return any(dotted.endswith("amp.disable_casts") for dotted in ctx.facts.uses.values())


def _switched_off(ctx: Context, node: ast.AST) -> bool:
    """Whether a block around a node, in its function, switches Apex's casts off: an autocast that is off does not."""
    below = node
    for outer in ctx.m.ancestors(node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return False
        within = isinstance(outer, (ast.With, ast.AsyncWith)) and below in outer.body
        if within and any(_is_apexs(ctx, item) for item in outer.items):  # type: ignore[attr-defined]
            return True
        below = outer
    return False


def _is_apexs(ctx: Context, item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and ctx.facts.uses.get(call.func, "").endswith("amp.disable_casts")
