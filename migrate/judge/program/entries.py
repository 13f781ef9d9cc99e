"""Where the program may be entered, and what its functions set going."""

from __future__ import annotations

import ast
from functools import cached_property

from migrate.judge.program.syntax import FUNCTIONS, around
from migrate.judge.program.tree import AnnotatedTree


class Entries:
    """The entries of one program; the new one has the same as the old one, ``old``."""

    def __init__(self, tree: AnnotatedTree, old: Entries | None) -> None:
        self.m, self.v, self.naming = tree.m, tree.v, tree.naming
        self.marks, self.callees, self.scaling = tree.marks, tree.callees, tree.scaling
        self.old = old
        self._switches: dict[ast.AST, list[ast.AST]] = {}

    # ------------------------------------------------------------ entries

    @cached_property
    def all(self) -> list[ast.AST]:
        """Functions that train and that nothing in the file calls: others may, in any order. The new program has the
        same as the old one."""
        if self.old is not None:
            images = [n for n in self.m.nodes if isinstance(n, FUNCTIONS) and self.naming.twin(n) in self.old.all]
            return sorted(images, key=self.naming.place)
        found: list[ast.AST] = [
            node
            for node in self.marks.functions
            if isinstance(node, FUNCTIONS)
            and not self.v.calls.get(node)
            and self.m.function(node).parent is None
            and self.trains(node)
        ]
        return sorted(found, key=self.naming.place)

    def of(self, begun: ast.Module) -> list[ast.AST]:
        """Those in the files that one run has imported."""
        files = {self.m.file(stmt) for stmt in begun.body}
        return [function for function in self.all if self.m.file(function) in files]

    def nested(self, function: ast.AST) -> list[ast.AST]:
        """Functions defined in ``function`` that nothing calls by name: somebody was handed them."""
        found = [
            node
            for node in self.marks.functions
            if isinstance(node, FUNCTIONS)
            and not self.v.calls.get(node)
            and self.m.function(node).node is function
            and not isinstance(function, ast.Module)
        ]
        return sorted(found, key=self.naming.place)

    def concrete(self, owner: ast.ClassDef) -> ast.ClassDef:
        """The class that an object with the methods of ``owner`` has, where the file has one such subclass only."""
        while True:
            below = [
                n
                for n in self.m.nodes
                if isinstance(n, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == owner.name for b in n.bases)
            ]
            if len(below) != 1 or below[0] is owner:
                return owner
            owner = below[0]

    # ------------------------------------------------------------ what functions set going

    def trains(self, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function has a part in training, itself or in others that it calls."""
        kinds = self.callees.by_function[node]
        if kinds & {"initialize", "amp", "backward", "step", "create", "scaler", "state"}:
            return True
        if any(self.m.function(n).node is node for n in self.m.nodes if isinstance(n, ast.With) and self._scales(n)):
            return True
        inner = {c for call in self.callees.calls_in[node] for c in self.callees.runs(call)}
        return any(c not in seen and self.trains(c, seen | {node}) for c in inner)

    def _scales(self, node: ast.With) -> bool:
        if self.old is not None and self.naming.twin(node) is None:
            return False  # a region of the new text: where the old one had none, it makes no entry
        return any(self.scaling.context(i) for i in node.items)

    def initializes(self, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function runs ``amp.initialize``, itself or in others that it calls."""
        if "initialize" in self.callees.by_function[node]:
            return True
        inner = {c for call in self.callees.calls_in[node] for c in self.callees.runs(call)}
        return any(c not in seen and self.initializes(c, seen | {node}) for c in inner)

    def switches(self, node: ast.AST) -> list[ast.AST]:
        """The calls in a function that run ``amp.initialize``, in it or further down."""
        if node not in self._switches:
            inner = [c for c in self.callees.calls_in[node] if any(self.initializes(f) for f in self.callees.runs(c))]
            own = [n for n, kind in self.marks.kind.items() if kind == "initialize" and around(self.m, n) is node]
            self._switches[node] = [*own, *inner]
        return self._switches[node]
