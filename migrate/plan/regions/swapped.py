"""Weights that others take the place of between two evaluations: running averages, another checkpoint.

Autocast keeps the half copies of weights until its outermost region ends, so of two evaluations in one region the
second would see the weights of the first. Each gets a region of its own.
"""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...knowledge.models import SWAPS_WEIGHTS
from ...nodes import walk
from ...units.unit import Context


class Swapped:
    """Answers about the statements of one program."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._known: dict[ast.AST, bool] = {}

    def swaps(self, code: ast.AST) -> bool:
        """Whether code may give a model other weights, by itself or in a function of the program that it calls."""
        if code not in self._known:
            todo, met = [code], {code}
            self._known[code] = False
            while todo and not self._known[code]:
                at = todo.pop()
                self._known[code] = any(map(_gives_weights, walk(at)))
                calls = (call for call in walk(at) if isinstance(call, ast.Call))
                new = {function for call in calls for function in self.ctx.v.callees(call)} - met
                met |= new
                todo += new
        return self._known[code]


def _gives_weights(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=owner, attr="data", ctx=ast.Store()) | ast.Subscript(
            value=ast.Attribute(value=owner, attr="data"), ctx=ast.Store()
        ):
            return not (isinstance(owner, ast.Name) and owner.id == "self")  # what an object keeps by that name
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="data"), attr=attr)):
            return attr.endswith("_")
        case ast.Call():
            return SWAPS_WEIGHTS.fit(called_name(node))
        case _:
            return False
