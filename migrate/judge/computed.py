"""Which networks a loss was computed with, as far as the text of the old program says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..facts.loops import gone_through
from ..nodes import children, walk
from .assigned import Assigned
from .frozen import Frozen
from .program.program import Program
from .same_network import SameNetwork
from .state import Key
from .twins import Twins
from .within import Within

# What they give does not lead back.
_CUT = frozenset("detach item data numpy tolist device dtype shape size dim".split())
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Run:
    """Networks that were run: those that may have been meant, their parts, neither of them frozen, and the expression
    that stands for them."""

    models: frozenset[Key]
    parts: frozenset[Key]
    network: ast.expr


class Computed:
    """Answers about the losses of one program."""

    def __init__(self, program: Program, assigned: Assigned, within: Within, twins: Twins) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.assigned, self.within, self.twins = assigned, within, twins
        self.frozen = Frozen(program, assigned, within, SameNetwork(program, within, twins))
        self._behind: dict[ast.expr, list[Run]] = {}
        self._given: dict[tuple[ast.AST, int | None], list[Run]] = {}

    def runs(self, loss: ast.expr) -> list[Run]:
        """The networks whose calls a value was computed from, through names and attributes that are assigned here and
        through functions that give it back."""
        if loss not in self._behind:
            self._behind[loss] = self._networks_behind(loss)
        return self._behind[loss]

    def _networks_behind(self, loss: ast.expr) -> list[Run]:
        found: list[Run] = []
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
                if models := self.within.run(at.func):
                    found += self._trained(at, models)
                    todo += [(one, None) for one in (*at.args, *at.keywords)]  # not how the network was made
                    continue
                found += self._of_call(at, row)
            if isinstance(at, ast.Name):
                todo += [(value, self.assigned.row(at.id, value)) for value in self.values_of(at)]
            elif isinstance(at, ast.Attribute):
                stored, keys = self.assigned.stored(at.attr), self.naming.keys
                todo += [(v, None) for one, v in stored if keys(one.value) & keys(at.value)]
            todo += [(child, None) for child in children(at)]
        return found

    def _trained(self, call: ast.Call, models: frozenset[Key]) -> Iterator[Run]:
        """What a call runs, but for what is frozen where it does."""
        parts = frozenset[Key]().union(*map(self.within.parts, models))
        network = call.func
        if not self.within.of(network) and isinstance(network, ast.Attribute):
            network = network.value
        frozen = self.frozen.at(call, network, models | parts)
        frozen = frozen.union(*map(self.within.parts, frozen))
        if trained := models - frozen:
            yield Run(trained, parts - frozen, network)

    def _of_call(self, call: ast.Call, row: int | None) -> list[Run]:
        """The same of what the functions give back that a call runs, in the words of the call."""
        functions = [f for f in self.v.callees(call) if isinstance(f, _Function)]
        return [r for f in functions for each in self._given_back(f, row) for r in self.as_handed(call, each)]

    def _given_back(self, function: _Function, row: int | None) -> list[Run]:
        if (function, row) not in self._given:
            self._given[function, row] = []  # of one that calls itself
            values = [one.value for one in self.m.own(self.m.scope_of[function], ast.Return)]
            given = [_item(value, row) for value in values if value is not None]
            self._given[function, row] = [each for value in given for each in self.runs(value)]
        return self._given[function, row]

    # ------------------------------------------------------------ in the words of a call

    def is_parameter(self, network: ast.expr) -> bool:
        """Whether a network is what its function was handed."""
        scope = self.m.function(network)
        own = isinstance(network, ast.Name) and network.id in scope.params
        return own and not self.m.bindings(network.id, scope)  # type: ignore[attr-defined]

    def as_handed(self, call: ast.Call, run: Run) -> list[Run]:
        """A network that is a parameter as a call of the function says it, and one that an object keeps as the calls
        say it that made the object."""
        function = self.m.function(run.network).node
        if not isinstance(function, _Function) or function not in self.v.callees(call):
            return [run]
        given: list[ast.expr | None] = []
        if isinstance(run.network, ast.Name) and self.is_parameter(run.network):
            given = [self.twins.handed_by(call, run.network.id, self.m.function(run.network))]
        elif isinstance(run.network, ast.Attribute):
            given = [*self._kept(call, function, run.network)]
        if not given or None in given:
            return [run]
        return [self._again(run, one) for one in given if one is not None]

    def _again(self, run: Run, given: ast.expr) -> Run:
        models = self.within.of(given) & run.models
        if not models:
            return Run(run.models, run.parts, given)
        return Run(models, run.parts & frozenset[Key]().union(*map(self.within.parts, models)), given)

    def _kept(self, call: ast.Call, method: _Function, network: ast.Attribute) -> Iterator[ast.expr | None]:
        """What an object was handed, as it was made, and keeps under the name that its method runs; None where the text
        does not say it."""
        own = self.m.self_name(self.m.scope_of[method])
        named = isinstance(network.value, ast.Name) and network.value.id == own
        cls = self.m.class_of(self.m.scope_of[method])
        if not named or own is None or cls is None:
            return
        receiver = call.func
        if isinstance(receiver, ast.Attribute) and receiver.attr == method.name:
            receiver = receiver.value
        kept = self.naming.keys(network.value)
        setters = [v for t, v in self.assigned.stored(network.attr) if self.naming.keys(t.value) & kept]
        if len(setters) != 1 or not isinstance(setters[0], ast.Name):
            yield None
            return
        scope = self.m.function(setters[0])
        plain = getattr(scope.node, "name", "") == "__init__" and self.is_parameter(setters[0])
        for made in self._makers(receiver) if plain else [None]:
            yield None if made is None else self.twins.handed_by(made, setters[0].id, scope)

    def _makers(self, receiver: ast.expr, depth: int = 0) -> list[ast.Call | None]:
        """The calls that may have made an object; None among them where one is not known."""
        match receiver:
            case ast.Call(func=func) if any(o.kind == "class" for o in self.v.of(func)):
                return [receiver]
            case ast.Name(id=name):
                values = [v for _, v in self.assigned.to(name, receiver)]
            case ast.Attribute(attr=attr, value=owner):
                keys = self.naming.keys
                values = [v for one, v in self.assigned.stored(attr) if keys(one.value) & keys(owner)]
            case _:
                values = []
        if not values or depth > 5:
            return [None]
        return [made for value in values for made in self._makers(value, depth + 1)]

    # ------------------------------------------------------------ rows and names

    def handed_out(self, loss: ast.expr) -> list[list[Run]] | None:
        """The same of what a loop over a list gives a name, round by round, where the list is written out, here or by
        functions that give it back; None where it is not."""
        loop = self.loop_of(loss)
        if loop is None or not isinstance(loss, ast.Name):
            return None
        source = gone_through(loop.target, loop.iter, loss.id)
        if isinstance(source, ast.Name):
            values = self.values_of(source)
            source = values[0] if len(values) == 1 and not self._changed(source) else source
        if isinstance(source, ast.Call):
            functions = [f for f in self.v.callees(source) if isinstance(f, _Function)]
            results = [_items(r.value) for f in functions for r in self.m.own(self.m.scope_of[f], ast.Return)]
            lengths = {len(items) for items in results if items is not None}
            known = len(lengths) == 1 and None not in results
            return [self._of_call(source, row) for row in range(*lengths)] if known else None
        items = _items(source)
        return None if items is None else [self.runs(item) for item in items]

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


def _items(value: ast.expr | None) -> list[ast.expr] | None:
    """The items of a row that is written out."""
    items = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
    return None if items is None or any(isinstance(one, ast.Starred) for one in items) else items


def _item(value: ast.expr, row: int | None) -> ast.expr:
    """One of several that a function gives back, where that is written out."""
    items = _items(value)
    return items[row] if items is not None and row is not None and row < len(items) else value
