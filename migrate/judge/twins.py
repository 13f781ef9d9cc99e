"""Two networks of one class: to the values they are one object, but what clears the gradients of one leaves those of
the other. They are told apart by where each was made, as far as the text says: through names, arguments and wrappers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.networks import is_network
from ..facts.scopes import Scope
from ..facts.sites import opened
from ..facts.usual_names import dotted
from ..flow.arguments import argument, initialized
from ..flow.objects import SELF_METHODS, WRAPPERS, Obj
from ..knowledge.models import COPIES
from ..nodes import positional_parameters, walk
from .assigned import Assigned
from .program.objects import within_module_class
from .program.program import Program

MAX_STEPS = 200  # of expressions looked at for one answer
WHOLE = -1
Place = tuple[ast.AST, int]  # what makes a network, and which of several things that it gives this is
Places = frozenset[Place]


class Twins:
    """Answers about the networks of one program."""

    def __init__(self, program: Program, assigned: Assigned) -> None:
        self.program, self.m, self.v, self.assigned = program, program.m, program.v, assigned
        self._found: dict[ast.expr, Places | None] = {}
        self._shares: dict[ast.AST, bool] = {}
        self._runs: dict[ast.AST, set[ast.AST]] = {}

    def apart(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions surely stand for two networks, of which the first has nothing of the other."""
        mine, theirs = self.made(one), self.made(other)
        known = mine is not None and theirs is not None and self._disjoint(mine, theirs)
        return known and not any(self._has_others(place) for place, _ in mine or ())

    def elsewhere(self, one: Places | None, other: Places | None) -> bool:
        """The same of where networks may have been made, whatever these share."""
        return bool(one and other) and self._disjoint(one or frozenset(), other or frozenset())

    def separate(self, one: Places | None, other: Places | None) -> bool:
        """Whether two networks, by where they are made, surely share no parameter, but for what is tied later."""
        if not one or not other or not self._disjoint(one, other):
            return False
        if self._in_one_class(one | other):
            return not any(self._takes_others(place, place) for place, _ in one | other)
        return not any(self._has_others(place) for place, _ in one | other)

    def _in_one_class(self, places: Places) -> bool:
        """Whether networks are made in one class, side by side: none of them is a part of another one."""
        classes = {self.m.class_of(self.m.function(place)) for place, _ in places}
        return len(classes) == 1 and None not in classes

    def _disjoint(self, one: Places, other: Places) -> bool:
        """Whether nothing is made both here and there: a call gives back what the function makes that it runs."""
        pairs = [(a, b) for a, _ in one for b, _ in other]
        return one.isdisjoint(other) and not any(self._gives(a, b) or self._gives(b, a) for a, b in pairs)

    def _gives(self, call: ast.AST, place: ast.AST) -> bool:
        """Whether a function that a call runs, or one that this runs, makes something at a place."""
        if call not in self._runs:
            self._runs[call] = self._run_by(call)
        return any(self.m.inside(place, function) for function in self._runs[call])

    def _run_by(self, call: ast.AST) -> set[ast.AST]:
        todo, found = [call], set[ast.AST]()
        while todo:
            at = todo.pop()
            for function in self.v.callees(at) if isinstance(at, ast.Call) else ():
                if function not in found:
                    found.add(function)
                    todo += (n for n in walk(function) if isinstance(n, ast.Call))
        return found

    def made(self, expr: ast.expr) -> Places | None:
        """Where a network may have been made; None where that is not known."""
        if expr not in self._found:
            self._found[expr] = None  # of what a function makes of its own result
            self._found[expr] = self._search(expr)
        return self._found[expr]

    def made_at(self, call: ast.Call, expr: ast.expr) -> Places | None:
        """Where the network that ``expr`` stands for in a function was made, as a call of that gives it back."""
        inner = self.made(expr)
        function = self.m.function(expr).node
        called = function in self.v.callees(call)
        if inner is None or not called or not all(self.m.inside(place, function) for place, _ in inner):
            return inner
        for number, items in enumerate(zip(*self._rows(call), strict=True)):
            if all(self.made(item) == inner for item in items):
                return frozenset({(call, number)})
        return None

    def _search(self, expr: ast.expr) -> Places | None:
        found, todo, met = set[Place](), [(expr, WHOLE)], set[tuple[ast.expr, int]]()
        while todo:
            one = at, number = todo.pop()
            if one in met:
                continue
            met.add(one)
            before = [one] if self._makes(at, number) else self._before(at, number)
            if not before or len(met) > MAX_STEPS:
                return None
            if before == [one]:
                found.add(one)
            else:
                todo += before
        return frozenset(found)

    def _makes(self, expr: ast.expr, number: int) -> bool:
        """Whether a call makes a network that was not there before."""
        if not isinstance(expr, ast.Call):
            return False
        if number != WHOLE:
            rows = self._rows(expr)
            return bool(rows) and all(number < len(row) and self._made_inside(row[number]) for row in rows)
        if any(o.kind == "class" for o in self.v.of(expr.func)):
            return True
        name = getattr(expr.func, "attr", getattr(expr.func, "id", ""))
        if COPIES.fit(name) or (name not in WRAPPERS and _of_torch(expr.func) and not self._takes_others(expr, expr)):
            return True
        results = list(self._results(expr))
        return bool(results) and all(self._made_inside(r) for r in results)

    def _results(self, call: ast.Call) -> Iterator[ast.expr]:
        for function in self.v.callees(call):
            if isinstance(function, ast.FunctionDef):
                scope = self.m.scope_of[function]
                yield from (r.value for r in self.m.own(scope, ast.Return) if r.value is not None)
            elif isinstance(function, ast.Lambda):
                yield function.body

    def _rows(self, call: ast.Call) -> list[list[ast.expr]]:
        """What functions of the program give back as tuples, item by item; none where that is not so of all."""
        results = list(self._results(call))
        rows = [row for r in results if (row := self._row(r))]
        plain = not any(isinstance(item, ast.Starred) for row in rows for item in row)
        return rows if plain and len(rows) == len(results) and len({len(row) for row in rows}) == 1 else []

    def _row(self, result: ast.expr) -> list[ast.expr]:
        """The items of a tuple, also of the one that `initialize` makes of what it is handed."""
        if isinstance(result, ast.Call) and self.program.marks.kind.get(result) == "initialize":
            return initialized(result)
        return result.elts if isinstance(result, ast.Tuple) else []

    def _made_inside(self, result: ast.expr) -> bool:
        places, function = self.made(result), self.m.function(result).node
        return places is not None and all(self.m.inside(place, function) for place, _ in places)

    def _before(self, expr: ast.expr, number: int) -> list[tuple[ast.expr, int]]:
        """What an expression is that makes nothing: other expressions, any one of them; none where it is not known."""
        if number != WHOLE:
            return []
        match expr:
            case ast.Name(id=name):
                return self._named(name, expr)
            case ast.Attribute(value=owner, attr="module"):
                return [(owner, WHOLE)]
            case ast.Attribute(value=owner, attr=attr):
                naming = self.program.naming
                stored = self.assigned.stored(attr)
                return self._values([(t, v) for t, v in stored if naming.keys(t.value) & naming.keys(owner)])
            case ast.IfExp(body=one, orelse=other):
                return [(one, WHOLE), (other, WHOLE)]
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in SELF_METHODS:
                return [(owner, WHOLE)]
            case ast.Call(func=func, args=[first, *_]) if getattr(func, "attr", getattr(func, "id", "")) in WRAPPERS:
                return [(first, WHOLE)]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return [(item, WHOLE) for item in items]
            case _:
                return []

    def _named(self, name: str, at: ast.Name) -> list[tuple[ast.expr, int]]:
        scope = self.m.binding_scope(name, self.m.scope(at))
        if scope is None:
            return []
        given = self.assigned.in_scope(name, scope)
        if {*self.m.stores(name, scope)} - {target for target, _ in given}:
            return []  # also by a block, or as a global name of another function
        values = self._values(given)
        if name not in scope.params:
            return values
        handed = self._handed(name, scope)
        return [*((one, WHOLE) for one in handed), *values] if handed else []

    def _values(self, given: list[tuple[ast.AST, ast.expr]]) -> list[tuple[ast.expr, int]]:
        """What is assigned. What `initialize` gives back is what it was before, or was handed."""
        before = [(t, v) for t, v in given if not self._initialized(v)]
        others = [one for t, v in given if (one := self._initialized_other(t, v)) is not None]
        if before:
            return [*((v, self._number(t)) for t, v in before), *((one, WHOLE) for one in others)]
        return [(a, WHOLE) for _, v in given if isinstance(v, ast.Call) for a in v.args[:1]]

    def _initialized(self, value: ast.expr) -> bool:
        """Whether `initialize` gives something back, by a name as well: ``nets, optimizers = amp.initialize(…)``."""
        match value:
            case ast.Subscript(value=inner):
                return self._initialized(inner)
            case ast.Name(id=name):
                given = self.assigned.to(name, value)
                return bool(given) and all(self.program.marks.kind.get(v) == "initialize" for _, v in given)
            case _:
                return self.program.marks.kind.get(value) == "initialize"

    def _initialized_other(self, target: ast.AST, value: ast.expr) -> ast.expr | None:
        """What else than a target `initialize` was handed in its place: ``(b, a), _ = amp.initialize([a, b], …)``."""
        handed = self._handed_over(target, value) if self._initialized(value) else None
        return handed if handed is not None and ast.unparse(handed) != ast.unparse(target) else None

    def _handed_over(self, target: ast.AST, value: ast.expr) -> ast.expr | None:
        """What a target stands for among what `initialize` was handed; None where the text does not say it."""
        path: list[int] = []
        while isinstance(row := self.m.parent[target], (ast.Tuple, ast.List)):
            path.insert(0, row.elts.index(target))  # type: ignore[arg-type]
            target = row
        if isinstance(value, ast.Name):
            given = self.assigned.to(value.id, value)
            inner = self._handed_over(*given[0]) if len(given) == 1 else None
        elif isinstance(value, ast.Call) and path:
            inner = argument(value, path[0], ("models", "optimizers")[path.pop(0)]) if path[0] < 2 else None
        else:
            return None
        for number in path:
            plain = isinstance(inner, (ast.Tuple, ast.List)) and number < len(inner.elts)
            inner = inner.elts[number] if plain else None  # type: ignore[union-attr]
        return inner

    def _number(self, target: ast.AST) -> int:
        """Which item of what is assigned a target is: ``net, optimizer = build()``."""
        match self.m.parent[target]:
            case ast.Tuple(elts=elts) as row if isinstance(stmt := self.m.parent[row], ast.Assign):
                called = isinstance(stmt.value, ast.Call) and bool(self._rows(stmt.value))
                plain = not any(isinstance(elt, ast.Starred) for elt in elts)
                return elts.index(target) if called and plain else WHOLE  # type: ignore[arg-type]
            case _:
                return WHOLE

    def _handed(self, name: str, scope: Scope) -> list[ast.expr]:
        """What the calls of a function hand to a parameter; none where one of them is not known."""
        found = [self.handed_by(call, name, scope) for call in self.v.calls.get(scope.node, ())]
        return [one for one in found if one is not None] if None not in found else []

    def handed_by(self, call: ast.Call, name: str, scope: Scope) -> ast.expr | None:
        """What a call of a function hands to a parameter; None where the text does not say it."""
        function = scope.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        names = positional_parameters(function)
        shift = 1 if self.m.self_name(scope) is not None else 0
        position = names.index(name) - shift if name in names else len(call.args)
        plain = position >= 0 and not any(isinstance(a, ast.Starred) for a in call.args)
        return argument(call, position, name) if plain else None

    # ------------------------------------------------------------ what networks share

    def _has_others(self, maker: ast.AST) -> bool:
        """Whether what a call makes may have parameters of another network: of one that was there before, or that it
        becomes a part of."""
        if maker not in self._shares:
            self._shares[maker] = True  # of what is made of itself
            part = within_module_class(self.program.naming, maker)  # of whatever network has it
            self._shares[maker] = part or self._takes_others(maker, maker)
        return self._shares[maker]

    def _takes_others(self, maker: ast.AST, within: ast.AST) -> bool:
        """The same, where all that is made within a node is new whenever the call is made."""
        if not isinstance(maker, ast.Call):
            return True
        if COPIES.fit(getattr(maker.func, "attr", getattr(maker.func, "id", ""))):
            return False
        handed = [n for a in (*maker.args, *(k.value for k in maker.keywords)) for n in walk(a)]
        if any(self.was_there(n, within) for n in handed if isinstance(n, ast.expr)):
            return True
        for result in self._results(maker):
            function = self.m.function(result).node
            for item in self._row(result) or [result]:
                if any(self._takes_others(place, function) for place, _ in self.made(item) or ()):
                    return True
        return any(self._keeps_others(cls) for cls in self.v.of(maker.func) if cls.kind == "class")

    def was_there(self, expr: ast.expr, within: ast.AST) -> bool:
        """Whether an expression may stand for a network that was not made within a node."""
        if isinstance(expr, ast.Call) and self._makes(expr, WHOLE):
            return False
        for obj in opened(self.v, self.v.of(expr)):
            new = obj.kind == "call" and isinstance(obj.key, ast.AST) and self.m.inside(obj.key, within)
            if obj.kind == "param" or (not new and self._network(obj)):
                return True
        return False

    def _keeps_others(self, cls: Obj) -> bool:
        """Whether objects of a class keep a network that a file made for all of them."""
        made = Obj("instance", cls.key, cls.label)
        kept = (o for name in self.v.attributes(made) for o in opened(self.v, self.v.field(made, name)))
        calls = (o for o in kept if o.kind == "call" and isinstance(o.key, ast.Call))
        return any(not self.m.function(o.key).is_function and self._network(o) for o in calls)  # type: ignore[arg-type]

    def _network(self, obj: Obj) -> bool:
        if obj.kind == "call" and isinstance(obj.key, ast.Call) and _of_torch(obj.key.func):
            return True
        key = self.program.naming.key(obj)
        known = key in self.program.objects.models or key in self.program.objects.cast
        return known or is_network(self.v, obj, self.program.objects.elsewhere)


def _of_torch(func: ast.expr) -> bool:
    """Whether what is called is a class of torch's layers: ``nn.Sequential``."""
    return isinstance(func, ast.Attribute) and func.attr[:1].isupper() and dotted(func.value) in ("nn", "torch.nn")
