"""Methods that look at gradients, of objects that somebody makes by a name that nobody follows.

``eval(name)(self)``, ``globals()[name](self)``, ``getattr(hooks, name)(self)``: the object may be of any class of the
program. What is a parameter that nobody fills, or came of one, may be of any of those that are made nowhere.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Collection
from functools import cached_property

from ..facts.module import Module
from ..facts.names import is_property
from ..nodes import walk
from .found_by_name import is_found
from .objects import Obj
from .spelled import listed_names, meet
from .touching import trains
from .values import Values

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NONE, _UNMADE, _ANY = range(3)


class UnmadeLookers:
    """Says which of them a call may run. ``lookers`` are functions that look at gradients."""

    def __init__(self, m: Module, v: Values, lookers: Collection[ast.AST]) -> None:
        self.m, self.v = m, v
        self._methods: dict[str, list[tuple[ast.ClassDef, ast.AST]]] = defaultdict(list)
        for cls in m.all(ast.ClassDef) if lookers else ():
            for method in cls.body:
                if isinstance(method, _FUNCTIONS) and method in lookers and self._is_asked_for(method):
                    if not self.v.is_of_torch(cls):
                        self._methods[method.name].append((cls, method))
        if self._methods:
            self._add_those_that_run_some()

    def _is_asked_for(self, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        special = method.name.startswith("__") and method.name != "__call__"
        return not special and not is_property(method)

    def _add_those_that_run_some(self) -> None:
        """``def __call__(self, event): getattr(self, event)()`` looks at gradients as well, in a class or its base."""
        known = {method for those in self._methods.values() for _, method in those}
        todo = [
            (cls, method)
            for cls in self.m.all(ast.ClassDef)
            for method in cls.body
            if isinstance(method, _FUNCTIONS) and method not in known and self._is_asked_for(method)
            if not trains(method) and not self.v.is_of_torch(cls)
        ]
        while more := [pair for pair in todo if any(self.run_by(n) for n in walk(pair[1]) if isinstance(n, ast.Call))]:
            for cls, method in more:
                self._methods[method.name].append((cls, method))
            todo = [pair for pair in todo if pair not in more]

    def run_by(self, call: ast.Call) -> list[ast.AST]:
        """The methods that a call of something unknown may run."""
        if not self._methods:
            return []
        match call.func:
            case ast.Attribute(value=receiver, attr=name):
                named = [name]
            case ast.Call(func=ast.Name(id="getattr"), args=[receiver, asked, *_]):
                named = listed_names(self.m, asked)
            case receiver:
                named = ["__call__"]
        meant = [name for name in self._methods if any(meet(one, name) for one in named)]
        known = self.v.callees(call)
        if not meant or (known and not self._is_found(receiver)):
            return []
        least = self._least(receiver)
        every = [(cls, method) for name in meant for cls, method in self._methods[name] if method not in known]
        return [method for cls, method in every if least is _ANY or (least is _UNMADE and cls not in self._made)]

    def _is_found(self, expr: ast.expr) -> bool:
        """Whether something may be made by a name that is known in part: then it may be of any class all the same."""
        made = (o.key.func for o in self.v.of(expr) if o.kind == "call" and isinstance(o.key, ast.Call))
        return any(map(is_found, (o for func in made for o in self.v.of(func))))

    @cached_property
    def _made(self) -> set[ast.ClassDef]:
        """The classes of which objects are made where that is seen, and their bases."""
        called = {obj.key for call in self.m.all(ast.Call) for obj in self.v.of(call.func) if obj.kind == "class"}
        return {base for cls in called if isinstance(cls, ast.ClassDef) for base in self.v.order(cls)}

    def _least(self, expr: ast.expr, seen: frozenset[Obj] = frozenset()) -> int:
        """Of which classes a value may be where nobody says: of any, of those that are nowhere made, of none."""
        held = self.v.of(expr)
        if held:
            return max(self._of_obj(obj, seen | {obj}) for obj in held if obj not in seen) if held - seen else _NONE
        match expr:
            case ast.Attribute(value=inner):
                return self._least(inner, seen)
            case ast.Name(id=name):
                elsewhere = name in self._from_elsewhere or hasattr(builtins, name)
                return _NONE if elsewhere else _UNMADE
            case _:
                return _UNMADE

    def _of_obj(self, obj: Obj, seen: frozenset[Obj]) -> int:
        match obj.kind:
            case "param":
                return _UNMADE
            case "path":
                owner: Obj = obj.key[0]  # type: ignore[index]
                return self._of_obj(owner, seen) if owner.kind in ("call", "path") else _UNMADE
            case "call" if isinstance(obj.key, ast.Call):
                return self._made_by(obj.key.func, seen)
            case "dict" if obj.label == "locals":  # what is found there by a name
                return _ANY
            case _:
                return _NONE

    def _made_by(self, func: ast.expr, seen: frozenset[Obj]) -> int:
        """Of which classes the result of something unknown may be: a name asks for any of them."""
        if any(map(is_found, self.v.of(func))):
            return _ANY
        match func:
            case ast.Name(id="eval" | "globals" | "locals" | "vars"):
                return _ANY
            case ast.Name(id="getattr"):
                return _NONE
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, _, *_]):
                return _ANY if self._least(owner, seen) is not _NONE or self._is_followed(owner) else _NONE
            case ast.Call(func=inner):
                return self._made_by(inner, seen)
            case ast.Subscript(value=table):
                return _ANY if self._least(table, seen) is not _NONE else _NONE
            case ast.Attribute(value=owner):
                return self._least(owner, seen)
            case _:
                return self._least(func, seen)

    def _is_followed(self, owner: ast.expr) -> bool:
        """Whether a name stands for a file of the program."""
        return isinstance(owner, ast.Name) and owner.id in {name for _, name in self.m.modules}

    @cached_property
    def _from_elsewhere(self) -> set[str]:
        """The names that imports of what is not here bind."""
        followed = {name for _, name in self.m.modules}
        names = [a for stmt in self.m.all(ast.Import) for a in stmt.names]
        names += [a for stmt in self.m.all(ast.ImportFrom) for a in stmt.names]
        return {a.asname or a.name.split(".")[0] for a in names} - followed
