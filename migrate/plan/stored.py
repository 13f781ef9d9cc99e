"""Results that are put into another tensor, where torch asks for one type: ``out[index] = gate.softmax(-1)``.

O1 left some operations as they were given that autocast runs in float32, and the reverse. In a sum or a product torch
promotes; what is assigned by an index, scattered or added by one has to be of the type that is there, or torch raises.
Source: ATen/autocast_mode.h of torch 2.11 and apex/amp/lists at tag 25.05.
"""

from __future__ import annotations

import ast

from ..facts.module import Scope
from ..facts.names import called_name, last_name
from ..knowledge.host import HOST_MODULES
from ..knowledge.operations import (
    FLOAT_NOT_AS_GIVEN,
    FLOAT_RESULTS,
    HALF_NOT_FLOAT,
    INTEGER,
    NATIVE_HALF,
    STORES,
    TYPE_FORGOTTEN,
)
from ..nodes import children
from ..units.unit import Context, Unit, once
from .coverage import Coverage
from .regions import Planner

_FUNCTIONAL = frozenset("F functional".split())
_CASTS = TYPE_FORGOTTEN | INTEGER | {"to", "type", "type_as", "cpu", "numpy", "item", "new_tensor"}


def review_stored(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Name what is put into another tensor and has another type under autocast than under O1."""
    if not any("O1" in options.levels for options in unit.options.values()):
        return
    coverage = Coverage(ctx, planner)
    for scope, node, operation in _stores(ctx):
        if planner.compute.own_method(scope) or coverage.may(node):
            unit.review(
                node,
                "APX037",
                f"`{operation}` has another type under autocast than under O1, and torch raises where what "
                "is put into a tensor by an index is not of its type: `.to()` the type of that tensor here",
            )


@once
def _stores(ctx: Context) -> list[tuple[Scope, ast.AST, str]]:
    """What puts a result of one of these operations into a tensor by an index: the function, where, the operation."""
    found: list[tuple[Scope, ast.AST, str]] = []
    for scope in ctx.m.scope_of.values():
        stores = [n for n in (*ctx.m.own(scope, ast.Assign), *ctx.m.own(scope, ast.Call)) if _put(n)]
        if scope.is_function and stores:
            names = _carrying(ctx, scope)
            for node in stores:
                operation = next((said for value in _put(node) if (said := _carries(value, names))), None)
                if operation is not None:
                    found.append((scope, node, operation))
    return found


def _put(node: ast.AST) -> list[ast.expr]:
    """What a statement or call puts into a tensor by an index; a key that is a string is a dictionary's."""
    match node:
        case ast.Assign(targets=[ast.Subscript(slice=index)], value=value):
            text = isinstance(index, ast.Constant) and isinstance(index.value, str)
            return [] if text or isinstance(value, ast.Constant) else [value]
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in STORES:
            return [*node.args, *(k.value for k in node.keywords)]
    return []


def _carrying(ctx: Context, scope: Scope) -> dict[str, str]:
    """The names of a function that hold a result of one of these operations, and which."""
    found: dict[str, str] = {}
    for _ in range(3):  # names made of names
        for stmt in ctx.m.own(scope, ast.Assign):
            operation = _carries(stmt.value, found)
            if operation is None:
                continue
            for target in stmt.targets:
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target  # values, indices
                if isinstance(first, ast.Name):
                    found[first.id] = operation
    return found


def _carries(node: ast.AST, names: dict[str, str]) -> str | None:
    """The operation whose type an expression has; None where something else decides it."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Compare() | ast.Lambda() | ast.Constant():
            return None
        case ast.Subscript(value=value):
            return _carries(value, names)
        case ast.Call(func=func):
            name = called_name(node)
            functional = isinstance(func, ast.Attribute) and last_name(func.value) in _FUNCTIONAL
            if isinstance(func, ast.Attribute) and last_name(func.value) in HOST_MODULES:
                return None
            if name in FLOAT_NOT_AS_GIVEN and isinstance(func, ast.Attribute) and not functional:
                return name
            if name in HALF_NOT_FLOAT and isinstance(func, ast.Attribute):
                return name
            of_self = isinstance(func, ast.Attribute) and ast.unparse(func.value) == "self"
            if of_self or name in _CASTS or name in NATIVE_HALF or name in FLOAT_RESULTS:
                return None
    return next((said for child in children(node) if (said := _carries(child, names))), None)
