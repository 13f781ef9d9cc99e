"""Which models an optimizer was made of, and which models a loss goes back to, as far as the text of the old
program says: gradients reach every model that a loss was computed with, not only those of the optimizer that
`scale_loss` is handed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from ..facts.loops import gone_through
from ..nodes import children, walk
from .assigned import Assigned
from .frozen import Frozen
from .program.program import Program
from .state import Key
from .twins import Places, Twins

_CUT = frozenset("detach item data numpy tolist".split())  # what they give does not lead back


class Owners:
    """The owners of one program's gradients."""

    def __init__(self, program: Program) -> None:
        self.program, self.m, self.v = program, program.m, program.v
        self.naming = program.naming
        self.frozen = Frozen(program)
        self.assigned = Assigned(program.m)
        self.twins = Twins(program, self.assigned)
        self._rows: dict[tuple[int, int | None, int | None], frozenset[Key]] = {}
        self._takes: dict[ast.Call, bool] = {}
        self._made_of: dict[ast.Call, list[ast.expr]] = {}
        self._read_by: dict[ast.AST, frozenset[Key]] = {}
        self._of_other_arm: dict[ast.AST, frozenset[Key] | None] = {}
        self._behind_values: dict[ast.expr, list[tuple[frozenset[Key], ast.expr]]] = {}
        self._given: dict[tuple[ast.AST, int | None], list[tuple[frozenset[Key], ast.expr]]] = {}

    # ------------------------------------------------------------ optimizers and models

    def made_of(self, call: ast.Call) -> frozenset[Key]:
        """The models of which a call makes an optimizer: those it is handed, through names of its function as well,
        else those of the function that it runs."""
        return frozenset(key for node in self._networks_of(call) for key in self.meant(node))

    def _networks_of(self, call: ast.Call) -> list[ast.expr]:
        """The expressions that stand for these models."""
        if call not in self._made_of:
            found = [n for n in self.behind(call) if isinstance(n, ast.expr) and self.meant(n)]
            if not found:
                inner = (n for f in self.v.callees(call) for n in walk(f) if isinstance(n, ast.expr))
                within = [n for n in inner if self.naming.keys(n) & self.program.objects.models]
                found = [n for n in within if isinstance(n, (ast.Name, ast.Attribute))] or within
            self._made_of[call] = [n for n in found if not self._is_method(n)] or found
        return self._made_of[call]

    def _is_method(self, expr: ast.expr) -> bool:
        """Whether an expression is a method that is called: ``net.cuda`` of ``net.cuda()``."""
        above = self.m.parent[expr]
        return isinstance(expr, ast.Attribute) and isinstance(above, ast.Call) and above.func is expr

    def behind(self, call: ast.Call) -> Iterator[ast.AST]:
        """All that the arguments of a call are made of, through names of its function."""
        todo: list[ast.AST] = [*call.args, *(k.value for k in call.keywords)]
        met: set[str] = set()
        while todo:
            for node in walk(todo.pop()):
                yield node
                if isinstance(node, ast.Name) and node.id not in met:
                    met.add(node.id)
                    values = [value for _, value in self.assigned.to(node.id, call)]
                    todo += [v for v in values if self.program.marks.kind.get(v) != "initialize"]

    def meant(self, expr: ast.AST) -> frozenset[Key]:
        """The models that an expression may be. Where several go through one `initialize`, it may be any of them as
        far as the values say: then it is what it was before."""
        held = self.naming.keys(expr) & self.program.objects.models
        if len(held) < 2:
            return held
        match expr:
            case ast.Name(id=name):
                values = [value for _, value in self.assigned.to(name, expr)]
            case ast.Attribute(value=owner, attr=attr):
                stored, keys = self.assigned.stored(attr), self.naming.keys
                values = [v for one, v in stored if keys(one.value) & keys(owner)]
            case _:
                return held
        before = [self.naming.keys(v) & held for v in values if self.program.marks.kind.get(v) != "initialize"]
        return frozenset[Key]().union(*before) or held

    @cached_property
    def models(self) -> dict[Key, frozenset[Key]]:
        """For each optimizer whose construction is here its models."""
        owned = {key: self.made_of(call) for key, call in self._construction.items()}
        return {key: models for key, models in owned.items() if models}

    @cached_property
    def _construction(self) -> dict[Key, ast.Call]:
        """The calls that make optimizers."""
        places = {key[1]: key for key in self.program.objects.optimizers if key[0] == "call"}
        placed = ((self.naming.place(node), node) for node in self.m.all(ast.Call))
        return {places[place]: node for place, node in placed if place in places}

    def of_others(self, one: Key, other: ast.Call) -> bool:
        """Whether an optimizer has other networks than the one that a call makes, be they of the same class."""
        call = self._construction.get(one)
        if call is None:
            return False
        mine = [self.twins.made_at(call, network) for network in self._networks_of(call)]
        theirs = [self.twins.made_at(other, network) for network in self._networks_of(other)]
        return all(self.twins.elsewhere(a, b) for a in mine for b in theirs)

    def _apart(self, optimizer: Key, where: Places | None) -> bool:
        """Whether an optimizer was made of networks that were surely made elsewhere, and share nothing with these."""
        call = self._construction.get(optimizer)
        if call is None or where is None:
            return False
        return all(self.twins.separate(where, self.twins.made_at(call, n)) for n in self._networks_of(call))

    def _reached_of(self, networks: Iterable[tuple[frozenset[Key], ast.expr]]) -> frozenset[Key]:
        """The optimizers that have parameters of networks, by what they are and the expressions for them."""
        return frozenset(
            optimizer
            for models, network in networks
            for optimizer, own in self.models.items()
            if own & models and not self._apart(optimizer, self.twins.made(network))
        )

    def read_by(self, reader: ast.AST) -> frozenset[Key]:
        """The optimizers whose gradients a statement reads that is about one network's parameters alone:
        ``clip_grad_norm_(self.actor.parameters(), args.clip)``. None where that is not so, or where it is not known of
        each optimizer what it was made of."""
        if reader not in self._read_by:
            self._read_by[reader] = self._of_one_network(getattr(reader, "value", None))
        return self._read_by[reader]

    def _of_one_network(self, call: ast.AST | None) -> frozenset[Key]:
        match call:
            case ast.Call(args=[ast.Call(func=ast.Attribute(value=network, attr="parameters"), args=[]), *others]):
                models = self.meant(network)
            case _:
                return frozenset()
        rest = (n for other in (*others, *call.keywords) for n in walk(other))
        plain = not any(isinstance(n, (ast.Call, ast.Starred)) for n in rest)
        known = plain and bool(models) and self.models.keys() == self.program.objects.optimizers
        return self._reached_of([(models, network)]) if known else frozenset()

    # ------------------------------------------------------------ what a loss goes back to

    def reached_from(self, place: int, row: int | None, by: int | None) -> frozenset[Key]:
        """The optimizers of the models that a scaled loss came from, in a round of the loop that hands it out, where
        that is known, and where a call at ``by`` runs the function."""
        if row is None and by is None:
            return self.reached.get(place, frozenset())
        if (place, row, by) not in self._rows:
            call = next(c for c in self.program.objects.scales if self.naming.place(c) == place)
            loss = call.args[0] if call.args else None
            one = loss if loss is None or row is None else self._handed_out(loss, row)
            if one is None or len(self.models) < 2:
                return self.reached.get(place, frozenset())
            networks = self._computed_with(one)
            entered = self._calls.get(by) if by is not None else None
            handed = networks if entered is None else [self._as_handed(entered, *each) for each in networks]
            self._rows[place, row, by] = self._reached_of(handed)
        return self._rows[place, row, by]

    def takes_networks(self, scale: ast.Call) -> bool:
        """Whether the networks that a scaled loss is computed with are parameters of its function."""
        if scale not in self._takes:
            networks = self._computed_with(scale.args[0]) if scale.args and len(self.models) > 1 else []
            self._takes[scale] = any(self._is_parameter(network) for _, network in networks)
        return self._takes[scale]

    def _is_parameter(self, network: ast.expr) -> bool:
        scope = self.m.function(network)
        own = isinstance(network, ast.Name) and network.id in scope.params
        return own and not self.m.bindings(network.id, scope)  # type: ignore[attr-defined]

    def _as_handed(self, call: ast.Call, models: frozenset[Key], network: ast.expr) -> tuple[frozenset[Key], ast.expr]:
        """A network that is a parameter as a call of the function says it."""
        function = self.m.function(network).node
        called = isinstance(function, ast.FunctionDef) and function in self.v.callees(call)
        if not called or not isinstance(network, ast.Name) or not self._is_parameter(network):
            return models, network
        given = self.twins.handed_by(call, network.id, self.m.function(network))
        return (self.meant(given) or models, given) if given is not None else (models, network)

    @cached_property
    def _calls(self) -> dict[int, ast.Call]:
        return {self.naming.place(call): call for call in self.m.all(ast.Call)}

    def of_other_arm(self, backward: ast.AST) -> frozenset[Key] | None:
        """The optimizers of a plain backward beside one that scales the same loss, in the other arm of an ``if``."""
        if backward not in self._of_other_arm:
            self._of_other_arm[backward] = self._scaled_beside(backward)
        return self._of_other_arm[backward]

    def _scaled_beside(self, backward: ast.AST) -> frozenset[Key] | None:
        match backward:
            case ast.Call(func=ast.Attribute(value=loss, attr="backward")):
                text = ast.dump(loss)
            case _:
                return None
        below: ast.AST = self.m.statement(backward)
        for outer in self.m.spine(self.m.statement(backward))[1:]:
            other = outer.orelse if isinstance(outer, ast.If) and below in outer.body else getattr(outer, "body", [])
            for call in self.program.objects.scales if isinstance(outer, ast.If) else ():
                same = bool(call.args) and ast.dump(call.args[0]) == text
                if same and any(self.m.inside(call, stmt) for stmt in other):
                    return self.program.objects.scales[call] | self.reached.get(self.naming.place(call), frozenset())
            below = outer
        return None

    def _handed_out(self, loss: ast.expr, row: int) -> ast.expr | None:
        """What a loop over a list that is written out gives a name in one of its rounds."""
        loop = self.loop_of(loss)
        if loop is None or not isinstance(loss, ast.Name):
            return None
        source = gone_through(loop.target, loop.iter, loss.id)
        if isinstance(source, ast.Name):
            values = self.values_of(source)
            source = values[0] if len(values) == 1 and not self._changed(source) else source
        items = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
        plain = row < len(items) and not any(isinstance(e, ast.Starred) for e in items)
        return items[row] if plain else None

    def _changed(self, name: ast.Name) -> bool:
        """Whether a list may hold other items than it was written out with."""
        here = self.m.function(name)
        uses = [n for n in self.m.own(here, ast.Name) if n.id == name.id]
        return any(isinstance(self.m.parent[n], (ast.Attribute, ast.Subscript, ast.Delete)) for n in uses)

    def loop_of(self, loss: ast.expr) -> ast.For | None:
        """The loop whose target a loss is, if nothing else gives it that name."""
        if not isinstance(loss, ast.Name):
            return None
        given = self.assigned.to(loss.id, loss)
        if len(given) != 1:
            return None
        loops = (x for x in self.m.loops(loss) if isinstance(x, ast.For))
        return next((x for x in loops if given[0][0] in walk(x.target)), None)

    @cached_property
    def reached(self) -> dict[int, frozenset[Key]]:
        """For each scaled loss, by the place of its `scale_loss`, the optimizers of the models that it came from."""
        found: dict[int, frozenset[Key]] = {}
        for call in self.program.objects.scales:
            if call.args and len(self.models) > 1:
                found[self.naming.place(call)] = self._reached_of(self._computed_with(call.args[0]))
        return found

    def _computed_with(self, loss: ast.expr) -> list[tuple[frozenset[Key], ast.expr]]:
        """The models whose calls a value was computed from, through names and attributes that are assigned here and
        through functions that give it back, each with the expression that is called."""
        if loss not in self._behind_values:
            self._behind_values[loss] = self._networks_behind(loss)
        return self._behind_values[loss]

    def _networks_behind(self, loss: ast.expr) -> list[tuple[frozenset[Key], ast.expr]]:
        found: list[tuple[frozenset[Key], ast.expr]] = []
        todo: list[tuple[ast.AST, int | None]] = [(loss, None)]  # and which one of a row is meant
        met: set[tuple[ast.AST, int | None]] = set()
        while todo:
            one = at, row = todo.pop()
            if one in met or self.program.evaluation.without_gradients(at):
                continue
            met.add(one)
            if isinstance(at, ast.Attribute) and at.attr in _CUT:
                continue
            if isinstance(at, ast.Call):
                if isinstance(at.func, ast.Attribute) and at.func.attr in _CUT:
                    continue
                models = self.meant(at.func)
                if trained := models - self.frozen.at(at, models):
                    found.append((trained, at.func))
                elif not models:
                    found += self._within(at, row)
            if isinstance(at, ast.Name):
                todo += [(value, self.assigned.row(at.id, value)) for value in self.values_of(at)]
            elif isinstance(at, ast.Attribute):
                stored, keys = self.assigned.stored(at.attr), self.naming.keys
                todo += [(v, None) for one, v in stored if keys(one.value) & keys(at.value)]
            todo += [(child, None) for child in children(at)]
        return found

    def _within(self, call: ast.Call, row: int | None) -> list[tuple[frozenset[Key], ast.expr]]:
        """The same of what the functions give back that a call runs, in the words of the call. Which of several an
        object keeps that runs in there is not known by the text (two of one class, each with a network of its own)."""
        functions = [f for f in self.v.callees(call) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))]
        found = [self._as_handed(call, *each) for function in functions for each in self._given_back(function, row)]
        return [(models, network) for models, network in found if len(models) == 1 or self._is_parameter(network)]

    def _given_back(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, row: int | None
    ) -> list[tuple[frozenset[Key], ast.expr]]:
        if (function, row) not in self._given:
            self._given[function, row] = []  # of one that calls itself
            values = [one.value for one in self.m.own(self.m.scope_of[function], ast.Return)]
            given = [_item(value, row) for value in values if value is not None]
            self._given[function, row] = [each for value in given for each in self._computed_with(value)]
        return self._given[function, row]

    def values_of(self, name: ast.Name) -> list[ast.expr]:
        """What a name may hold where it is read: the last value assigned above in a block around it, and those
        assigned since; where there is none, any (a loop brings it)."""
        above = [(t, value) for t, value in self.assigned.to(name.id, name) if self.m.start(t) < self.m.start(name)]
        around = set(self.m.spine(name))
        kept: list[ast.expr] = []
        for target, value in sorted(above, key=lambda one: -self.m.start(one[0])):
            kept.append(value)
            stmt = self.m.statement(target)
            parent = self.m.parent[stmt]
            if not isinstance(stmt, ast.AugAssign) and (parent in around or parent is self.m.function(name).node):
                return kept
        return [*kept, *(value for _, value in self.assigned.to(name.id, name) if value not in kept)]


def _item(value: ast.expr, row: int | None) -> ast.expr:
    """One of several that a function gives back, where that is written out."""
    items = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    plain = row is not None and row < len(items) and not any(isinstance(one, ast.Starred) for one in items)
    return items[row] if plain and row is not None else value
