"""Two backends behind one switch: the fact that is told to the judge, which condition chooses Apex, and which the
native side beside it.

From that the judge tells by itself what either program asks: where the old one was on Apex's side, its native side was
off, and the new one is on the native side. What a path has set itself counts first: only a flag that nothing on a path
gave a value is known by the other one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ..facts.module import Module
from ..nodes import walk
from .program.syntax import last_name
from .run.variables import CHANGED, Variables
from .state import LegacyRaises, State
from .terms import NONE, Term, compared, is_member, member, negated

_OPEN = ("attr", "v", "sub")  # values of which a path says nothing
_EQUAL = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
Value = Callable[[ast.expr], Term]


@dataclass(frozen=True)
class Switch:
    """``name`` is the attribute that chooses Apex; ``flag`` the one that chooses the native side, or ``apex`` and
    ``native`` the two values of that one attribute, as they are written."""

    name: str
    flag: str = ""
    apex: str = ""
    native: str = ""


class Sides:
    """What one of the programs asks of the switch."""

    def __init__(self, switch: Switch, m: Module, variables: Variables, legacy: bool) -> None:
        self.switch, self.m, self.variables, self.legacy = switch, m, variables, legacy
        self.beside: State | None = None  # for the new program: where the old one stands

    def check_set(self, state: State, owner: Term, expr: ast.Attribute) -> None:
        """Raise where the old program asks for the switch of an object that nothing on the path has set yet, though the
        program sets it."""
        if not self.legacy or expr.attr not in (self.switch.name, self.switch.flag) or owner[0] != "obj":
            return
        if len(owner[1]) == 1 and self._is_set and (CHANGED, expr.attr) not in state.heap:
            (key,) = owner[1]
            if state.is_made(key) and (key, expr.attr) not in state.heap:
                raise LegacyRaises

    @cached_property
    def _is_set(self) -> bool:
        """Whether the program sets the switch of its objects, and no class does so for all of them."""
        names = {self.switch.name, self.switch.flag}
        stored = {n.attr for name in names for n in self.m.attributes(name) if isinstance(n.ctx, ast.Store)}
        given = [s for cls in self.m.all(ast.ClassDef) for s in cls.body if isinstance(s, (ast.Assign, ast.AnnAssign))]
        said = {n.id for s in given for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return self.switch.name in stored and names.isdisjoint(said)

    def flag(self, state: State, owner: Term, term: Term, expr: ast.Attribute) -> Term:
        """The native side's flag, where nothing on the path gave it a value."""
        if expr.attr != self.switch.flag or term[0] not in _OPEN:
            return term
        where = self.beside if self.beside is not None else state
        return self._natively(term, self.variables.attribute(where, owner, self.switch.name, expr))

    def asks(self, expr: ast.Compare) -> bool:
        """Whether a comparison is about which of two values the switch has."""
        return bool(self.switch.apex) and last_name(expr.left) == self.switch.name

    def comparison(self, state: State, expr: ast.Compare, terms: list[Term], term: Term, value: Value) -> Term:
        """The question for the native side's value, where nothing on the path says which it is."""
        asked = expr.comparators[0]
        if not self.asks(expr):
            return term
        if terms[0] == NONE and terms[1][0] == "attr" and isinstance(expr.ops[0], _EQUAL):
            return ("k", isinstance(expr.ops[0], (ast.NotEq, ast.IsNot)))
        if terms[0][0] not in _OPEN:
            return term
        if isinstance(expr.ops[0], _EQUAL) and all(t[0] == "attr" for t in terms) and terms[0][1] == terms[1][1]:
            same = terms[0] == terms[1]  # of one list of values, as an `Enum` is
            return ("k", same != isinstance(expr.ops[0], (ast.NotEq, ast.IsNot)))
        if len(terms) != 2 or not isinstance(expr.ops[0], _EQUAL) or self.m.src(asked) != self.switch.native:
            return term
        apex = compared("eq", terms[0], self._apex_value(state, asked, value))
        there = self._natively(compared("eq", *terms), apex)
        return negated(there) if isinstance(expr.ops[0], (ast.NotEq, ast.IsNot)) else there

    def _apex_value(self, state: State, native: ast.expr, value: Value) -> Term:
        """Apex's value, written as the native one is: another attribute of the same object, or a constant."""
        base, _, name = self.switch.apex.rpartition(".")
        if isinstance(native, ast.Attribute) and self.m.src(native.value) == base:
            if is_member(held := value(native)):
                return member(held[1][1], name)
            return self.variables.attribute(state, value(native.value), name, native)
        try:
            return ("k", ast.literal_eval(self.switch.apex))
        except ValueError:
            return ("v", 0, self.switch.apex)

    def _natively(self, native: Term, apex: Term) -> Term:
        """In the old program a run is on one side or the other; what chose Apex is on the native one in the new."""
        return ("and", native, negated(apex)) if self.legacy else ("or", native, apex)
