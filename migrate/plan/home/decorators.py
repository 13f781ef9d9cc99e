"""Decorators that hand on the arguments of their function as they are: `@timed` over a training step."""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...flow.registering import gives_back
from ...nodes import walk
from ...units.unit import Context

_PLAIN = frozenset(
    "staticmethod classmethod property no_grad enable_grad wraps inference_mode contextmanager".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def hands_on(ctx: Context, decorator: ast.expr) -> bool:
    """Whether a call of the decorated function runs it, once and with the same arguments."""
    if called_name(decorator) in _PLAIN or _keeps_it(ctx, decorator):
        return True
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(name, ast.Name):
        return False
    held = ctx.v.variable(name.id, ctx.m.scope(decorator))
    made = [o.key for o in held if o.kind == "function" and isinstance(o.key, _FUNCTIONS)]
    if len(made) != 1 or len(held) != 1:
        return False
    outer = _returned(made[0]) if isinstance(decorator, ast.Call) else made[0]
    inner = _returned(outer) if outer is not None else None
    return outer is not None and inner is not None and _calls_once(ctx, outer, inner)


def _keeps_it(ctx: Context, decorator: ast.expr) -> bool:
    """Whether a decorator only puts a function away, as one of a registry does: who takes it out of there is known."""
    v, made = ctx.v, ctx.v.of(decorator)
    functions = [(o, v.callee(o)) for o in made if o.kind in ("function", "method")]
    return bool(made) and len(functions) == len(made) and all(
        isinstance(f, _FUNCTIONS) and gives_back(f, o.kind == "method") for o, f in functions
    )


def _returned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function that another one defines and returns, where it returns nothing else."""
    inner = {stmt.name: stmt for stmt in function.body if isinstance(stmt, _FUNCTIONS)}
    last = function.body[-1]
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Name)):
        return None
    others = [stmt for stmt in function.body[:-1] if not isinstance(stmt, _FUNCTIONS)]
    returns = any(isinstance(node, ast.Return) for stmt in others for node in walk(stmt))
    return inner.get(last.value.id) if not returns else None


def _calls_once(
    ctx: Context, outer: ast.FunctionDef | ast.AsyncFunctionDef, inner: ast.FunctionDef | ast.AsyncFunctionDef
) -> bool:
    """Whether ``inner`` takes any arguments and calls what ``outer`` was handed with just these, once."""
    m, a = ctx.m, inner.args
    if len(outer.args.args) != 1 or a.vararg is None or a.kwarg is None or a.posonlyargs or a.args or a.kwonlyargs:
        return False
    given, many, named = outer.args.args[0].arg, a.vararg.arg, a.kwarg.arg
    uses = [n for n in walk(inner) if isinstance(n, ast.Name) and n.id in (given, many, named)]
    calls = [c for n in uses if isinstance(c := m.parent[n], ast.Call) and c.func is n and n.id == given]
    if len(calls) != 1 or any(not isinstance(n.ctx, ast.Load) for n in uses):
        return False
    (call,) = calls
    same = ast.unparse(call) == f"{given}(*{many}, **{named})"
    spine = m.spine(call)
    tried = any(isinstance(s, ast.Try) and s.handlers for s in spine)
    conditional = any(isinstance(s, (ast.If, ast.For, ast.While, ast.AsyncFor)) for s in spine)
    elsewhere = [n for n in uses if not m.inside(n, call) and not _only_asked(ctx, n)]
    return same and not tried and not conditional and not elsewhere


def _only_asked(ctx: Context, name: ast.Name) -> bool:
    """Whether a name stands in ``@functools.wraps(f)``, or only an attribute is read of it: ``f.__name__``."""
    above = ctx.m.parent[name]
    if isinstance(above, ast.Attribute):
        return isinstance(above.ctx, ast.Load) and above.attr.startswith("__")
    return isinstance(above, ast.Call) and called_name(above) == "wraps"
