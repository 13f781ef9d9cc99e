"""Properties that only say how another attribute stands: ``self.amp`` is ``self._fp16 == "amp"``."""

from __future__ import annotations

import ast
from functools import cached_property

from ...facts.names import is_setter
from ...facts.predicates import told
from ..program.program import Program


class Properties:
    """Those of one program, by their names."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def of(self, expr: ast.Attribute) -> tuple[ast.FunctionDef, ast.expr] | None:
        """The property that an attribute reads, and what that gives back; None where it does more, or may be another
        one."""
        return self._found.get(expr.attr) if isinstance(expr.ctx, ast.Load) else None

    @cached_property
    def set_here(self) -> frozenset[str]:
        """Those with a setter that is followed."""
        functions = self.program.marks.functions
        return frozenset(getattr(node, "name", "") for node in functions if self.program.callees.is_set(node))

    @cached_property
    def _found(self) -> dict[str, tuple[ast.FunctionDef, ast.expr]]:
        found: dict[str, tuple[ast.FunctionDef, ast.expr]] = {}
        m = self.program.m
        named = [node.name for node in m.all(ast.FunctionDef) if not is_setter(node)]
        for node in m.all(ast.FunctionDef):
            plain = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
            value = told(node) if plain and named.count(node.name) == 1 else None
            if value is not None and m.self_name(m.scope_of[node]) is not None:
                if node.name in self.set_here or not any(isinstance(n.ctx, ast.Store) for n in m.attributes(node.name)):
                    found[node.name] = (node, value)
        return found
