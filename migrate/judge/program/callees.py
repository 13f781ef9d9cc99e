"""Who runs what: functions of the program that a call, a property or unknown code may run."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from ...facts.module import Module
from ...facts.names import is_property, is_setter
from ...flow.objects import Obj
from ...flow.values import Values
from ...nodes import walk
from .marks import Marks
from .syntax import FUNCTIONS, around, maps, set_by_name


class Callees:
    """The calls of one program."""

    def __init__(self, m: Module, v: Values, marks: Marks) -> None:
        self.m, self.v, self.marks = m, v, marks
        self._touching: tuple[int, set[ast.AST]] = 0, set()

    def runs(self, node: ast.AST) -> list[ast.AST]:
        """Functions of the program that a call, or an attribute that is a property, may run."""
        if isinstance(node, ast.Call):
            return self.v.callees(node) or self._handed_by.get(node, [])
        return self._read_by.get(node, [])

    def runners(self, function: ast.AST) -> list[ast.AST]:
        """The calls and properties by which a function may be run."""
        return [*self.v.calls.get(function, ()), *self._reads_of.get(function, ()), *self._handed_to.get(function, ())]

    def is_set(self, function: ast.AST) -> bool:
        """Whether an assignment to an attribute runs a function."""
        return is_setter(function) and bool(self._reads_of.get(function))

    def touches(self, function: ast.AST) -> bool:
        """Whether gradients are read or cleared in a function itself."""
        found = len(self.marks.readers) + len(self.marks.clearers)
        if found != self._touching[0]:  # they only grow
            functions: set[ast.AST] = {
                self.m.function(s).node for s in (*self.marks.readers, *self.marks.clearers)
            }
            self._touching = found, functions
        return function in self._touching[1]

    @cached_property
    def _reads_of(self) -> dict[ast.AST, list[ast.Attribute]]:
        """Properties and their setters, and the attributes by which they are run."""
        getters: dict[str, list[ast.AST]] = defaultdict(list)
        setters: dict[str, list[ast.AST]] = defaultdict(list)
        for node in self.m.scope_of:
            if isinstance(node, FUNCTIONS):
                if is_property(node):
                    getters[node.name].append(node)
                elif is_setter(node):
                    setters[node.name].append(node)
        found: dict[ast.AST, list[ast.Attribute]] = defaultdict(list)
        for node in self.m.all(ast.Attribute) if getters else ():
            stored = isinstance(node.ctx, ast.Store) and isinstance(self.m.parent[node], ast.Assign)
            properties = getters if isinstance(node.ctx, ast.Load) else setters if stored else {}
            if node.attr in properties:
                held = {o.key for o in self.v.stood_for(self.v.of(node.value)) if o.kind == "instance"}
                classes = {cls for made in held if isinstance(made, ast.ClassDef) for cls in self.v.order(made)}
                for function in properties[node.attr]:
                    owner = self.m.class_of(self.m.scope_of[function])
                    if owner in classes or not classes:
                        found[function].append(node)
        return found

    @cached_property
    def _handed_to(self) -> dict[ast.AST, list[ast.Call]]:
        """Functions that only look at gradients, and the calls of unknown code that are handed one, and may run it; and
        functions that are handed to ``map``."""
        found: dict[ast.AST, list[ast.Call]] = defaultdict(list)
        for node in self.m.all(ast.Call):
            if self.v.callees(node):
                continue
            mapped = node.args[0] if maps(self.m, node) else None
            for arg in node.args:
                for obj in _completed(self.v, arg) if arg is mapped else self.v.of(arg):
                    function = self.v.callee(obj) if obj.kind in ("function", "method") else None
                    if function is not None and (arg is mapped or self.touches(function)):
                        found[function].append(node)
        return found

    @cached_property
    def _handed_by(self) -> dict[ast.AST, list[ast.AST]]:
        return _inverse(self._handed_to)

    @cached_property
    def _read_by(self) -> dict[ast.AST, list[ast.AST]]:
        return _inverse(self._reads_of)

    @cached_property
    def standing_in(self) -> dict[ast.AST, list[ast.Call]]:
        """For each function or lambda the calls in it itself, marked or not."""
        found: dict[ast.AST, list[ast.Call]] = defaultdict(list)
        for call in self.m.all(ast.Call):
            found[around(self.m, call)].append(call)
        return found

    def changed(self, node: ast.AST) -> frozenset[str]:
        """The attributes, keys and names of files that are given something in functions of the program that a piece of
        code runs and nobody follows, or by another way than an assignment; ``*``: it may be any."""
        found = set[str]().union(*map(set_by_name, walk(node)))
        if not self.changing:
            return frozenset(found)
        todo = [f for call in walk(node) if isinstance(call, ast.Call) for f in self.v.callees(call)]
        if isinstance(self.m.parent.get(node), ast.withitem):
            todo += self._around(node)
        met: set[ast.AST] = set()
        while todo:
            function = todo.pop()
            if function not in met and function not in self.marks.functions:
                met.add(function)
                found |= self.changing.get(function, frozenset())
                todo += [f for call in self.standing_in.get(function, ()) for f in self.v.callees(call)]
        return frozenset(found)

    def _around(self, block: ast.AST) -> list[ast.AST]:
        """What runs as a block of an object of the program is entered, and as it is left."""
        classes = [o.key for o in self.v.of(block) if o.kind == "instance"]
        owners = [one for cls in classes if isinstance(cls, ast.ClassDef) for one in self.v.order(cls)]
        names = ("__enter__", "__exit__", "__aenter__", "__aexit__")
        return [found for one in owners for name in names if (found := self.m.method(one, name)) is not None]

    @cached_property
    def changing(self) -> dict[ast.AST, set[str]]:
        """For each function what it sets that outlives it."""
        found: dict[ast.AST, set[str]] = defaultdict(set)
        for node in self.m.of(ast.Call, ast.Subscript, ast.Attribute, ast.Name):
            match node:
                case ast.Call() | ast.Subscript() if more := set_by_name(node):
                    found[around(self.m, node)] |= more
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    found[around(self.m, node)].add(name)
                case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Store()):
                    found[around(self.m, node)].add(name)
                case ast.Name(id=name, ctx=ast.Store()) if name in self.m.scope(node).globals:
                    found[around(self.m, node)].add(name)
        return found

    # ------------------------------------------------------------ once all is marked

    @cached_property
    def kinds_in(self) -> dict[ast.AST, list[tuple[ast.AST, str]]]:
        """For each function what is marked in it."""
        found: dict[ast.AST, list[tuple[ast.AST, str]]] = defaultdict(list)
        for node, kind in self.marks.kind.items():
            found[around(self.m, node)].append((node, kind))
        return found

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


def _completed(v: Values, expr: ast.expr) -> frozenset[Obj]:
    """What an expression may be; of a ``partial`` what that completes."""
    held = v.of(expr)
    parts = (o.key.args[0] for o in held if o.kind == "partial" and isinstance(o.key, ast.Call) and o.key.args)
    return held.union(*map(v.of, parts))


def _inverse(runs: Mapping[ast.AST, Sequence[ast.AST]]) -> dict[ast.AST, list[ast.AST]]:
    """For each node the functions that it runs, of those that each function is run by."""
    found: dict[ast.AST, list[ast.AST]] = defaultdict(list)
    for function, nodes in runs.items():
        for node in dict.fromkeys(nodes):
            found[node].append(function)
    return found
