"""Functions that train for another unit: what they give is worked out once, and not anew for each unit whose callers
run them as well. A ``main`` that runs one of many trainings calls them all, and each is a unit by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from dataclasses import dataclass

from ..facts.once import once, once_each
from ..facts.scopes import Scope
from ..nodes import walk
from .halves import Value
from .unit import Context

# A function or statement, its depth, whether of O1, and what it is handed.
Asked = tuple[ast.AST, int, bool, tuple[tuple[str, Value], ...]]
GIVEN = "return"  # beside the names that are left: what a function gives
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, eq=False)
class ApartRun:
    """One run of a function or statement under nobody's casts, of nothing that is half: what was left, what every
    expression held, and which functions it went into, by which calls."""

    left: Mapping[str, Value]
    seen: Mapping[Scope, Mapping[ast.AST, Value]]  # by the functions that they stand in
    entered: Mapping[ast.AST, Set[ast.Call]]


@once
def apart_runs(ctx: Context) -> dict[Asked, ApartRun | None]:
    """Those that were met in the program; None where a run leaves something behind that others may find."""
    return {}


@once
def training_functions(ctx: Context) -> frozenset[ast.AST]:
    """The functions that initialize or scale, themselves or in what they call."""
    calls = [*(one.call for one in ctx.facts.initializes), *(one.call for one in ctx.facts.scales)]
    found = set[ast.AST]()
    todo: list[ast.AST] = [ctx.m.function(call).node for call in calls]
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += ctx.v.callers.get(node, ())
    return frozenset(found)


@once_each
def starts_trainings(ctx: Context, stmt: ast.stmt) -> frozenset[str] | None:
    """The names that a statement uses which calls functions that train, under a condition or not: ``if args.kind == 1:
    train(args)``. None for any other, and where it is left on another way than by its end."""
    match stmt:
        case ast.If(orelse=[]) | ast.Expr(value=ast.Call()) | ast.Assign(value=ast.Call()):
            nodes = list(walk(stmt))
        case _:
            return None
    called = {one for node in nodes if isinstance(node, ast.Call) for one in ctx.v.callees(node)}
    if called.isdisjoint(training_functions(ctx)) or any(isinstance(node, (*_LEAVES, *_DEFINITIONS)) for node in nodes):
        return None
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))
