"""From what matters outwards: the statements around it, and the functions that hold such, up through their callers."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate.flow.values import Obj
from migrate.judge.names import PROTOCOL
from migrate.judge.program.objects import within_module_class
from migrate.judge.program.syntax import EXITS, FUNCTIONS, YIELDS, around, attributes_set, imports_apex, tried
from migrate.judge.program.tree import AnnotatedTree


class Spread:
    """Marks what is followed in one program."""

    def __init__(self, tree: AnnotatedTree) -> None:
        self.m, self.v = tree.m, tree.v
        self.marks, self.callees, self.scaling = tree.marks, tree.callees, tree.scaling

    def outwards(self, more: Iterable[ast.AST] = ()) -> None:
        """Mark statements around what matters, and functions that hold such, up through their callers; ``more`` are
        functions that are followed anyway."""
        m = self.m
        roots: list[ast.AST] = [*self.marks.kind, *self.marks.readers, *self.marks.clearers]
        for node in m.nodes:
            entered = isinstance(node, (ast.With, ast.AsyncWith)) and any(self.scaling.context(i) for i in node.items)
            imported = isinstance(node, (ast.Import, ast.ImportFrom)) and imports_apex(node)
            if entered or imported or self.scaling.keeps_scaler(node):
                roots.append(node)
        todo: list[ast.AST] = sorted(more, key=self.m.start)
        for node in roots:
            self.mark(node)
            todo.append(around(self.m, node))
        while todo or (todo := [*self._raisers(), *self._constructors()]):
            at = todo.pop()
            if at in self.marks.functions or (self._own_of_network(at) and not self.callees.touches(at)):
                continue
            self.marks.functions.add(at)
            todo += self._constructors_asked(at)
            for call in self.callees.runners(at):
                if not self.marks.kind.get(call):
                    self.marks.kind[call] = "call"
                self.mark(call)
                todo.append(around(self.m, call))
        stepping = {around(self.m, n) for n, kind in self.marks.kind.items() if kind in PROTOCOL}
        caught = any(kind == "call" and tried(self.m, n) for n, kind in self.marks.kind.items())
        for function in self.marks.functions:
            for node in ast.walk(function):
                if isinstance(node, (*EXITS, *YIELDS)) and m.function(node).node is function:
                    # who raises where nothing is pending only ends, in both programs alike
                    if not isinstance(node, ast.Raise) or function in stepping or caught or tried(self.m, node):
                        self.mark(node)
        for node in m.nodes:  # functions defined inside
            if isinstance(node, FUNCTIONS) and node in self.marks.functions:
                self.marks.relevant.add(node)

    def mark(self, node: ast.AST) -> None:
        """A node is followed, and so is all that stands around it in its function."""
        self.marks.relevant.add(node)
        for outer in self.m.ancestors(node):
            self.marks.relevant.add(outer)
            if isinstance(outer, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
                break

    # ------------------------------------------------------------ functions that come along

    def _constructors(self) -> list[ast.AST]:
        """Constructors, not followed so far, of objects with a method that is followed: they set what it asks for."""
        owners = {self.m.class_of(self.m.scope_of[f]) for f in self.marks.functions if f in self.m.scope_of}
        made = [self.v.callee(Obj("class", owner, owner.name)) for owner in owners if owner is not None]
        found = [f for f in made if f is not None and f not in self.marks.functions and not self._own_of_network(f)]
        return sorted(found, key=self.m.start)

    def _raisers(self) -> list[ast.AST]:
        """Functions, not followed so far, whose exception a ``try`` of one that is followed may look at."""
        return [
            callee
            for callee, calls in self.v.calls.items()
            if callee not in self.marks.functions
            and any(isinstance(n, ast.Raise) and around(self.m, n) is callee for n in ast.walk(callee))
            and any(around(self.m, call) in self.marks.functions and tried(self.m, call) for call in calls)
            and not self._own_of_network(callee)
        ]

    def _constructors_asked(self, function: ast.AST) -> list[ast.AST]:
        """The constructor that says that a method runs for the first time, where that makes what is not there yet:
        ``if self._optimizer is None: self._optimizer = …``."""
        first = self.m.self_name(self.m.scope_of[function]) if isinstance(function, FUNCTIONS) else None
        owner = self.m.class_of(self.m.scope_of[function]) if first is not None else None
        init = self.v.callee(Obj("class", owner, owner.name)) if owner is not None else None
        if init is None or init is function:
            return []
        tested = {
            n.attr
            for stmt in ast.walk(function)
            if isinstance(stmt, ast.If)
            for n in ast.walk(stmt.test)
            if isinstance(n, ast.Attribute)
        }
        made = attributes_set(function) & tested
        nothing = {
            t.attr
            for n in ast.walk(init)
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) and not n.value.value
            for t in n.targets
            if isinstance(t, ast.Attribute)
        }
        return [init] if made & nothing else []

    def _own_of_network(self, function: ast.AST) -> bool:
        return not isinstance(function, ast.Module) and within_module_class(self.m, function)
