"""What lasts behind the functions that nothing calls: each may run again, or another one. An object that only names of
functions hold is gone by then, with its gradients, or its scale; the next run makes another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from ...facts.scopes import FunctionNode
from ...flow.objects import Obj
from ...nodes import walk
from ..state import Key
from .definitions import Definitions
from .entries import Entries
from .tree import AnnotatedTree

_MADE = ("call", "instance", "seq", "dict", "partial")  # by a run; anything else is there already, or was handed over


class Lasting:
    """The objects of one program that may be held behind the functions that made them."""

    def __init__(self, tree: AnnotatedTree, entries: Entries, definitions: Definitions) -> None:
        self.m, self.v, self.naming = tree.m, tree.v, tree.naming
        self.entries, self.definitions = entries, definitions

    def gone(self, key: Key) -> bool:
        """Whether an object is made by a function, and held by none but names of functions: so is what is a part of
        it."""
        while key[0] == "path" and isinstance(key[1], tuple):
            key = key[1]
        return key[0] in ("call", "instance") and key not in self._held

    @cached_property
    def _held(self) -> frozenset[Key]:
        found, todo = set[Obj](), list(self._roots())
        while todo:
            obj = todo.pop()
            if obj not in found:
                found.add(obj)
                todo += self._kept_by(obj)
        return frozenset(map(self.naming.key, found))

    def _roots(self) -> Iterator[Obj]:
        """What names of files and classes hold, defaults, names that a function inside of another one reads, what was
        there already, and the objects whose methods nothing calls."""
        m, v = self.m, self.v
        for scope in m.scope_of.values():
            names = self.definitions.outlived(scope.node) if scope.is_function else scope.names
            for name in names:
                yield from v.variable(name, scope)
            if isinstance(scope.node, FunctionNode):
                defaults = (*scope.node.args.defaults, *scope.node.args.kw_defaults)
                yield from (obj for value in defaults if value is not None for obj in v.of(value))
            if getattr(scope.node, "decorator_list", ()):  # which may remember what the function gave
                given = (stmt.value for stmt in m.own(scope, ast.Return) if stmt.value is not None)
                yield from (obj for value in given for obj in v.of(value))
        yield from (obj for obj in v.holding() if obj.kind not in _MADE)
        for function in self.entries.all:
            owner = m.class_of(m.scope_of[function])
            if owner is not None:
                yield from (Obj("instance", cls) for cls in self.entries.classes(owner))

    def _kept_by(self, obj: Obj) -> Iterator[Obj]:
        """What an object holds: in attributes and items, and what it was made of, by code that is not here."""
        for name in self.v.attributes(obj):
            yield from self.v.field(obj, name)
        match obj.kind, obj.key:
            case ("call" | "partial"), ast.Call() as call:
                yield from (held for node in walk(call) for held in self.v.of(node))
            case ("path" | "method"), (Obj() as owner, *_):
                yield owner
            case _:
                pass
