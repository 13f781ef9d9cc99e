"""Two networks of one class: to the values they are one object, but what clears the gradients of one leaves those of
the other. They are told apart by where each was made, as far as the text says: through names, arguments and wrappers.
"""

from __future__ import annotations

import ast

from ..facts.scopes import Scope
from ..flow.arguments import argument
from ..flow.objects import SELF_METHODS, WRAPPERS
from ..knowledge.models import COPIES
from ..nodes import positional_parameters, walk
from .owners import Owners
from .program.program import Program

MAX_STEPS = 200  # of expressions looked at for one answer
Places = frozenset[ast.AST]


class Twins:
    """Answers about the networks of one program."""

    def __init__(self, program: Program, owners: Owners) -> None:
        self.program, self.m, self.v, self.owners = program, program.m, program.v, owners
        self._found: dict[ast.expr, Places | None] = {}

    def apart(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions surely stand for two networks."""
        mine, theirs = self._made(one), self._made(other)
        return mine is not None and theirs is not None and mine.isdisjoint(theirs)

    def _made(self, expr: ast.expr) -> Places | None:
        """Where a network may have been made; None where that is not known."""
        if expr not in self._found:
            self._found[expr] = None  # of what a function makes of its own result
            self._found[expr] = self._search(expr)
        return self._found[expr]

    def _search(self, expr: ast.expr) -> Places | None:
        found, todo, met = set[ast.AST](), [expr], set[ast.expr]()
        while todo:
            at = todo.pop()
            if at in met:
                continue
            met.add(at)
            before = [at] if self._makes(at) else self._before(at)
            if not before or len(met) > MAX_STEPS:
                return None
            if before == [at]:
                found.add(at)
            else:
                todo += before
        return frozenset(found)

    def _makes(self, expr: ast.expr) -> bool:
        """Whether a call makes a network that was not there before."""
        if not isinstance(expr, ast.Call):
            return False
        if any(o.kind == "class" for o in self.v.of(expr.func)):
            return True
        name = getattr(expr.func, "attr", getattr(expr.func, "id", ""))
        if COPIES.fit(name):
            return True
        results = [r.value for f in self.v.callees(expr) for r in walk(f) if isinstance(r, ast.Return) and r.value]
        return bool(results) and all(self._made_inside(r) for r in results)

    def _made_inside(self, result: ast.expr) -> bool:
        places, function = self._made(result), self.m.function(result).node
        return places is not None and all(self.m.inside(place, function) for place in places)

    def _before(self, expr: ast.expr) -> list[ast.expr]:
        """What an expression is that makes nothing: other expressions, any one of them; none where it is not known."""
        match expr:
            case ast.Name(id=name):
                return self._named(name, expr)
            case ast.Attribute(value=owner, attr="module"):
                return [owner]
            case ast.Attribute(value=owner, attr=attr):
                naming = self.program.naming
                stored = self.owners.stored(attr)
                return self._values([v for one, v in stored if naming.keys(one.value) & naming.keys(owner)])
            case ast.IfExp(body=one, orelse=other):
                return [one, other]
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in SELF_METHODS:
                return [owner]
            case ast.Call(func=func, args=[first, *_]) if getattr(func, "attr", getattr(func, "id", "")) in WRAPPERS:
                return [first]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return items
            case _:
                return []

    def _named(self, name: str, at: ast.Name) -> list[ast.expr]:
        scope = self.m.binding_scope(name, self.m.scope(at))
        if scope is None:
            return []
        values = self.owners.given(name, scope)
        if name not in scope.params:
            return self._values(values)
        handed = self._handed(name, scope)
        return [*handed, *self._values(values)] if handed else []

    def _values(self, values: list[ast.expr]) -> list[ast.expr]:
        """What is assigned. What `initialize` gives back is what it was before, or was handed."""
        before = [v for v in values if self.program.marks.kind.get(v) != "initialize"]
        return before or [a for v in values if isinstance(v, ast.Call) for a in v.args[:1]]

    def _handed(self, name: str, scope: Scope) -> list[ast.expr]:
        """What the calls of a function hand to a parameter; none where one of them is not known."""
        function = scope.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return []
        names = positional_parameters(function)
        shift = 1 if self.m.self_name(scope) is not None else 0
        found: list[ast.expr] = []
        for call in self.v.calls[function]:
            position = names.index(name) - shift if name in names else len(call.args)
            given = argument(call, position, name)
            if given is None or position < 0 or any(isinstance(a, ast.Starred) for a in call.args):
                return []
            found.append(given)
        return found
