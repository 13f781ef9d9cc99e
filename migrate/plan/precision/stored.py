"""Results that are put into another tensor, where torch asks for one type: ``out[index] = gate.softmax(-1)``.

O1 left some operations as they were given that autocast runs in float32, and the reverse. In a sum or a product torch
promotes; what is assigned by an index, scattered or added by one has to be of the type that is there, or torch raises.
Source: ATen/autocast_mode.h of torch 2.11 and apex/amp/lists at tag 25.05.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from ...facts.once import once
from ...facts.stores import Body, Function, Here, Known, gives_back, layers_of, own, parameters_of, stored
from ...knowledge.operations import SPREADS
from ...units.translate import passed
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage


def review_stored(ctx: Context, unit: Unit, coverage: Coverage, written: Collection[ast.AST]) -> None:
    """Name what is put into another tensor and has another type under autocast than under O1; not what comes of calls
    that are ``written`` anew, with float32."""
    if not unit.by_functions:
        return
    for node, operation, calls in _stores(ctx):
        if operation in SPREADS and all(call in written for call in ctx.m.calls(operation)):
            continue
        if coverage.may_within(node) or any(map(coverage.may, calls)):
            unit.review(
                node,
                "APX037",
                f"`{operation}` has another type under autocast than under O1, and torch raises where what "
                "is put into a tensor by an index is not of its type: `.to()` the type of that tensor here",
            )


@once
def _stores(ctx: Context) -> list[tuple[ast.AST, str, list[ast.Call]]]:
    """What puts a result of one of these operations into a tensor by an index: where, the operation, and the calls
    there, or in a caller, that may have given it."""
    files = _Files(ctx)
    return [
        (node, operation, files.sources(scope.node))
        for scope in ctx.m.scope_of.values()
        if isinstance(scope.node, Body)
        for node, operation in stored(scope.node, files.known[ctx.m.file(scope.node)], files.taken)
    ]


class _Files:
    """What functions of the program give back, and are handed."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._back: dict[ast.AST, str | None] = {}
        self._taken: dict[Body, dict[str, str]] = {}
        self.known = {file: Known(self._given, layers_of(file.tree), parameters_of(file.tree)) for file in ctx.m.files}

    def _given(self, call: ast.Call) -> str | None:
        return next((said for one in self.ctx.v.callees(call) if (said := self._of_function(one))), None)

    def _of_function(self, function: ast.AST) -> str | None:
        if function not in self._back and isinstance(function, Function):
            self._back[function] = None  # recursion
            self._back[function] = gives_back(function, self.known[self.ctx.m.file(function)])
        return self._back.get(function)

    def taken(self, function: Body) -> Mapping[str, str]:
        """By parameter the operation whose type it has, of a function that is handed a result of one."""
        if function not in self._taken:
            self._taken[function] = {}  # recursion
            scope, found = self.ctx.m.scope_of[function], dict[str, str]()
            for call in self.ctx.v.calls.get(function, ()):
                caller = self.ctx.m.function(call).node
                here = self._here(caller) if isinstance(caller, Body) else None
                for name in scope.params:
                    argument = passed(self.ctx, call, scope, name)
                    if here is not None and argument is not None and (said := here.carries(argument)) is not None:
                        found.setdefault(name, said)
            self._taken[function] = found
        return self._taken[function]

    def _here(self, function: Body) -> Here:
        known = self.known[self.ctx.m.file(function)]
        return Here(own(function), known, self.taken(function))

    def sources(self, function: Body, depth: int = 3) -> list[ast.Call]:
        """The calls in a function, or in those that hand it a result, that give one."""
        found = [n for n in own(function) if isinstance(n, ast.Call) and self._given(n) is not None]
        if depth and self.taken(function):
            callers = {self.ctx.m.function(call).node for call in self.ctx.v.calls.get(function, ())}
            bodies = [one for one in self.ctx.m.in_order(callers) if isinstance(one, Body)]
            found += [n for one in bodies for n in self.sources(one, depth - 1)]
        return found
