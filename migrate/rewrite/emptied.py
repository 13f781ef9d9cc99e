"""Loops that nothing is left of."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..nodes import walk

_NAMED = frozenset({"range", "len", "zip", "enumerate", "list", "reversed", "sorted", "keys", "values", "items"})


def goes_unseen(m: Module, loop: ast.For) -> bool:
    """Whether a loop without a body can go: it goes over what is there already, and nobody asks for its names
    outside of it."""
    if loop.orelse:
        return False
    for node in walk(loop.iter):
        if isinstance(node, (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name not in _NAMED:
                return False
    targets = _names(loop.target)
    if any(not isinstance(n, (ast.Name, ast.Tuple, ast.List, ast.Store)) for n in walk(loop.target)):
        return False
    scope = m.scope(loop)
    read = (n for n in m.all(ast.Name) if n.id in targets and isinstance(n.ctx, ast.Load) and not m.inside(n, loop))
    return all(m.binding_scope(n.id, m.scope(n)) is not scope or _given_anew(m, n, loop) for n in read)


def _given_anew(m: Module, read: ast.Name, gone: ast.For) -> bool:
    """Whether a name is read in another loop, or in a comprehension, that gives it a value itself."""
    for outer in m.ancestors(read):
        if isinstance(outer, ast.For) and outer is not gone and not m.inside(read, outer.iter):
            if read.id in _names(outer.target):
                return True
        for generator in getattr(outer, "generators", ()):
            if read.id in _names(generator.target):
                return True
    return False


def _names(target: ast.expr) -> set[str]:
    return {n.id for n in walk(target) if isinstance(n, ast.Name)}
