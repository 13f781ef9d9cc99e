"""Results that are put into another tensor, where torch asks for one type: ``out[index] = gate.softmax(-1)``.

O1 left some operations as they were given that autocast runs in float32, and the reverse. In a sum or a product torch
promotes; what is assigned by an index, scattered or added by one has to be of the type that is there, or torch raises.
Source: ATen/autocast_mode.h of torch 2.11 and apex/amp/lists at tag 25.05.
"""

from __future__ import annotations

import ast

from ...facts.once import once
from ...facts.scopes import Scope
from ...facts.stores import Function, Known, gives_back, layers_of, parameters_of, stored
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from ..regions.planner import Planner


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
    back: dict[ast.AST, str | None] = {}

    def given(call: ast.Call) -> str | None:
        return next((said for one in ctx.v.callees(call) if (said := of_function(one))), None)

    def of_function(function: ast.AST) -> str | None:
        if function not in back and isinstance(function, Function):
            back[function] = None  # recursion
            back[function] = gives_back(function, known[ctx.m.file(function)])
        return back.get(function)

    known = {file: Known(given, layers_of(file.tree), parameters_of(file.tree)) for file in ctx.m.files}
    return [
        (scope, node, operation)
        for scope in ctx.m.scope_of.values()
        if isinstance(scope.node, Function)
        for node, operation in stored(scope.node, known[ctx.m.file(scope.node)])
    ]
