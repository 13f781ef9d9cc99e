"""What the text says of names and attributes, whoever runs it."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from migrate.facts.module import Module
from migrate.judge.program.marks import Marks
from migrate.judge.program.naming import Naming
from migrate.judge.program.syntax import FUNCTIONS
from migrate.judge.state import Key


class Definitions:
    """Closures, class constants, and attributes that are set, of one program."""

    def __init__(self, m: Module, naming: Naming, marks: Marks) -> None:
        self.m, self.naming, self.marks = m, naming, marks

    def outlived(self, function: ast.AST) -> frozenset[str]:
        """Names of a function that functions defined inside read, which may outlive a run of it."""
        return self._holders.get(function, frozenset())

    @cached_property
    def _holders(self) -> dict[ast.AST, frozenset[str]]:
        found: dict[ast.AST, frozenset[str]] = defaultdict(frozenset)
        for inner in self.marks.functions:
            if isinstance(inner, (*FUNCTIONS, ast.Lambda)):
                outer = self.m.function(inner).node
                found[outer] |= {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
        return dict(found)

    def class_constant(self, keys: frozenset[Key], attr: str) -> ast.Constant | None:
        """The constant that a class gives an attribute that no code sets."""
        if len(keys) != 1 or attr in self._stored:
            return None
        return self._class_constants.get((*keys, attr))

    def sets(self, attr: str) -> bool:
        """Whether code of the file sets an attribute of that name."""
        return attr in self._stored

    @cached_property
    def _stored(self) -> set[str]:
        return {n.attr for n in self.m.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}

    @cached_property
    def _class_constants(self) -> dict[tuple[object, ...], ast.Constant]:
        found: dict[tuple[object, ...], ast.Constant] = {}
        for node in self.m.nodes:
            if not isinstance(node, ast.ClassDef):
                continue
            for stmt in node.body:
                targets = stmt.targets if isinstance(stmt, ast.Assign) else []
                for target in targets:
                    if isinstance(target, ast.Name) and isinstance(stmt.value, ast.Constant):  # type: ignore[attr-defined]
                        found[(("instance", self.naming.place(node)), target.id)] = stmt.value  # type: ignore[attr-defined]
        return found
