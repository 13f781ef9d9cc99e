"""Decorators that hand on the arguments of their function as they are: `@timed` over a training step."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ...facts.names import called_name, makes_context
from ...flow.objects import Obj
from ...flow.registering import gives_back
from ...nodes import positional_parameters, walk
from ...units.unit import Context

_PLAIN = frozenset(
    "staticmethod classmethod property no_grad enable_grad wraps inference_mode contextmanager".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLED = (*_FUNCTIONS, ast.Lambda)
Called = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def hands_on(ctx: Context, decorator: ast.expr, ahead: int) -> bool:
    """Whether a call of the decorated function runs it, once and with the same arguments, of which one more is put
    behind at least so many as are ``ahead``."""
    if called_name(decorator) in _PLAIN or _keeps_it(ctx, decorator) or _is_context(ctx, decorator):
        return True
    outer = _decorators(ctx, decorator)
    return bool(outer) and all(_wraps(ctx, one, ahead) for one in outer)


def _keeps_it(ctx: Context, decorator: ast.expr) -> bool:
    """Whether a decorator only puts a function away, as one of a registry does: who takes it out of there is known."""
    v, made = ctx.v, ctx.v.of(decorator)
    functions = [(o, v.callee(o)) for o in made if o.kind in ("function", "method")]
    return bool(made) and len(functions) == len(made) and all(
        isinstance(f, _FUNCTIONS) and gives_back(f, o.kind == "method") for o, f in functions
    )


def _is_context(ctx: Context, decorator: ast.expr) -> bool:
    """Whether a function runs in a block of a generator that is a context manager: ``@timer("train")``."""
    held = ctx.v.of(decorator.func) if isinstance(decorator, ast.Call) else ()
    run = [ctx.v.callee(o) if o.kind in ("function", "method") else None for o in held]
    return bool(run) and all(one is not None and makes_context(one) for one in run)


def _decorators(ctx: Context, decorator: ast.expr) -> list[Called]:
    """The functions that may be handed what is decorated; none where another one may be."""
    v = ctx.v
    factory = decorator.func if isinstance(decorator, ast.Call) else None
    if factory is None or any(obj.kind == "class" for obj in v.of(factory)):  # of a class it is the object
        return _run(ctx, v.of(decorator))
    made = [one for function in _run(ctx, v.of(factory)) for one in _given_back(ctx, function) or [None]]
    return [one for one in made if one is not None] if None not in made else []


def _run(ctx: Context, held: Collection[Obj]) -> list[Called]:
    """The one function that calling something runs; none where there may be others."""
    known = [o for o in held if o.kind in ("function", "method", "instance")]
    found = [f for o in known for f in ctx.v.functions(o) if isinstance(f, _CALLED)]
    return found if len(held) == len(found) == 1 else []


def _given_back(ctx: Context, function: Called) -> list[Called | None] | None:
    """The functions that one defines and gives back, None for what it was handed; None where it may be another."""
    if isinstance(function, ast.Lambda):
        given: Sequence[ast.expr | None] = [function.body]
    elif isinstance(function.body[-1], ast.Return):
        given = [one.value for one in ctx.m.own(ctx.m.scope_of[function], ast.Return)]
    else:
        return None
    found: list[Called | None] = []
    for value in given:
        made = _plain(value)
        if isinstance(made, ast.Lambda):
            found.append(made)
        elif isinstance(made, ast.Name) and made.id in _handed(ctx, function)[:1]:
            found.append(None)
        elif isinstance(made, ast.Name) and len(inner := _defined(ctx, function, made.id)) == 1:
            found += inner
        else:
            return None
    return found


def _plain(value: ast.expr | None) -> ast.expr | None:
    """What ``wraps(f)(inner)`` and ``update_wrapper(inner, f)`` give back."""
    match value:
        case ast.Call(func=ast.Call() as made, args=[inner]) if called_name(made) == "wraps":
            return inner
        case ast.Call(args=[inner, _]) if called_name(value) == "update_wrapper":
            return inner
        case _:
            return value


def _defined(ctx: Context, function: Called, name: str) -> list[Called]:
    """The functions of a name that one defines, where it gives that name nothing else."""
    scope = ctx.m.scope_of[function]
    found = [one for one in ctx.m.defined(name) if ctx.m.scope(one) is scope and isinstance(one, _FUNCTIONS)]
    return [*found] if not ctx.m.bindings(name, scope) and name not in scope.params else []


def _handed(ctx: Context, function: Called) -> list[str]:
    names = positional_parameters(function)
    return names[1:] if names[:1] == [ctx.m.self_name(ctx.m.scope_of[function])] else names


def _wraps(ctx: Context, outer: Called, ahead: int) -> bool:
    """Whether what a decorator gives back is what it was handed, or runs it as `_calls_once` says, and nobody else
    comes by either."""
    made, handed = _given_back(ctx, outer), _handed(ctx, outer)
    inner = [one for one in made or () if one is not None]
    if not inner or len(handed) != 1 or not all(_calls_once(ctx, one, handed[0], ahead) for one in inner):
        return False
    names = {getattr(one, "name", None) for one in inner}
    uses = [node for node in walk(outer) if isinstance(node, ast.Name)]
    return all(_passes(ctx, n) for n in uses if n.id in names) and all(
        _passes(ctx, n) or _is_run(ctx, n, inner) for n in uses if n.id == handed[0]
    )


def _calls_once(ctx: Context, inner: Called, given: str, ahead: int) -> bool:
    """Whether a function takes any arguments and calls what is ``given`` with just these, once."""
    m, a = ctx.m, inner.args
    first = [p.arg for p in a.args]
    if a.vararg is None or a.kwarg is None or a.posonlyargs or a.defaults or a.kwonlyargs or len(first) > ahead:
        return False
    many, named = a.vararg.arg, a.kwarg.arg
    uses = [n for n in walk(inner) if isinstance(n, ast.Name) and n.id in (given, many, named, *first)]
    calls = [c for n in uses if isinstance(c := m.parent[n], ast.Call) and c.func is n and n.id == given]
    if len(calls) != 1 or any(not isinstance(n.ctx, ast.Load) for n in uses):
        return False
    (call,) = calls
    same = ast.unparse(call) == f"{given}({', '.join([*first, f'*{many}', f'**{named}'])})"
    below: list[ast.AST] = [call, *m.ancestors(call)]
    above = below[: below.index(inner)]
    elsewhere = [n for n in uses if n.id in (many, named) and not m.inside(n, call)]
    return same and not elsewhere and not any(map(_at_times, above))


def _at_times(node: ast.AST) -> bool:
    """Whether what a node holds may not run, run again, or not say that it fails."""
    if isinstance(node, ast.Try):
        return any(not isinstance(handler.body[-1], ast.Raise) or _leaves(handler) for handler in node.handlers)
    return isinstance(
        node, (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.AsyncFor, ast.comprehension, *_CALLED)
    )


def _leaves(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in walk(handler))


def _is_run(ctx: Context, name: ast.Name, inner: Sequence[Called]) -> bool:
    """Whether a name is what one of these functions calls."""
    above = ctx.m.parent[name]
    return isinstance(above, ast.Call) and above.func is name and any(ctx.m.inside(name, one) for one in inner)


def _passes(ctx: Context, name: ast.Name) -> bool:
    """Whether a name is given back, or stands where nobody calls it: ``wraps(f)``, ``f.__name__``, ``inner.calls``."""
    above = ctx.m.parent[name]
    if isinstance(above, ast.Call):
        passed = called_name(above) in ("wraps", "update_wrapper") or _plain(above) is name
        return above.func is not name and passed
    return isinstance(above, (ast.Attribute, ast.Return))
