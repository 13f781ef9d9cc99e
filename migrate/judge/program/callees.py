"""Who runs what: functions of the program that a call, a property or unknown code may run."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from migrate.facts.module import Module
from migrate.flow.values import Values
from migrate.judge.program.marks import Marks
from migrate.judge.program.syntax import FUNCTIONS, around, last_name


class Callees:
    """The calls of one program."""

    def __init__(self, m: Module, v: Values, marks: Marks) -> None:
        self.m, self.v, self.marks = m, v, marks

    def runs(self, node: ast.AST) -> list[ast.AST]:
        """Functions of the program that a call, or an attribute that is a property, may run."""
        if isinstance(node, ast.Call):
            return self.v.callees(node) or [f for f, calls in self._handed_to.items() if node in calls]
        return [f for f, reads in self._reads_of.items() if node in reads]

    def runners(self, function: ast.AST) -> list[ast.AST]:
        """The calls and properties by which a function may be run."""
        return [*self.v.calls.get(function, ()), *self._reads_of.get(function, ()), *self._handed_to.get(function, ())]

    def touches(self, function: ast.AST) -> bool:
        """Whether gradients are read or cleared in a function itself."""
        return any(self.m.function(s).node is function for s in (*self.marks.readers, *self.marks.clearers))

    @cached_property
    def _reads_of(self) -> dict[ast.AST, list[ast.Attribute]]:
        """Properties, and the attributes by which they are run."""
        properties: dict[str, list[ast.AST]] = defaultdict(list)
        for node in self.m.nodes:
            if isinstance(node, FUNCTIONS) and any(last_name(d) == "property" for d in node.decorator_list):
                properties[node.name].append(node)
        found: dict[ast.AST, list[ast.Attribute]] = defaultdict(list)
        for node in self.m.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in properties:
                classes = {o.key for o in self.v.of(node.value) if o.kind == "instance"}
                for function in properties[node.attr]:
                    owner = self.m.class_of(self.m.scope_of[function])
                    if owner in classes or not classes:
                        found[function].append(node)
        return found

    @cached_property
    def _handed_to(self) -> dict[ast.AST, list[ast.Call]]:
        """Functions that only look at gradients, and the calls of unknown code that are handed one, and may run it."""
        found: dict[ast.AST, list[ast.Call]] = defaultdict(list)
        for node in self.m.nodes:
            if not isinstance(node, ast.Call) or self.v.callees(node):
                continue
            for arg in node.args:
                for obj in self.v.of(arg):
                    function = self.v.callee(obj) if obj.kind in ("function", "method") else None
                    if function is not None and self.touches(function):
                        found[function].append(node)
        return found

    # ------------------------------------------------------------ once all is marked

    @cached_property
    def by_function(self) -> dict[ast.AST, set[str]]:
        kinds: dict[ast.AST, set[str]] = defaultdict(set)
        for node, kind in self.marks.kind.items():
            kinds[around(self.m, node)].add(kind)
        return kinds

    @cached_property
    def calls_in(self) -> dict[ast.AST, list[ast.AST]]:
        found: dict[ast.AST, list[ast.AST]] = defaultdict(list)
        for node, kind in self.marks.kind.items():
            if kind == "call":
                found[around(self.m, node)].append(node)
        return found

    def runs_backward(self, function: ast.AST) -> bool:
        """Whether a backward stands in the function itself."""
        return "backward" in self.by_function[function]
