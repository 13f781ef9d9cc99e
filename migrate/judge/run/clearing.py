"""What `zero_grad()` clears: all of an optimizer's gradients, or those of a model or of a part of one, which may be
some of them or none."""

from __future__ import annotations

import ast
from functools import cached_property

from ...flow.values import Obj
from ...nodes import walk
from ..owners import Owners
from ..program.program import Program
from ..state import Key, State
from ..terms import Facts
from .values import Evaluator

_SAME = frozenset({"module"})  # what a wrapper wraps


_Sources = frozenset[frozenset[Key]]


class Clearing:
    """The calls of `zero_grad` of one program. Each source of an optimizer's parameters is a set: it may be any of
    these models, by their keys, or parts of models, by the names of their attributes."""

    def __init__(self, program: Program, owners: Owners, evaluator: Evaluator) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.owners, self.evaluator = owners, evaluator
        self.optimizers, self.models = program.objects.optimizers, program.objects.models
        self._above: dict[Key, frozenset[Key]] = {}  # the models that parts belong to
        self._sources = self._find_sources()

    def cleared(self, state: State, receiver: ast.expr, facts: Facts) -> frozenset[Key]:
        """The optimizers of which no gradient is left once a call has cleared those of ``receiver``, which is none."""
        whole = self._whole(state, receiver, facts)
        if whole is None:
            return self.optimizers
        state.zeroed |= whole
        found = frozenset(o for o in self.optimizers if self._covered(o, state.zeroed))
        state.zeroed &= self._partial
        return found

    def _covered(self, optimizer: Key, zeroed: frozenset[Key]) -> bool:
        sources = self._sources.get(optimizer)
        return sources is None or all(
            any(one in zeroed or self._in_others(one, zeroed) for one in maybe) for maybe in sources
        )

    def _in_others(self, one: Key, zeroed: frozenset[Key]) -> bool:
        """Whether all parts of a model were cleared, or the model that has a part."""
        parts = self._parts.get(one, frozenset())
        return (bool(parts) and parts <= zeroed) or not zeroed.isdisjoint(self._above.get(one, ()))

    @cached_property
    def _partial(self) -> frozenset[Key]:
        """What has to be remembered, as it is cleared one by one."""
        several = [maybe for s in self._sources.values() if s is not None and len(s) > 1 for maybe in s]
        return frozenset[Key]().union(*several, *self._parts.values())

    # ------------------------------------------------------------ what a receiver is

    def _whole(self, state: State, receiver: ast.expr, facts: Facts) -> frozenset[Key] | None:
        """The models and parts that a receiver stands for; None where it may be anything."""
        while isinstance(receiver, ast.Attribute) and receiver.attr in _SAME:
            receiver = receiver.value
        if models := self._models(state, receiver, facts):
            return models
        if isinstance(receiver, (ast.Attribute, ast.Subscript)) and self._below_a_model(receiver):
            return self._part(receiver)
        held = self.v.of(receiver)
        inside = frozenset[Key]().union(*map(self._holds, held))
        if inside:
            return inside
        if not held or any(map(self._made_of_them, held)) or None in map(self._sources.get, self.optimizers):
            return None
        return frozenset()  # another model, which no optimizer has

    def _models(self, state: State, receiver: ast.expr, facts: Facts) -> frozenset[Key]:
        term = self.evaluator.value(state, receiver, facts)
        known = frozenset(term[1]) & self.models if term[0] == "obj" else frozenset[Key]()
        return known or self.owners.meant(receiver)

    def _below_a_model(self, expr: ast.expr) -> frozenset[Key]:
        """The models that an expression is a part of."""
        while isinstance(expr, (ast.Attribute, ast.Subscript)):
            expr = expr.value
            if models := self.naming.keys(expr) & self.models:
                return models
        return frozenset()

    def _part(self, expr: ast.expr) -> frozenset[Key]:
        return frozenset({("part", expr.attr)}) if isinstance(expr, ast.Attribute) else frozenset()

    def _holds(self, obj: Obj) -> frozenset[Key]:
        """The models that an object of the program keeps."""
        if obj.kind != "instance":
            return frozenset()
        held = (o for name in self.v.attributes(obj) for o in self.v.field(obj, name))
        return frozenset(map(self.naming.key, held)) & self.models

    def _made_of_them(self, obj: Obj) -> bool:
        """Whether code that is not here made an object of a model or an optimizer: it may clear what these have."""
        if obj.kind == "path":
            return self._made_of_them(obj.key[0])  # type: ignore[index]
        if obj.kind != "call" or not isinstance(obj.key, ast.Call):
            return obj.kind not in ("instance", "call")
        return any(self.program.objects.known(n) for n in walk(obj.key) if isinstance(n, ast.expr))

    # ------------------------------------------------------------ where an optimizer's parameters come from

    def _find_sources(self) -> dict[Key, _Sources | None]:
        """For each optimizer what it was made of; None where that is not known."""
        made = {key[1]: key for key in self.optimizers if key[0] == "call"}
        found: dict[Key, _Sources | None] = {}
        for call in self.m.all(ast.Call):
            optimizer = made.get(self.naming.place(call))
            if optimizer is not None:
                found[optimizer] = self._sources_of(call)
        return found

    def _sources_of(self, call: ast.Call) -> _Sources | None:
        found: set[frozenset[Key]] = set()
        for listed in self.owners.behind(call):
            match listed:
                case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
                    pass
                case _:
                    continue
            source = self.owners.meant(owner)
            if not source and isinstance(owner, ast.Attribute) and (above := self._below_a_model(owner)):
                source = self._part(owner)
                self._above |= {part: self._above.get(part, frozenset()) | above for part in source}
            if not source:
                return None
            found.add(source)
        models = frozenset(found) or frozenset({self.owners.made_of(call)} - {frozenset()})
        return models or None

    @cached_property
    def _parts(self) -> dict[Key, frozenset[Key]]:
        """For each model of a class of the program its parts."""
        found: dict[Key, frozenset[Key]] = {}
        for cls in self.m.all(ast.ClassDef):
            made = Obj("instance", cls, cls.name)
            key = self.naming.key(made)
            if key in self.models:
                held = {name: self.v.field(made, name) for name in self.v.attributes(made)}
                layers = {n for n, objects in held.items() if any(o.kind in ("call", "instance") for o in objects)}
                found[key] = frozenset(("part", name) for name in layers)
        return found
