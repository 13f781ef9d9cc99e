"""Variables of the environment that conditions ask and the program sets: ``os.environ["AMP"] = "0"``."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from ...facts.names import last_name
from ...facts.once import once
from ...nodes import walk
from ...units.unit import Context


def asked_of_environment(expr: ast.expr) -> Iterator[str]:
    """The variables whose values an expression asks for."""
    for node in walk(expr):
        match node:
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(key))) if last_name(owner) == "environ":
                yield key
            case ast.Call(func=func, args=[ast.Constant(value=str(key)), *_]) if _asks(func):
                yield key
            case _:
                pass


def _asks(func: ast.expr) -> bool:
    """Whether a call asks the environment: ``os.getenv``, ``os.environ.get``."""
    match func:
        case ast.Attribute(value=owner, attr="get" | "setdefault") if last_name(owner) == "environ":
            return True
        case _:
            return last_name(func) == "getenv"


@once
def set_in_environment(ctx: Context) -> dict[str, list[tuple[ast.AST, ast.expr | None]]]:
    """For each variable that the program sets the places, with the values; None for one that is taken away."""
    found = defaultdict[str, list[tuple[ast.AST, ast.expr | None]]](list)
    for item in ctx.m.all(ast.Subscript):
        if last_name(item.value) == "environ" and not isinstance(item.ctx, ast.Load):
            above = ctx.m.parent[item]
            if isinstance(item.slice, ast.Constant) and isinstance(item.slice.value, str):
                found[item.slice.value].append((item, above.value if isinstance(above, ast.Assign) else None))
    for call in ctx.m.all(ast.Call):
        for key, value in _set_by(call):
            found[key].append((call, value))
    return found


def _set_by(call: ast.Call) -> Iterator[tuple[str, ast.expr | None]]:
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr="update"), args=args, keywords=keywords):
            if last_name(owner) == "environ":
                yield from ((one.arg, one.value) for one in keywords if one.arg is not None)
                for table in (one for one in args if isinstance(one, ast.Dict)):
                    for key, value in zip(table.keys, table.values, strict=True):
                        if isinstance(key, ast.Constant) and isinstance(key.value, str):
                            yield key.value, value
        case ast.Call(func=ast.Attribute(value=owner, attr="pop"), args=[ast.Constant(value=str(key)), *_]):
            if last_name(owner) == "environ":
                yield key, None
        case _:
            pass
