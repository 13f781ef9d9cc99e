"""Networks of other files that run a part of theirs without gradients, and with them as well, by their text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import suppress

from ..knowledge.models import NOT_RUN_BY_METHOD
from ..nodes import walk

NO_GRADIENT = frozenset({"no_grad", "inference_mode"})
MOST_CALLS = 6  # methods of its own, one below another

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def no_gradient(expr: ast.expr) -> bool:
    """``torch.no_grad()`` and ``torch.set_grad_enabled(False)``, as a block or a decorator."""
    match expr:
        case ast.Call(func=ast.Attribute(attr="set_grad_enabled"), args=[ast.Constant(value=False)]):
            return True
        case _:
            return ast.unparse(expr).rstrip("()").split(".")[-1] in NO_GRADIENT


def runs_both_ways(text: str) -> bool:
    """Whether a network of a file does so in its forward, as far as its own class tells."""
    with suppress(SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that are none
        classes = [node for node in walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
        return any(_both_ways(_methods(one)) for one in classes)
    return False


def _methods(cls: ast.ClassDef) -> dict[str, _Function]:
    return {stmt.name: stmt for stmt in cls.body if isinstance(stmt, _FUNCTIONS)}


def _both_ways(methods: dict[str, _Function]) -> bool:
    if "forward" not in methods:
        return False
    runs = set(_runs(methods["forward"], methods, off=False, depth=0))
    return any((part, True) in runs for part, off in runs if not off)


def _runs(node: ast.AST, methods: dict[str, _Function], *, off: bool, depth: int) -> Iterator[tuple[str, bool]]:
    """What is called of an object itself, and whether gradients are switched off there."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        off = off or any(no_gradient(item.context_expr) for item in node.items)
    elif isinstance(node, _FUNCTIONS):
        off = off or any(map(no_gradient, node.decorator_list))
    elif isinstance(node, ast.Call) and (said := _of_self(node.func)):
        inner = methods.get(said)
        if inner is not None and depth < MOST_CALLS:
            yield from _runs(inner, methods, off=off, depth=depth + 1)
        elif inner is None:
            yield said, off
    for child in ast.iter_child_nodes(node):
        yield from _runs(child, methods, off=off, depth=depth)


def _of_self(func: ast.expr) -> str:
    """What is called of an object itself, or of its base: ``net`` for ``self.net(x)``; empty where it is nothing that
    could run a network."""
    match func:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return "" if NOT_RUN_BY_METHOD.fit(name) else name
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
            return f"super().{name}"
        case ast.Attribute(value=inner, attr="forward") | ast.Subscript(value=inner):
            return _of_self(inner)
        case _:
            return ""
