"""Who keeps exceptions to himself: handlers behind which a program goes on, and what other files have of them, by text.

``def tolerant(fn): … try: return fn(*args) except ValueError: …``, a generator with a ``try`` around its ``yield``, a
class whose ``__exit__`` gives something back.
"""

from __future__ import annotations

import ast
from contextlib import suppress

from ..nodes import walk
from .names import called_name, last_name

_OTHERS = frozenset("ImportError ModuleNotFoundError KeyboardInterrupt SystemExit GeneratorExit".split())
_ENDS = frozenset("exit _exit abort".split())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def goes_on(handler: ast.ExceptHandler) -> bool:
    """Whether a program goes on behind what a handler catches."""
    last = handler.body[-1]
    ends = isinstance(last, ast.Raise) or (
        isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and called_name(last.value) in _ENDS
    )
    if ends and not any(isinstance(n, (ast.Continue, ast.Break, ast.Return)) for n in walk(handler)):
        return False
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(one is None or last_name(one) not in _OTHERS for one in types)


def keeps(tried: ast.Try) -> bool:
    """Whether it goes on behind a ``try`` where its body raises."""
    final = (n for s in tried.finalbody for n in walk(s))
    leaves = any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in final)
    return leaves or any(map(goes_on, tried.handlers))


def exit_keeps(function: ast.AST) -> bool:
    """Whether an ``__exit__`` may say that an exception is dealt with."""
    return any(isinstance(n, ast.Return) and n.value is not None and not false(n.value) for n in walk(function))


def false(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and not expr.value


def swallows(name: str, parameters: str, body: str) -> bool:
    """Whether a function, by its text, keeps what its block raises, or a function that it was handed."""
    if name != "__exit__" and "except" not in body:
        return False
    tree = None
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.parse(f"async def it({parameters}){body}")
    if tree is None:
        return False
    if name == "__exit__":
        return exit_keeps(tree)
    functions = [n for n in walk(tree) if isinstance(n, _FUNCTIONS)]
    handed = {a.arg for f in functions for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)}
    inside = (n for t in walk(tree) if isinstance(t, ast.Try) and keeps(t) for s in t.body for n in walk(s))
    return any(_runs(n, handed) for n in inside)


def _runs(node: ast.AST, handed: set[str]) -> bool:
    of_handed = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in handed
    return of_handed or isinstance(node, (ast.Yield, ast.YieldFrom))
