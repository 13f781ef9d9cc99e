"""What an expression stands for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ..owners import Owners
from ..program.counting import LAST_ROUND
from ..program.hanging import Hanging
from ..program.program import Program
from ..program.syntax import asks_loaded, attributes_of, names_in
from ..sides import Sides, Switch
from ..state import Crash, Frame, Key, LegacyRaises, State
from ..terms import AUTOCAST, Ask, Facts, Term, compared, known, made_of, negated, opaque, record, truth
from .behind import Behind
from .lookup import Lookup
from .members import Members
from .methods import Methods
from .properties import Properties
from .results import Results
from .variables import FILLED, Variables, since

_COMPARE = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Is: "is", ast.IsNot: "isnot", ast.In: "in", ast.NotIn: "notin",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip

_ASKED = (("op", "hasattr"), ("op", "get"), ("op", "in"))  # which say something of what is not known
_Read = Callable[[State, Any, Facts], Term]


def switched_by(table: str) -> Term:
    """Whether Apex is on by the options in a dictionary, by the words with which the text reads it."""
    return opaque(0, f"the options in {table}")


class Evaluator:
    """The values of one program's expressions."""

    def __init__(
        self, program: Program, variables: Variables, owners: Owners, legacy: bool, switch: Switch | None = None
    ) -> None:
        self.program, self.naming, self.variables = program, program.naming, variables
        self.sides = Sides(switch, program.m, variables, legacy) if switch is not None else None
        self.lookup = Lookup(program, variables, self.value)
        self._results = Results(program, variables, self.lookup, owners, legacy, self.value, _item)
        self.memory = variables.memory
        self._methods, self._properties, self._members = Methods(program), Properties(program), Members(program)
        self._behind, self._legacy = Behind(program), legacy
        self._said: dict[ast.expr, set[str]] = {}
        self._loosely = False
        self.hanging: Hanging | None = None  # set before anything is evaluated, if at all
        self._fixed: dict[ast.expr, tuple[Term | None, Term | None, _Read]] = {}
        self._reads: dict[type[ast.expr], _Read] = {
            ast.Name: self._name, ast.Attribute: self._attribute, ast.Subscript: self._subscript,
            ast.Tuple: self._sequence, ast.List: self._sequence, ast.Dict: self._dictionary,
            ast.BoolOp: self._both_or_either, ast.UnaryOp: self._unary, ast.Compare: self._comparison,
            ast.BinOp: self._operation, ast.IfExp: self._choice, ast.Call: self._call,
            ast.JoinedStr: self._text, ast.FormattedValue: self._inner, ast.NamedExpr: self._inner,
            ast.Starred: self._inner, ast.Await: self._inner, ast.Lambda: self._function,
        }  # fmt: skip

    def value(self, state: State, expr: ast.expr, facts: Facts) -> Term:
        """What an expression stands for."""
        fixed = self._fixed.get(expr)
        if fixed is None:
            fixed = self._fixed[expr] = self._known_of(expr)
        term, held, read = fixed
        if term is None:
            term = read(state, expr, facts)
        return held if held is not None and term[0] in ("v", "attr", "sub", "op") else term

    def loosely(self, state: State, expr: ast.expr, facts: Facts) -> Term:
        """The same for a value that is only kept if it is an object: which of two others it is, is no question."""
        before, self._loosely = self._loosely, True
        try:
            return self.value(state, expr, facts)
        finally:
            self._loosely = before

    def _known_of(self, expr: ast.expr) -> tuple[Term | None, Term | None, _Read]:
        """What an expression is at any time, the objects that it is where nothing else is known of it, and how it is
        read: by its type, as a `match` over all of them would try one after the other, hundreds of thousands of
        times."""
        place, held = self.naming.place, self.program.objects.known(expr)
        term: Term | None = None
        if self.program.scaling.reads_scale(expr):
            term = opaque(place(self.program.m.statement(expr)), "the loss scale")
        elif self.program.scaling.autocasting.means(expr):
            term = AUTOCAST
        elif isinstance(expr, ast.Constant):
            plain = isinstance(expr.value, (bool, int, float, str, type(None)))
            term = ("k", expr.value) if plain else opaque(place(expr))
        read = self._reads.get(type(expr), self._opaque)
        if self.hanging is not None and (answers := self.hanging.answers(expr)):
            term, held, read = None, frozenset(), self._answering(self.hanging, answers)
        elif self.hanging is not None and (names := self.hanging.behind(expr)):
            read = self._saying(read, expr, self.hanging, names)
        return term, ("obj", held) if held else None, read

    def _saying(self, read: _Read, expr: ast.expr, hangs: Hanging, names: frozenset[str]) -> _Read:
        """Reads an expression that may hang on changed flags: of what is not known it is said on which."""
        by_itself = _reads_one(expr)
        open_ = ("v", "attr", "sub", "seq", "dict") if by_itself else ("v", "attr", "sub")

        def said(state: State, expr: ast.expr, facts: Facts) -> Term:
            term = read(state, expr, facts)
            if term[0] not in open_ and term[:2] not in _ASKED:
                return term
            if by_itself and hangs.knows(state, names, self._is_bound(state, expr)):
                return term
            return _of(term, hangs.said(state, names))

        return said

    def _answering(self, hangs: Hanging, names: frozenset[str]) -> _Read:
        """Reads an expression for which a method answers that may hang on changed flags."""

        def said(state: State, expr: ast.expr, facts: Facts) -> Term:
            return _of(opaque(self.naming.place(expr)), hangs.said(state, names))

        return said

    def asked_of(self, state: State, subject: ast.expr, term: Term) -> Term:
        """A question about what an expression stands for, and which flags that hangs on."""
        return _of(term, self.hanging.said(state, self.hanging.behind(subject))) if self.hanging is not None else term

    def _is_bound(self, state: State, expr: ast.expr) -> bool:
        """Whether an expression is a variable that has a value."""
        env = self.variables.env_of(state, expr, expr.id) if isinstance(expr, ast.Name) else None
        return env is not None and isinstance(expr, ast.Name) and expr.id in env

    def known(self, state: State, test: ast.expr, facts: Facts) -> bool | None:
        """Whether a condition holds, without a question; None where that is open."""
        try:
            return known(self.value(state, test, facts), facts)
        except Ask:
            return None

    def _opaque(self, state: State, expr: ast.expr, facts: Facts) -> Term:
        return opaque(self.naming.place(expr))

    def _name(self, state: State, expr: ast.Name, facts: Facts) -> Term:
        env = self.variables.env_of(state, expr, expr.id)
        term = env.get(expr.id) if env is not None else None
        return self.variables.unbound(expr, expr.id) if term is None else term

    def _attribute(self, state: State, expr: ast.Attribute, facts: Facts) -> Term:
        if self._behind.lacks(expr):
            if self._legacy:
                raise LegacyRaises
            raise Crash(f"`{self.program.m.src(expr)}` is nothing: only the object itself has it")
        owner = self.value(state, expr.value, facts)
        asked = self.sides is not None or expr.attr in self._properties.set_here
        if asked and (said := self._properties.of(expr)) is not None:
            return self._said_by(state, owner, *said, facts)
        if (one := self._members.of(expr)) is not None:
            return one
        term = self.variables.attribute(state, owner, expr.attr, expr)
        if self.sides is not None:
            self.sides.check_set(state, owner, expr)
            term = self.sides.flag(state, owner, term, expr)
        return term if term[0] != "attr" else self._methods.of(expr) or term

    def _said_by(self, state: State, owner: Term, node: ast.FunctionDef, value: ast.expr, facts: Facts) -> Term:
        """What a property says of an object."""
        frame = Frame(self.program.code(node))
        frame.env[self.program.m.scope_of[node].params[0]] = owner
        state.frames.append(frame)
        try:
            return self.value(state, value, facts)
        finally:
            state.frames.pop()

    def _subscript(self, state: State, expr: ast.Subscript, facts: Facts) -> Term:
        owner = self.value(state, expr.value, facts)
        at = self.value(state, expr.slice, facts)
        if owner[0] == "dict" and at[0] != "k" and {True, False} == {key for key, _ in owner[1]}:
            # {True: self.amp_backward, False: self.plain_backward}[use_amp]
            if any(value[0] == "obj" for _, value in owner[1]):
                return dict(owner[1])[truth(at, facts)]  # type: ignore[no-any-return]
        item = _item(state, owner, at)
        if item[0] == "sub" and (held := self._under(expr, at)):
            return ("obj", held)
        if item[0] == "sub" and item[2] == at and self.memory.loses(*self._names(expr)):
            return opaque(self.naming.place(expr))
        return item

    def _under(self, expr: ast.Subscript, at: Term) -> frozenset[Key]:
        """The models and optimizers that dictionaries hold under a key that a path knows: ``self.optims[name]``."""
        if isinstance(expr.slice, ast.Constant) or at[0] != "k" or not isinstance(at[1], str):
            return frozenset()
        known = self.program.objects.known(expr)
        return self.naming.under(expr.value, at[1]) & known if len(known) > 1 else frozenset()

    def _sequence(self, state: State, expr: ast.Tuple | ast.List, facts: Facts) -> Term:
        if any(isinstance(e, ast.Starred) for e in expr.elts):
            return opaque(self.naming.place(expr))
        if expr in self.program.definitions.changing:  # objects in it are known by where they are made
            return ("seq", tuple(self._unless_constant(state, e, facts) for e in expr.elts))
        return ("seq", tuple([self.value(state, e, facts) for e in expr.elts]))

    def _dictionary(self, state: State, expr: ast.Dict, facts: Facts) -> Term:
        names = [k.value for k in expr.keys if isinstance(k, ast.Constant)]
        if expr in self.program.definitions.changing or len(names) < len(expr.keys):
            return opaque(self.naming.place(expr))
        return record(zip(names, (self.value(state, x, facts) for x in expr.values), strict=True))

    def _both_or_either(self, state: State, expr: ast.BoolOp, facts: Facts) -> Term:
        word = "and" if isinstance(expr.op, ast.And) else "or"
        parts: list[Term] = []
        for one in expr.values:
            try:
                parts.append(self.value(state, one, facts))
            except Crash:
                if not parts or known((word, *parts), facts) is not (word == "or"):
                    raise
                break  # `scaler is not None and scaler.is_enabled()` asks nothing of None
        return (word, *parts)

    def _unary(self, state: State, expr: ast.UnaryOp, facts: Facts) -> Term:
        match expr:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return negated(_since_filled(state, self.value(state, inner, facts)))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return ("k", -number)
        return made_of(type(expr.op).__name__, self.value(state, expr.operand, facts))

    def _comparison(self, state: State, expr: ast.Compare, facts: Facts) -> Term:
        if expr in self.program.last_rounds:
            loop, holds = self.program.last_rounds[expr]
            last = opaque(self.naming.place(loop), LAST_ROUND)
            return last if holds else negated(last)
        match expr:
            case ast.Compare(left=ast.Call(func=ast.Attribute(value=table, attr="get"), args=[asked, *_])) if (
                self._new_option(expr, table, asked, "opt_level")
            ):
                return switched_by(self.program.m.src(table))
            case ast.Compare(ops=[op]) if asks_loaded(expr):  # what was taken out is not imported any more
                return ("k", self._legacy is isinstance(op, ast.In))
            case ast.Compare(left=ast.Constant(str(name)), ops=[ast.In() | ast.NotIn() as op], comparators=[held]) if (
                (owner := attributes_of(held)) is not None
            ):
                there = self._results.has(state, self.value(state, owner, facts), ("k", name))
                return there if isinstance(op, ast.In) else negated(there)
        if len(expr.ops) == 1 and (self.sides is None or not self.sides.asks(expr)):  # as nearly always
            left, right = self.value(state, expr.left, facts), self.value(state, expr.comparators[0], facts)
            asks = isinstance(expr.ops[0], (ast.In, ast.NotIn))
            return compared(_COMPARE[type(expr.ops[0])], left, _since_filled(state, right) if asks else right)
        terms = [self.value(state, x, facts) for x in (expr.left, *expr.comparators)]
        parts = [compared(_COMPARE[type(o)], a, b) for o, a, b in zip(expr.ops, terms, terms[1:], strict=False)]
        if self.sides is not None:
            parts[0] = self.sides.comparison(state, expr, terms, parts[0], lambda one: self.value(state, one, facts))
        return parts[0] if len(parts) == 1 else ("and", *parts)

    def _operation(self, state: State, expr: ast.BinOp, facts: Facts) -> Term:
        if self.naming.made_up(expr):
            return self.value(state, expr.left, facts)
        one, other = self.value(state, expr.left, facts), self.value(state, expr.right, facts)
        if isinstance(expr.op, ast.Add) and all(t[0] == "k" and isinstance(t[1], str) for t in (one, other)):
            return ("k", one[1] + other[1])
        return made_of(type(expr.op).__name__, one, other)

    def _choice(self, state: State, expr: ast.IfExp, facts: Facts) -> Term:
        test = self.value(state, expr.test, facts)
        if self._loosely and known(test, facts) is None:
            arms = [self.value(state, arm, facts) for arm in (expr.body, expr.orelse)]
            if not any(map(self.memory.holds_objects, arms)):
                return opaque(self.naming.place(expr))
        return self.value(state, expr.body if truth(test, facts) else expr.orelse, facts)

    def _call(self, state: State, expr: ast.Call, facts: Facts) -> Term:
        match expr:
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[asked, *_]) if (
                self._new_option(expr, table, asked, "enabled")
            ):
                return ("k", True)  # `switched_by` asks for it, too
        term = self._results.of(state, expr, facts)
        # what a function hands back is more than what this call of it gives
        if term[0] == "obj":
            return _narrowed(term, self.naming.keys(expr)) if len(term[1]) > 1 else term
        if term[0] == "seq" and (items := self.naming.items(expr)) and len(items) == len(term[1]):
            return ("seq", tuple(map(_narrowed, term[1], items)))
        return term

    def _text(self, state: State, expr: ast.JoinedStr, facts: Facts) -> Term:
        parts = [self.value(state, x, facts) for x in expr.values]
        if all(p[0] == "k" and isinstance(p[1], str) for p in parts):
            return ("k", "".join(p[1] for p in parts))
        return made_of("text", *parts)

    def _inner(
        self, state: State, expr: ast.NamedExpr | ast.Starred | ast.Await | ast.FormattedValue, facts: Facts
    ) -> Term:
        return self.value(state, expr.value, facts)

    def _function(self, state: State, expr: ast.Lambda, facts: Facts) -> Term:
        return ("obj", frozenset({("function", self.naming.place(expr))}))

    def _new_option(self, expr: ast.expr, table: ast.expr, asked: ast.expr, name: str) -> bool:
        """Whether the new text asks a dictionary for an option that ``initialize`` was handed with it."""
        if not isinstance(asked, ast.Constant) or asked.value != name or self.naming.origin is None:
            return False
        return self.naming.twin(expr) is None and self.program.m.src(table) in self._tables

    @cached_property
    def _tables(self) -> set[str]:
        """The dictionaries whose options the old program's ``initialize`` was handed."""
        old = self.naming.old
        words = [k for call in old.calls("initialize") for k in call.keywords]
        return {old.src(k.value) for k in words if k.arg is None}

    def _names(self, expr: ast.expr) -> set[str]:
        if expr not in self._said:
            self._said[expr] = names_in(expr)
        return self._said[expr]

    def _unless_constant(self, state: State, expr: ast.expr, facts: Facts) -> Term:
        term = self.value(state, expr, facts)
        return opaque(self.naming.place(expr)) if term[0] == "k" else term


def _narrowed(term: Term, keys: frozenset[Key]) -> Term:
    """An object that may be one of several, where it is one of some of them."""
    return ("obj", term[1] & keys or term[1]) if term[0] == "obj" else term


def _since_filled(state: State, term: Term) -> Term:
    """A dictionary that is asked what is in it: another question once an item was put into it."""
    return ("op", "filled", term) if (term, FILLED) in state.heap else term


def _of(term: Term, flags: tuple[Term, ...]) -> Term:
    """A value that hangs on flags."""
    return ("op", "of", term, ("seq", flags)) if flags else term


def _reads_one(expr: ast.expr) -> bool:
    """Whether an expression reads one name, attribute or key, by itself."""
    match expr:
        case ast.Attribute(value=owner, attr=name):
            return name != "__dict__" and isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript))
        case ast.Subscript(value=owner, slice=ast.Constant(value=str())):
            return not isinstance(owner, ast.Call) and getattr(owner, "attr", "") != "__dict__"
        case _:
            return isinstance(expr, ast.Name)


def _item(state: State, owner: Term, at: Term) -> Term:
    """What an item of a value holds."""
    if owner[0] == "seq" and at[0] == "k" and isinstance(at[1], int):
        items: tuple[Term, ...] = owner[1]
        if -len(items) <= at[1] < len(items):
            return items[at[1]]
    if owner[0] == "scaled":
        return owner
    if owner[0] == "dict" and (owner, f"[{at}]") not in state.heap:
        found: Term | None = dict(owner[1]).get(at[1]) if at[0] == "k" else None
        if found is not None:
            return found
    of = since(state, owner, at[1]) if at[0] == "k" and isinstance(at[1], str) else owner
    return state.heap.get((owner, f"[{at}]"), ("sub", of, at))
