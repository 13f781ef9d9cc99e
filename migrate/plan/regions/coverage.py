"""Where autocast will be on, for all of a unit: in the text of a region, or in a function called from one."""

from __future__ import annotations

import ast

from ...facts.module import Module
from ...facts.once import once
from ...facts.scopes import Scope
from ...nodes import children
from ...units.unit import Context
from .planner import Planner
from .uncast import switches_off


class Coverage:
    """Answers about one unit's planned regions; remembers what it found for functions."""

    def __init__(self, ctx: Context, planner: Planner) -> None:
        self.ctx, self.planner = ctx, planner
        self.compute = planner.compute
        self._sure: dict[ast.AST, bool] = {}
        self._covered: dict[ast.AST, bool] = {}
        self._reached: dict[ast.AST, bool] = {}

    def autocast(self, node: ast.AST) -> bool:
        """Whether ``node`` surely runs under autocast."""
        if node not in self._sure:
            inside = self.planner.in_region(node) or self.covered(self.ctx.m.function(node))
            self._sure[node] = inside and not self.off(node)
        return self._sure[node]

    def covered(self, scope: Scope) -> bool:
        if scope.node not in self._covered:
            self._covered[scope.node] = self.planner.covered(scope)
        return self._covered[scope.node]

    def may(self, node: ast.AST) -> bool:
        """Whether ``node`` may run under autocast: through one of the calls of its function at least."""
        if self.off(node):
            return False
        return self.planner.in_region(node) or self.reached(self.ctx.m.scope(node))

    def may_within(self, node: ast.AST) -> bool:
        """The same, or ``node`` stands in a network's own method, which runs where its callers say."""
        return self.compute.own_method(self.ctx.m.function(node)) or self.may(node)

    def reached(self, scope: Scope) -> bool:
        if scope.node in self._reached:
            return self._reached[scope.node]
        self._reached[scope.node] = False  # recursion
        calls = self.ctx.v.calls[scope.node] if scope.is_function else []
        found = any(self.may(c) for c in calls)
        planned = bool(self.planner.regions or self.planner.hoists)
        found = found or (scope.is_function and self._forward(scope) and planned)
        self._reached[scope.node] = found
        return found

    def _forward(self, scope: Scope) -> bool:
        """Whether a function is the ``forward`` of one of the unit's own models."""
        owner = self.ctx.m.class_of(scope)
        return owner in self.compute.model_classes and getattr(scope.node, "name", "") in ("forward", "__call__")

    def off(self, node: ast.AST) -> bool:
        """Whether a ``with`` around ``node`` switches casts off."""
        return node in _switched_off(self.ctx.m)


@once
def _switched_off(m: Module) -> frozenset[ast.AST]:
    """What runs under a ``with`` that switches casts off: what is defined there runs another time."""
    found = set[ast.AST]()
    for block in m.of(ast.With, ast.AsyncWith):
        assert isinstance(block, (ast.With, ast.AsyncWith))
        todo: list[ast.AST] = [*block.body] if any(map(switches_off, block.items)) else []
        while todo:
            found.add(at := todo.pop())
            if not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                todo += children(at)
    return frozenset(found)
