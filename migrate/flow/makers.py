"""Functions that make an optimizer whenever they are called, and hand it back: ``def adam(net): return
torch.optim.Adam(net.parameters())``, also beside other things (``return net, optimizer``). What two calls of one give
are two optimizers, though they are made in one place.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..facts.module import Module
from ..facts.names import called_name, last_name
from ..knowledge.gradients import OPTIMIZERS_MADE
from .arguments import initialized

MADE_ROW = "made"  # what a call of a maker gives that hands back tuples
MAX_CALLS = 32  # of a maker that is called more often, all give the one that is made in it
_PLAIN = frozenset("staticmethod classmethod".split())
_Function = ast.FunctionDef | ast.Lambda


_Rows = list[list[ast.expr]]


@dataclass(frozen=True)
class Maker:
    """Where a function, or one that it calls, makes what it hands back; and what that is called. Of a function that
    hands back tuples their items, and which of them is the optimizer."""

    inside: tuple[ast.Call, ...]
    label: str
    rows: tuple[tuple[ast.expr, ...], ...] = ()
    at: int = 0


def makers(m: Module) -> Mapping[ast.AST, Maker]:
    """The makers that are called more than once; each call of one gives an optimizer of its own."""
    given = _Makers(m)
    often = {name for name in given.named if 1 < len(m.calls(name)) <= MAX_CALLS}
    found: dict[ast.AST, Maker] = {}
    for name in often:
        for function in given.named[name]:
            if made := given.hands_back(function):
                found[function] = given.maker(made)
            elif (row := given.row(function)) is not None:
                found[function] = given.maker(*row)
    return found


class _Makers:
    """The functions of one program by name, as far as they make optimizers."""

    def __init__(self, m: Module) -> None:
        self.m = m
        self.named: dict[str, list[_Function]] = defaultdict(list)
        self._handed_back: dict[ast.AST, list[ast.Call] | None] = {}
        made = any(map(_constructs, m.all(ast.Call)))
        for function in m.all(ast.FunctionDef) if made else ():
            self.named[function.name].append(function)
        for assigned in m.all(ast.Assign) if made else ():
            match assigned:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as short):
                    self.named[name].append(short)
                case _:
                    pass
        self._classes = {cls.name for cls in m.all(ast.ClassDef)} if made else set()

    def hands_back(self, function: _Function) -> list[ast.Call] | None:
        """The calls whose results a function hands back, each made in the same run of it; None where it may hand back
        anything else."""
        if function not in self._handed_back:
            self._handed_back[function] = None  # one that calls itself is none
            self._handed_back[function] = self._find(function)
        return self._handed_back[function]

    def row(self, function: _Function) -> tuple[list[ast.Call], _Rows, int] | None:
        """The same of one item of the tuples that a function hands back, with these and its number; None where no item
        is such, or several are."""
        results = self._results(function) if not self._trains(function) else []
        rows = [items for value in results for items in [_items(value)] if items]
        if not results or len(rows) < len(results) or len({*map(len, rows)}) > 1:
            return None
        columns = [[self._made(item) for item in column] for column in zip(*rows, strict=True)]
        made = [(number, column) for number, column in enumerate(columns) if all(column)]
        if len(made) != 1:
            return None
        number, column = made[0]
        return [call for calls in column for call in calls or ()], rows, number

    def maker(self, made: list[ast.Call], rows: Iterable[list[ast.expr]] = (), at: int = 0) -> Maker:
        """One that makes what these calls give."""
        calls = tuple(self._inside(made))
        labels = {called_name(call) for call in calls if called_name(call) not in self.named}
        return Maker(calls, labels.pop() if len(labels) == 1 else "optimizer", tuple(map(tuple, rows)), at)

    def _inside(self, made: list[ast.Call]) -> Iterator[ast.Call]:
        """The calls that make something, also in functions that they call."""
        for call in made:
            yield call
            for one in self.named.get(called_name(call), ()):
                yield from self._inside(self.hands_back(one) or [])

    def _trains(self, function: _Function) -> bool:
        """Whether a function trains with what it makes, and hands it back when that is done."""
        calls = self.m.own(self.m.scope_of[function], ast.Call)
        return any(called_name(call) in ("step", "backward", "scale_loss") for call in calls)

    def _results(self, function: _Function) -> list[ast.expr]:
        """What a function returns; nothing where a decorator may return something else, or it is a generator."""
        if isinstance(function, ast.Lambda):
            return [function.body]
        scope = self.m.scope_of[function]
        plain = all(last_name(mark) in _PLAIN for mark in function.decorator_list)
        if not plain or any(self.m.own(scope, kind) for kind in (ast.Yield, ast.YieldFrom)):
            return []
        return [stmt.value for stmt in self.m.own(scope, ast.Return) if stmt.value is not None]

    def _find(self, function: _Function) -> list[ast.Call] | None:
        found: list[ast.Call] = []
        for value in self._results(function):
            made = self._made(value)
            if made is None:
                return None
            found += made
        return found or None

    def _made(self, value: ast.expr) -> list[ast.Call] | None:
        match value:
            case ast.Constant(value=None):
                return []
            case ast.Call():
                return [value] if self._makes(value) else None
            case ast.Name(id=name):
                return self._named(value, name)
            case ast.IfExp(body=one, orelse=other):
                arms = [self._made(one), self._made(other)]
                return None if None in arms else [call for arm in arms for call in arm or ()]
            case _:
                return None

    def _named(self, read: ast.Name, name: str) -> list[ast.Call] | None:
        """What a name of a function holds that nothing gives a value but calls in it."""
        scope = self.m.function(read)
        given = self.m.bindings(name, scope)
        if name in scope.params or not given or self.m.scope(read) is not scope:
            return None
        found: list[ast.Call] = []
        for target in given:
            if self._initialized(target, name):
                continue
            match self.m.parent[target]:
                case ast.Assign(targets=[ast.Name()], value=ast.Call() as call) if (
                    self.m.function(target) is scope and self._makes(call)
                ):
                    found.append(call)
                case _:
                    return None
        return found

    def _initialized(self, target: ast.Name, name: str) -> bool:
        """``net, optimizer = amp.initialize(net, optimizer)``: what Apex hands back is what it was handed."""
        row = self.m.parent[target]
        stmt = self.m.parent[row]
        items = _items(stmt.value) if isinstance(stmt, ast.Assign) and isinstance(row, ast.Tuple) else []
        if len(items) != 2 or not isinstance(row, ast.Tuple) or len(row.elts) != 2:
            return False
        handed = items[row.elts.index(target)]
        return isinstance(stmt.value, ast.Call) and isinstance(handed, ast.Name) and handed.id == name  # type: ignore[attr-defined]

    def _makes(self, call: ast.Call) -> bool:
        name = called_name(call)
        if name in self._classes:
            return False
        if functions := self.named.get(name):
            return all(map(self.hands_back, functions))
        return _constructs(call)


def _items(value: ast.expr) -> list[ast.expr]:
    """The items of a tuple, also of the one that ``amp.initialize`` makes; none of anything else."""
    match value:
        case ast.Tuple(elts=elts) if not any(isinstance(elt, ast.Starred) for elt in elts):
            return elts
        case ast.Call(func=ast.Attribute(value=amp, attr="initialize")) if last_name(amp) == "amp":
            return initialized(value)
        case _:
            return []


def _constructs(call: ast.Call) -> bool:
    """Whether a call makes an optimizer, by the name of its class, or by the module that this comes from."""
    match call.func:
        case ast.Attribute(value=module, attr=name):
            return OPTIMIZERS_MADE.fit(name) or (name[:1].isupper() and last_name(module) == "optim")
        case ast.Name(id=name):
            return OPTIMIZERS_MADE.fit(name)
        case ast.Call(func=ast.Name(id="getattr"), args=[module, *_]):  # getattr(torch.optim, args.optim)(…)
            return last_name(module) == "optim"
        case _:
            return False
