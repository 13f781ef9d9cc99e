"""Functions that make an optimizer whenever they are called, and hand it back: ``def adam(net): return
torch.optim.Adam(net.parameters())``. What two calls of one give are two optimizers, though they are made in one place.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..facts.module import Module
from ..facts.names import called_name, last_name
from ..knowledge.gradients import OPTIMIZERS_MADE

MAX_CALLS = 32  # of a maker that is called more often, all give the one that is made in it
_PLAIN = frozenset("staticmethod classmethod".split())
_Function = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Maker:
    """Where a function, or one that it calls, makes what it hands back; and what that is called."""

    inside: tuple[ast.Call, ...]
    label: str


def makers(m: Module) -> Mapping[ast.AST, Maker]:
    """The makers that are called more than once; each call of one gives an optimizer of its own."""
    given = _Makers(m)
    often = {name for name in given.named if 1 < len(m.calls(name)) <= MAX_CALLS}
    found: dict[ast.AST, Maker] = {}
    for name in often:
        for function in given.named[name]:
            if given.hands_back(function):
                calls = tuple(given.inside(function))
                labels = {called_name(call) for call in calls if called_name(call) not in given.named}
                found[function] = Maker(calls, labels.pop() if len(labels) == 1 else "optimizer")
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

    def inside(self, function: _Function) -> Iterator[ast.Call]:
        """The calls that make what a function hands back, also in functions that it calls."""
        for call in self.hands_back(function) or ():
            yield call
            for one in self.named.get(called_name(call), ()):
                yield from self.inside(one)

    def _find(self, function: _Function) -> list[ast.Call] | None:
        if isinstance(function, ast.Lambda):
            return self._made(function.body)
        scope = self.m.scope_of[function]
        plain = all(last_name(mark) in _PLAIN for mark in function.decorator_list)
        if not plain or any(self.m.own(scope, kind) for kind in (ast.Yield, ast.YieldFrom)):
            return None
        found: list[ast.Call] = []
        for stmt in self.m.own(scope, ast.Return):
            if stmt.value is None:
                continue
            made = self._made(stmt.value)
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
            match self.m.parent[target]:
                case ast.Assign(targets=[ast.Name()], value=ast.Call() as call) if (
                    self.m.function(target) is scope and self._makes(call)
                ):
                    found.append(call)
                case _:
                    return None
        return found

    def _makes(self, call: ast.Call) -> bool:
        name = called_name(call)
        if name in self._classes:
            return False
        if functions := self.named.get(name):
            return all(map(self.hands_back, functions))
        return _constructs(call)


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
