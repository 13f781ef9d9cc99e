"""Where the program may be entered, and what its functions set going."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from .syntax import FUNCTIONS
from .tree import AnnotatedTree

_RUN = (*FUNCTIONS, ast.Lambda)
_MOST_CLASSES = 6  # that are tried for one method; a base class of more has its own methods run


class Entries:
    """The entries of one program; the new one has the same as the old one, ``old``."""

    def __init__(self, tree: AnnotatedTree, old: Entries | None) -> None:
        self.m, self.v, self.naming = tree.m, tree.v, tree.naming
        self.marks, self.callees, self.scaling = tree.marks, tree.callees, tree.scaling
        self.old = old
        self._switches: dict[ast.AST, list[ast.AST]] = {}
        self._begun: dict[ast.Module, list[ast.AST]] = {}

    # ------------------------------------------------------------ entries

    @cached_property
    def all(self) -> list[ast.AST]:
        """Functions that train and that nothing in the file calls: others may, in any order. The new program has the
        same as the old one."""
        if self.old is not None:
            theirs = set(self.old.all)
            images = [n for n in self.m.scope_of if isinstance(n, _RUN) and self.naming.twin(n) in theirs]
            return sorted(images, key=self.naming.place)
        found: list[ast.AST] = [
            node
            for node in self.marks.functions
            if isinstance(node, _RUN)
            and not self.v.calls.get(node)
            and not self.callees.is_set(node)
            and self.m.function(node).parent is None
            and self.trains(node)
        ]
        return sorted(found, key=self.naming.place)

    def of(self, begun: ast.Module) -> list[ast.AST]:
        """Those in the files that one run has imported."""
        if begun not in self._begun:
            files = {self.m.file(stmt) for stmt in begun.body}
            self._begun[begun] = [function for function in self.all if self.m.file(function) in files]
        return self._begun[begun]

    def nested(self, function: ast.AST) -> list[ast.AST]:
        """Functions defined in ``function`` that nothing calls by name, and lambdas that train: somebody was handed
        them."""
        return [] if isinstance(function, ast.Module) else self._inner.get(function, [])

    @cached_property
    def _inner(self) -> dict[ast.AST, list[ast.AST]]:
        found: dict[ast.AST, list[ast.AST]] = defaultdict(list)
        uncalled = [
            n
            for n in self.marks.functions
            if (isinstance(n, FUNCTIONS) or self._handed_on(n)) and not self.v.calls.get(n)
        ]
        for node in sorted(uncalled, key=self.naming.place):
            found[self.m.function(node).node].append(node)
        return found

    def _handed_on(self, node: ast.AST) -> bool:
        """Whether it is a lambda that trains, and that somebody may be handed: not one by a name that nobody reads."""
        if not isinstance(node, ast.Lambda) or not self.trains(node):
            return False
        match self.m.parent[node]:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return any(isinstance(one.ctx, ast.Load) for one in self.m.named(name))
            case _:
                return True

    def concrete(self, owner: ast.ClassDef) -> ast.ClassDef:
        """The class that an object with the methods of ``owner`` has, where the file has one such subclass only."""
        while True:
            below = self._derived.get(owner.name, [])
            if len(below) != 1 or below[0] is owner:
                return owner
            owner = below[0]

    def classes(self, owner: ast.ClassDef) -> list[ast.ClassDef]:
        """The classes that an object with the methods of ``owner`` may have: of several that are derived from it each
        may be the one, by whatever name it is found."""
        first = self.concrete(owner)
        found = [first]
        for one in found:
            found += [below for below in self._derived.get(one.name, ()) if below not in found]
        return found if len(found) <= _MOST_CLASSES else [first]

    @cached_property
    def _derived(self) -> dict[str, list[ast.ClassDef]]:
        """The classes whose bases have a name."""
        found: dict[str, list[ast.ClassDef]] = defaultdict(list)
        for node in self.m.all(ast.ClassDef):
            for name in {base.id for base in node.bases if isinstance(base, ast.Name)}:
                found[name].append(node)
        return found

    # ------------------------------------------------------------ what functions set going

    def trains(self, node: ast.AST) -> bool:
        """Whether a function has a part in training, itself or in others that it calls."""
        return node in self._training

    @cached_property
    def _training(self) -> set[ast.AST]:
        parts = {"initialize", "amp", "backward", "step", "create", "scaler", "state"}
        blocks = {self.m.function(n).node for n in self.m.all(ast.With) if self._scales(n)}
        return self.with_callers(blocks | {f for f, kinds in self.callees.by_function.items() if kinds & parts})

    def with_callers(self, functions: set[ast.AST]) -> set[ast.AST]:
        """Functions, and those that run them, directly or not."""
        found, todo = set(functions), list(functions)
        while todo:
            more = self._runners.get(todo.pop(), set()) - found
            found |= more
            todo += more
        return found

    @cached_property
    def _runners(self) -> dict[ast.AST, set[ast.AST]]:
        found: dict[ast.AST, set[ast.AST]] = defaultdict(set)
        for outer, calls in self.callees.calls_in.items():
            for call in calls:
                for function in self.callees.runs(call):
                    found[function].add(outer)
        return found

    def _scales(self, node: ast.With) -> bool:
        if self.old is not None and self.naming.twin(node) is None:
            return False  # a region of the new text: where the old one had none, it makes no entry
        return any(self.scaling.context(i) for i in node.items)

    def initializes(self, node: ast.AST) -> bool:
        """Whether a function runs ``amp.initialize``, itself or in others that it calls."""
        return node in self._initializing

    @cached_property
    def _initializing(self) -> set[ast.AST]:
        return self.with_callers({f for f, kinds in self.callees.by_function.items() if "initialize" in kinds})

    def switches(self, node: ast.AST) -> list[ast.AST]:
        """The calls in a function that run ``amp.initialize``, in it or further down."""
        if node not in self._switches:
            inner = [c for c in self.callees.calls_in[node] if any(self.initializes(f) for f in self.callees.runs(c))]
            own = [n for n, kind in self.callees.kinds_in[node] if kind == "initialize"]
            self._switches[node] = [*own, *inner]
        return self._switches[node]
