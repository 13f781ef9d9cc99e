"""Names, attributes and items get their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

from ...nodes import walk
from ..code import Op
from ..program.program import Program
from ..program.syntax import last_name, names_in
from ..state import Frame, State
from ..terms import NONE, TRUE, Facts, Term, inside, is_deep, is_number, made_of, opaque
from .makers import Makers
from .values import Evaluator
from .variables import CHANGED, FILLED, Variables, owners_of

K = TypeVar("K")
_Change = tuple[frozenset[str], dict[tuple[Term, str], Term]]  # the names as the heap has them, and what they are
_MADE = ("op", "and", "or", "not", "sub")


class Binding:
    """Binds the names of one program, as far as their values are kept."""

    def __init__(self, program: Program, variables: Variables, evaluator: Evaluator, makers: Makers) -> None:
        self.program, self.naming = program, program.naming
        self.variables, self.evaluator, self.makers = variables, evaluator, makers
        self.memory = variables.memory
        self._made_of_itself: dict[Op, bool] = {}
        self._items: dict[ast.expr, set[str]] = {}
        self._changes: dict[tuple[ast.AST, frozenset[str], bool], _Change] = {}

    def bind(self, state: State, target: ast.expr, term: Term, facts: Facts) -> None:
        """Give a target its value; one that is not kept takes the place of what was."""
        kept = self.memory.holds_objects(term) or self._matters(target)
        if self.evaluator.hanging is not None:
            known = term != self.variables.unknown(target)
            self.evaluator.hanging.note(state, target, term if known else None)
        match target:
            case ast.Name(id=name):
                env = self.variables.env_to_set(state, target, name)
                if env is not None:
                    _put(env, name, term if kept else None)
            case ast.Attribute(value=base, attr=attr):
                owner = self.evaluator.value(state, base, facts)
                if owner[0] == "file":
                    file = self.variables.file_of(owner, attr)
                    _put(state.names_to_set(file), attr, term if kept else None)
                    return
                for key in owners_of(owner):
                    _put_in_heap(state, (key, attr), term if kept else None)
            case ast.Subscript(value=base, slice=index):
                owner = self.evaluator.value(state, base, facts)
                at = self.evaluator.value(state, index, facts)
                if owner[0] != "obj":
                    _put_in_heap(state, (owner, f"[{at}]"), term if kept else None)
                if last_name(base) in self.program.definitions.filled:
                    _put_in_heap(state, (owner, FILLED), TRUE)
            case ast.Starred(value=inner):
                self.bind(state, inner, opaque(self.naming.place(inner)), facts)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                items = term[1] if term[0] == "seq" and len(term[1]) == len(elts) else None
                for number, elt in enumerate(elts):
                    if items is not None and not isinstance(elt, ast.Starred):
                        self.bind(state, elt, items[number], facts)
                    else:
                        self.bind(state, elt, self.variables.unknown(elt), facts)
            case _:
                pass

    def _matters(self, target: ast.expr) -> bool:
        match target:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name in self.memory.names
            case ast.Subscript():
                if target not in self._items:
                    self._items[target] = names_in(target)
                return not self._items[target].isdisjoint(self.memory.names)
            case _:
                return True

    # ------------------------------------------------------------ operations

    def assign(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.expr) and op.value is not None
        evaluated = self.evaluator.value if self._matters(op.node) else self.evaluator.loosely
        term = evaluated(state, op.value, facts)
        if op.name == "entered":
            term = inside(term)
        made = term[0] in _MADE or (term[0] == "seq" and isinstance(op.node, ast.Subscript))
        if made and self._of_itself(op):
            anew = opaque(self.naming.place(op.node), ast.unparse(op.node))
            term = made_of(term[1], anew) if is_number(term) else anew
        if is_deep(term):  # made of itself, round by round
            term = opaque(self.naming.place(op.value))
        for call in self._made_by(op.value, term):
            self.makers.made_anew(state, call)
        self.bind(state, op.node, term, facts)
        frame.pc += 1

    def _made_by(self, value: ast.expr, term: Term) -> Iterator[ast.Call]:
        """The calls that make the objects of an assignment: ``opt_a, opt_b = Adam(a), Adam(b)``."""
        if isinstance(value, ast.Call) and (term[0] == "obj" or (term[0] == "seq" and self.naming.items(value))):
            yield value
        elif isinstance(value, (ast.Tuple, ast.List)) and term[0] == "seq" and len(value.elts) == len(term[1]):
            for item, held in zip(value.elts, term[1], strict=True):
                yield from self._made_by(item, held)

    def _of_itself(self, op: Op) -> bool:
        """Whether a name, attribute or item is made of its own old value."""
        if op not in self._made_of_itself:
            assert op.value is not None
            own = ast.unparse(op.node) if isinstance(op.node, (ast.Name, ast.Attribute, ast.Subscript)) else None
            parts = [n for n in walk(op.value) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))]
            self._made_of_itself[op] = own is not None and any(ast.unparse(n) == own for n in parts)
        return self._made_of_itself[op]

    def havoc(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.expr)
        self.bind(state, op.node, self.variables.unknown(op.node), facts)
        frame.pc += 1

    def count(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """``n += 1``: of a value that is not known one more, of one that counted already another unknown one."""
        assert isinstance(op.node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(op.value, ast.Constant)
        plain = self._matters(op.node) and not isinstance(op.node, ast.Subscript)
        before = self.evaluator.value(state, op.node, facts) if plain else NONE
        counts = before[0] in ("k", "v", "attr") and before != NONE
        term = made_of("Add", before, ("k", op.value.value)) if counts else self.variables.unknown(op.node)
        self.bind(state, op.node, term, facts)
        frame.pc += 1

    def begin_round(self, state: State, loop: ast.AST) -> None:
        """What a loop counts is another number in each of its rounds."""
        counted = self.program.counters(loop)
        if not counted:
            return
        anew = {name: opaque(self.naming.place(loop), name) for name in counted}
        env = state.frames[-1].env
        for name in [name for name in env if name in counted and _counts(env[name])]:
            env[name] = anew[name]
        for number, names in list(state.names.items()):
            for name in [name for name in names if name in counted and _counts(names[name])]:
                state.names_to_set(number)[name] = anew[name]
        for key in [key for key, term in state.heap.items() if key[1] in counted and _counts(term)]:
            state.heap_to_set()[key] = anew[key[1]]

    def _asked_since(self, name: str) -> bool:
        """Whether it is asked of an attribute or key whether it was changed."""
        return not self.memory.loses(name) or name in self.program.scaling.attributes

    def change(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """Attributes, keys and names of files are given something by code that is not followed."""
        kept = op.node, self.memory.names, self.memory.rough
        if kept not in self._changes:
            names = sorted(self.program.changed(op.node))
            spelled = frozenset(names).union(f"[{('k', name)}]" for name in names)
            unknown: Term = opaque(self.naming.place(op.node))
            self._changes[kept] = spelled, {(CHANGED, name): unknown for name in names if self._asked_since(name)}
        spelled, anew = self._changes[kept]
        heap = state.heap_to_set()
        for known in [key for key in heap if key[1] in spelled]:
            del heap[known]
        heap.take(anew)
        of_files = self.program.changed_in_files(op.node)
        for number, file in list(state.names.items()) if of_files else ():
            for name in [name for name in file if name in spelled and name in of_files]:
                if not self.memory.holds_objects(file[name]):
                    state.names_to_set(number)[name] = opaque(self.naming.place(op.node), name)
        frame.pc += 1

    def import_names(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        node = op.node
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            env = self.variables.env_to_set(state, node, name)
            if env is None:
                continue
            taken = self.variables.imported(state, node, name)
            if taken is not None:
                env[name] = taken
            elif isinstance(node, ast.Import) and alias.name.split(".")[0] == "apex":
                env[name] = ("apex", alias.name if alias.asname else "apex")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "apex" and not node.level:
                env[name] = ("apex", f"{node.module}.{alias.name}")
            if self.evaluator.hanging is not None and name in env:
                self.evaluator.hanging.note_name(state, self.program.mattering.scoped_name(name, node), env[name])
        frame.pc += 1

    def define(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        env = self.variables.env_to_set(state, op.node, op.name)
        if env is not None:
            env[op.name] = ("obj", frozenset({("function", self.naming.place(op.node))}))
        frame.pc += 1


def _counts(term: Term) -> bool:
    """Whether a value is one more than another."""
    return term[:2] == ("op", "Add") and term[3][0] == "k"


def _put(values: dict[K, Term], name: K, term: Term | None) -> None:
    if term is not None:
        values[name] = term
    elif name in values:
        del values[name]


def _put_in_heap(state: State, name: tuple[Term, str], term: Term | None) -> None:
    if term is not None or name in state.heap:
        _put(state.heap_to_set(), name, term)
