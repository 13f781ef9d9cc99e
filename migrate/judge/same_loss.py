"""Whether what is scaled is the loss that Apex scaled: it did so as its block was entered, and a ``GradScaler`` does so
where ``scale(loss)`` stands."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..nodes import walk
from .program.syntax import last_name


def given_anew(m: Module, scaled: ast.AST, backward: ast.AST, new: ast.AST) -> ast.AST | None:
    """Where in a block of Apex's the loss gets another value ahead of the backward, if it is scaled at that backward
    now (``scaler.scale(loss).backward()``): ``loss = loss / 2``, ``loss /= 2``, ``loss.div_(2)``. ``scaled`` is the
    call of ``scale_loss``, ``backward`` the old program's, ``new`` the new one's."""
    block = m.statement(scaled)
    if not isinstance(scaled, ast.Call) or not isinstance(block, ast.With) or not m.inside(backward, block):
        return None
    if not scaled.args or not _scales_here(new):
        return None
    names = {n.id if isinstance(n, ast.Name) else n.attr for n in walk(scaled.args[0]) if isinstance(n, _NAMED)}
    around = [loop for loop in m.loops(backward) if m.inside(loop, block)]
    limit = m.start(m.statement(backward))
    for node in (n for stmt in block.body for n in walk(stmt)):
        if _sets(node) & names and (m.start(node) < limit or any(m.inside(node, loop) for loop in around)):
            return node
    return None


_NAMED = (ast.Name, ast.Attribute)


def _scales_here(call: ast.AST) -> bool:
    """``scaler.scale(loss).backward()``."""
    inner = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    return isinstance(inner, ast.Call) and last_name(inner.func) == "scale"


def _sets(node: ast.AST) -> set[str]:
    """The name or attribute whose value a piece of code changes."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.Call(func=ast.Attribute(value=base, attr=method)) if method.endswith("_"):
            return {last_name(base)}
        case _:
            return set()
