"""Where two places of one function lie to each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.once import once
from ..flow.decorated import calls_wrapped
from ..units.unit import Context

MAX_CALLERS = 3  # functions, one around the other


def exclusive(ctx: Context, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes lie in different arms of one ``if``, or of one ``a if test else b``."""
    return ctx.m.parting(one, other) is not None


def common(ctx: Context, one: ast.stmt, other: ast.stmt) -> tuple[ast.stmt, ast.stmt] | None:
    """The statements of the innermost common block that hold ``one`` and ``other``."""
    m = ctx.m
    mine = {id(m.block(s).body): s for s in m.spine(one)}
    for stmt in m.spine(other):
        if id(m.block(stmt).body) in mine:
            return mine[id(m.block(stmt).body)], stmt
    return None


def running(ctx: Context, node: ast.AST) -> Iterator[ast.AST]:
    """A node, then the calls of its function, by the program or by a decorator of it, then those of the functions
    around these: what it runs in, the nearest first."""
    level, seen = [node], set[ast.AST]()
    for _ in range(MAX_CALLERS + 1):
        yield from level
        functions = dict.fromkeys(ctx.m.function(at).node for at in level)
        level = [call for function in functions if function not in seen for call in _calls(ctx, function)]
        seen.update(functions)


def _calls(ctx: Context, function: ast.AST) -> list[ast.Call]:
    return [*ctx.v.calls.get(function, ()), *_wrapped(ctx).get(function, ())]


def calls_that_run(ctx: Context, function: ast.AST) -> list[ast.Call]:
    """The calls of a function, and of those that it stands around as what a decorator made of them."""
    decorated = [one for one, made in ctx.unnamed.wrappers.items() if function in made]
    return [call for one in (function, *decorated) for call in ctx.v.calls.get(one, ())]


@once
def _wrapped(ctx: Context) -> dict[ast.AST, list[ast.Call]]:
    return calls_wrapped(ctx.m, ctx.v, ctx.unnamed.wrappers)
