"""Which optimizers and which scaler an expression stands for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property

from ...nodes import constructs, named_parameters
from ..program.program import Program
from ..program.syntax import FUNCTIONS
from ..state import UNMADE, Crash, Key, LegacyRaises, State
from ..terms import NONE, Facts, Term
from .variables import CHANGED, Variables

Evaluate = Callable[[State, ast.expr, Facts], Term]


class Lookup:
    """``value`` says what an expression stands for."""

    def __init__(self, program: Program, variables: Variables, value: Evaluate) -> None:
        self.program, self.m, self.naming = program, program.m, program.naming
        self.variables, self.value = variables, value

    def optimizers(self, state: State, expr: ast.expr, facts: Facts) -> frozenset[Key]:
        """The optimizers that an expression stands for, lists opened."""
        found: set[Key] = set()
        todo = [self.value(state, expr, facts)]
        while todo:
            term = todo.pop()
            if term[0] == "obj":
                found |= {k for k in term[1] if k in self.program.objects.optimizers}
            elif term[0] == "seq":
                todo += term[1]
        return frozenset(found) or (self.naming.keys(expr) & self.program.objects.optimizers)

    def scaler(self, state: State, expr: ast.expr, facts: Facts) -> Key:
        """The scaler that an expression stands for; a crash where there is none yet."""
        term = self.value(state, expr, facts)
        if term[0] == "scaler":
            return term[1]  # type: ignore[no-any-return]
        text = self.m.src(expr)
        if term == NONE:
            raise Crash(f"`{text}` is None here", UNMADE)
        if isinstance(expr, ast.Attribute) and self._never_made(state, expr.value, facts):
            raise LegacyRaises  # an object that nobody made on this path
        held = self.program.scaling.scalers(expr)
        made = [key for key in state.scalers if key in held]  # in the order in which they were made
        if not made and term in self._owed:
            raise LegacyRaises  # who would call it has to hand one over, and calls it with what there is no more
        if not made:
            raise Crash(f"`{text}` does not exist yet", UNMADE)
        if isinstance(expr, ast.Name):
            env = self.variables.env_of(state, expr, expr.id)
            if env is not None and expr.id not in env:
                raise Crash(f"`{text}` does not exist yet", UNMADE)
        if isinstance(expr, ast.Attribute):
            owner = self.value(state, expr.value, facts)
            changed = (CHANGED, expr.attr) in state.heap  # by a computed name, which is another one
            if owner[0] == "obj" and not changed and not any((k, expr.attr) in state.heap for k in owner[1]):
                raise Crash(f"`{text}` does not exist yet", UNMADE)
        return made[-1]

    @cached_property
    def _owed(self) -> frozenset[Term]:
        """What functions that nothing here calls are handed by parameters that are new: a class that saves amp's state
        and of which no object is made. The report says so (`plan/unmade.py`)."""
        found: set[Term] = set()
        for function in self.program.marks.functions:
            twin = self.naming.twin(function)
            uncalled = not self.program.v.calls.get(function)
            if uncalled and isinstance(function, FUNCTIONS) and isinstance(twin, FUNCTIONS):
                new = {*named_parameters(function)} - {*named_parameters(twin)}
                found |= {self.variables.param(function, name) for name in new}
        return frozenset(found)

    def _never_made(self, state: State, expr: ast.expr, facts: Facts) -> bool:
        """Whether an object has a constructor here that did not run on this path."""
        owner = self.value(state, expr, facts)
        keys = owner[1] if owner[0] == "obj" else {k for k in self.naming.keys(expr) if k[0] == "instance"}
        with_constructor = {
            ("instance", self.naming.place(cls))
            for f in self.program.marks.functions
            if constructs(f) and (cls := self.m.class_of(self.m.scope_of[f])) is not None
        }
        return bool(keys) and all(key in with_constructor and not state.is_made(key) for key in keys)
