"""From what matters outwards: the statements around it, and the functions that hold such, up through their callers."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from ...facts.names import imports_apex
from ...facts.predicates import looks_for_amp
from ...flow.objects import Obj
from ...nodes import walk
from ..names import PROTOCOL
from .objects import within_module_class
from .syntax import EXITS, FUNCTIONS, YIELDS, around, goes_on, tried
from .tree import AnnotatedTree


class Spread:
    """Marks what is followed in one program. ``switched`` are attributes that choose one of two backends."""

    def __init__(self, tree: AnnotatedTree, switched: frozenset[str] = frozenset()) -> None:
        self.m, self.v, self.naming, self.switched = tree.m, tree.v, tree.naming, switched
        self.marks, self.callees, self.scaling = tree.marks, tree.callees, tree.scaling
        self._around: set[ast.AST] = set()  # what stands around what was marked

    def outwards(self, more: Iterable[ast.AST] = ()) -> None:
        """Mark statements around what matters, and functions that hold such, up through their callers; ``more`` are
        functions that are followed anyway."""
        m = self.m
        roots: list[ast.AST] = [*self.marks.kind, *self.marks.readers, *self.marks.clearers]
        for node in m.of(ast.With, ast.AsyncWith, ast.Import, ast.ImportFrom, ast.Assign):
            entered = isinstance(node, (ast.With, ast.AsyncWith)) and any(self.scaling.context(i) for i in node.items)
            imported = isinstance(node, (ast.Import, ast.ImportFrom)) and imports_apex(node)
            imported = imported and looks_for_amp(around(m, node)) is None  # which is known to find it
            if entered or imported or self.scaling.keeps_scaler(node):
                roots.append(node)
        for node in (n for name in sorted(self.switched) for n in m.attributes(name) if isinstance(n.ctx, ast.Store)):
            self.mark(node)  # followed where its function is
        todo: list[ast.AST] = sorted(more, key=lambda one: 0 if isinstance(one, ast.Module) else m.start(one))
        for node in roots:
            self.mark(node)
            todo.append(around(self.m, node))
        while todo or (todo := [*self._raisers(), *self._constructors()]):
            at = todo.pop()
            if at in self.marks.functions or (self._own_of_network(at) and not self.callees.touches(at)):
                continue
            self.marks.functions.add(at)
            runners = self.callees.runners(at)
            if not runners and self.m.function(at).parent is not None:  # it is handed on in the one around it
                self.mark(at)
                todo.append(self.m.function(at).node)
            for call in runners:
                if not self.marks.kind.get(call):
                    self.marks.kind[call] = "call"
                self.mark(call)
                todo.append(around(self.m, call))
        stepping = {around(self.m, n) for n, kind in self.marks.kind.items() if kind in PROTOCOL}
        caught = any(kind == "call" and self._tried(n) for n, kind in self.marks.kind.items())
        exits: tuple[type[ast.AST], ...] = (*EXITS, *YIELDS, *((ast.Assert,) if self._read_behind() else ()))
        for function in self.marks.functions:
            for node in walk(function):
                if isinstance(node, exits) and m.function(node).node is function:
                    # who raises where nothing is pending only ends, in both programs alike
                    ends = isinstance(node, (ast.Raise, ast.Assert)) and function not in stepping and not caught
                    if not ends or self._tried(node):
                        self.mark(node)
        self.marks.relevant |= {f for f in self.marks.functions if isinstance(f, FUNCTIONS)}  # defined inside of others

    def _tried(self, node: ast.AST) -> bool:
        """Whether an exception raised here is looked at in the same function, or gradients are."""
        return tried(self.m, node) or any(stmt in self.marks.ends for stmt in self.m.spine(node))

    def _read_behind(self) -> bool:
        """Whether gradients are read where an exception is on its way: an assertion that fails is one, too."""
        tries = self.m.all(ast.Try)
        ways = [stmt for one in tries for part in (one.finalbody, *(h.body for h in one.handlers)) for stmt in part]
        inside = [node for stmt in ways for node in walk(stmt)]
        runs = [f for node in inside if isinstance(node, ast.Call) for f in self.callees.runs(node)]
        read = any(node in self.marks.readers for node in inside) or any(map(self.callees.touches, runs))
        return read or bool(self.marks.ends)

    def mark(self, node: ast.AST) -> None:
        """A node is followed, and so is all that stands around it in its function: the body of a class runs in the
        function around that, and so does a default."""
        self.marks.relevant.add(node)
        inside = node
        for outer in self.m.ancestors(node):
            if outer in self._around:
                break  # and all that stands around it
            self.marks.relevant.add(outer)
            if isinstance(outer, (*FUNCTIONS, ast.Lambda)):
                if not isinstance(inside, ast.arguments):
                    break
            else:
                self._around.add(outer)
            inside = outer

    # ------------------------------------------------------------ functions that come along

    def _constructors(self) -> list[ast.AST]:
        """Constructors, not followed so far, of objects with a method that is followed, and those of their bases: they
        set what it asks for."""
        own = {self.m.class_of(self.m.scope_of[f]) for f in self.marks.functions if f in self.m.scope_of}
        owners = {one for owner in own if owner is not None for one in self.v.order(owner)}
        made = {f for owner in owners for f in self.v.functions(Obj("class", owner, owner.name))}
        found = [f for f in made - self.marks.functions if not self._own_of_network(f)]
        return sorted(found, key=self.m.start)

    def _raisers(self) -> list[ast.AST]:
        """Functions, not followed so far, whose exception a ``try`` of one that is followed may look at."""
        pending = self._pending()

        def looked_at(call: ast.Call) -> bool:
            home = around(self.m, call)
            return home in pending or (home in self.marks.functions and self._tried(call))

        return [
            callee
            for callee, calls in self.v.calls.items()
            if callee not in self.marks.functions
            and callee in (self._may_raise if pending else self._raise)
            and any(map(looked_at, calls))
            and not self._own_of_network(callee)
        ]

    def _pending(self) -> set[ast.AST]:
        """Functions that are followed, with a part of training in them, which a ``try`` of a caller goes on behind."""
        functions = self.marks.functions
        stepping = {around(self.m, n) for n, kind in self.marks.kind.items() if kind in PROTOCOL}
        stepping |= {around(self.m, call) for f in stepping & functions for call in self.callees.runners(f)}
        calls = [n for n, kind in self.marks.kind.items() if kind == "call" and goes_on(self.m, n)]
        found: set[ast.AST] = set()
        todo = [f for call in calls for f in self.callees.runs(call)]
        while todo:
            at = todo.pop()
            if at in functions and at not in found:
                found.add(at)
                todo += [f for call in self.callees.standing_in.get(at, ()) for f in self.callees.runs(call)]
        return found & stepping

    @cached_property
    def _raise(self) -> set[ast.AST]:
        """Functions in which something is raised."""
        return {around(self.m, node) for node in self.m.all(ast.Raise)}

    @cached_property
    def _may_raise(self) -> set[ast.AST]:
        """Those, but for methods that others have to define, and functions that call such."""
        nodes = [n for n in self.m.all(ast.Raise) if n.exc is None or "NotImplemented" not in ast.unparse(n.exc)]
        found: set[ast.AST] = set()
        todo = [around(self.m, node) for node in nodes]
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo += [around(self.m, call) for call in self.v.calls.get(at, ())]
        return found

    def _own_of_network(self, function: ast.AST) -> bool:
        return not isinstance(function, ast.Module) and within_module_class(self.naming, function)
