"""Decorators of a registry: they keep what they decorate, and give it back as it is."""

from __future__ import annotations

import ast

from ..nodes import positional_parameters, walk


def gives_back(decorator: ast.FunctionDef | ast.AsyncFunctionDef, receiver: bool) -> bool:
    """Whether a function hands back what it is called with, which it never calls itself."""
    names = positional_parameters(decorator)[1 if receiver else 0 :]
    returns = [n for n in walk(decorator) if isinstance(n, ast.Return)]
    calls = [n.func for n in walk(decorator) if isinstance(n, ast.Call)]
    return bool(names and returns) and all(_is(r.value, names[0]) for r in returns) and not any(
        _is(func, names[0]) for func in calls
    )


def _is(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
