"""Models whose parameters need no gradients where they are called: a loss that goes through them leaves none in them.

``for p in netD.parameters(): p.requires_grad = False``, ``netD.requires_grad_(False)`` and ``set_requires_grad(netD,
False)`` freeze, up to whatever else sets ``requires_grad``. It counts where it stands above the call, in a block around
it. Source: torch docs, "Autograd mechanics" (what needs gradients is fixed when the forward runs).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..flow.arguments import argument, default_of
from ..nodes import positional_parameters, walk
from .assigned import Assigned
from .program.program import Program
from .same_network import SameNetwork
from .state import Key
from .within import Within

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class _Change:
    """A statement that sets ``requires_grad`` of models (None: of any), for certain to False if it ``freezes``, by the
    expressions ``nets`` that stand for them."""

    stmt: ast.stmt
    models: frozenset[Key] | None
    freezes: bool
    nets: tuple[ast.expr, ...] = ()


class Frozen:
    """Answers about the calls of one program."""

    def __init__(self, program: Program, assigned: Assigned, within: Within, same: SameNetwork) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.assigned, self.within, self.same = assigned, within, same
        self._changes: dict[ast.AST, list[_Change]] = {}

    def at(self, call: ast.Call, network: ast.expr, models: frozenset[Key]) -> frozenset[Key]:
        """Those of some models that are frozen whenever a call runs a network that is one of them, or has them."""
        if not models or not self._setting:
            return frozenset()
        node = self.m.function(call).node
        if node not in self._changes:
            self._changes[node] = [*self._found(node)]
        changes = self._changes[node]
        return frozenset(model for model in models if self._is_frozen(call, network, model, changes))

    def _is_frozen(self, call: ast.Call, network: ast.expr, model: Key, changes: list[_Change]) -> bool:
        m, at = self.m, self.m.start(call)
        blocks = [m.block(stmt) for stmt in m.spine(call)]
        mine = [c for c in changes if self._concerns(c, model)]
        for one in mine:
            if not one.freezes or m.start(one.stmt) > at or not any(m.block(one.stmt) is block for block in blocks):
                continue
            if not any(self.same.has(net, network) for net in one.nets):
                continue
            loops = [loop for loop in m.loops(call) if not m.inside(one.stmt, loop)]
            between = [c for c in mine if not c.freezes and m.start(one.stmt) < m.start(c.stmt) < at]
            if not between and not any(m.inside(c.stmt, loop) for c in mine if not c.freezes for loop in loops):
                return True
        return False

    def _concerns(self, change: _Change, model: Key) -> bool:
        """Whether a change is one of a model: of a network that it is a part of, too, or one that trains a part."""
        if change.models is None or model in change.models:
            return True
        if any(model in self.within.parts(one) for one in change.models):
            return True
        return not change.freezes and not change.models.isdisjoint(self.within.parts(model))

    # ------------------------------------------------------------ what sets it

    @cached_property
    def _setting(self) -> frozenset[ast.AST]:
        """The functions that set ``requires_grad``, by what they call as well."""
        found = {self.m.function(node).node for node in self.m.nodes if _sets(node)}
        todo = [*found]
        while todo:
            callee = todo.pop()
            callers = {self.m.function(call).node for call in self.v.calls.get(callee, ())} - found
            found |= callers
            todo += callers
        return frozenset(found)

    def _found(self, function: ast.AST) -> Iterator[_Change]:
        known: set[ast.AST] = set()
        body = self.m.body_of(self.m.scope_of[function])
        for node in (n for stmt in body for n in walk(stmt)):
            if isinstance(node, ast.For) and (frozen := self._loop(node)) is not None:
                known |= set(walk(node))
                nets = self._one_by_one(node.iter.func.value)  # type: ignore[attr-defined]
                yield _Change(self._each(node), frozen[0], frozen[1], nets)
            elif isinstance(node, ast.Call) and node not in known and not _sets(node):
                callees = [c for c in self.v.callees(node) if c in self._setting]
                if callees:
                    yield self._by_helper(node, callees)
            elif _sets(node) and node not in known and self.m.function(node).node is function:
                yield self._alone(node)

    def _loop(self, loop: ast.For) -> tuple[frozenset[Key], bool] | None:
        """``for p in net.parameters(): p.requires_grad = False``: of which models, and whether it freezes them."""
        match loop:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Attribute(value=net, attr="parameters"))):
                given = [value for stmt in loop.body if (value := _given(stmt, name)) is not None]
                models = self._models(net)
                if len(given) != 1 or not models or sum(map(_sets, walk(loop))) != 1:
                    return None
                return models, _is_false(given[0]) and self._all_of(net)
            case _:
                return None

    def _alone(self, node: ast.AST) -> _Change:
        """``net.requires_grad_(False)``; anything else that sets it may mean any model."""
        stmt = self.m.statement(node)
        match node:
            case ast.Call(func=ast.Attribute(value=net), args=[value]) if models := self._models(net):
                freezes = _is_false(value) and self._all_of(net)
                return _Change(self._each(stmt), models, freezes, self._one_by_one(net))
            case _:
                return _Change(stmt, None, False)

    def _each(self, stmt: ast.stmt) -> ast.stmt:
        """The loop over networks that are listed, where a statement stands in one."""
        above = self.m.parent[stmt]
        listed = isinstance(above, ast.For) and isinstance(above.iter, (ast.List, ast.Tuple)) and above.iter.elts
        return self._each(above) if listed and isinstance(above, ast.For) else stmt

    def _by_helper(self, call: ast.Call, callees: list[ast.AST]) -> _Change:
        """``set_requires_grad([netD_A, netD_B], False)``, as far as the helper goes over all parameters."""
        stmt, handed = self.m.statement(call), [*call.args, *(k.value for k in call.keywords)]
        models = frozenset[Key]().union(*map(self._models, handed))
        callee = callees[0]
        if len(self.v.callees(call)) != 1 or not isinstance(callee, _Function) or not models:
            return _Change(stmt, None, False)
        sets = [n for n in walk(callee) if _sets(n)]
        value = self._value(call, callee, sets[0]) if len(sets) == 1 and self._goes_over_all(callee, sets[0]) else None
        nets = tuple(one for each in handed if self._models(each) for one in self._one_by_one(each))
        return _Change(stmt, models, value is not None and _is_false(value), nets)

    def _one_by_one(self, expr: ast.expr) -> tuple[ast.expr, ...]:
        """The networks that an expression goes through, where a row of them is written out: in its place, behind its
        name, or where a loop goes over it."""
        match expr:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return tuple(items)
            case ast.Name(id=name):
                loops = [x for x in self.m.spine(expr) if isinstance(x, ast.For)]
                rows = [x.iter for x in loops if isinstance(x.target, ast.Name) and x.target.id == name]
                rows = rows or [value for _, value in self.assigned.to(name, expr)]
                if len(rows) == 1 and isinstance(rows[0], (ast.List, ast.Tuple)):
                    return tuple(rows[0].elts)
        return (expr,)

    def _value(self, call: ast.Call, callee: _Function, node: ast.AST) -> ast.expr | None:
        """What a call makes a helper set."""
        stmt = self.m.statement(node)
        given = _given(stmt, None)
        if not isinstance(given, ast.Name) or given.id not in (names := positional_parameters(callee)):
            return given
        at = names.index(given.id) - (self.m.self_name(self.m.scope_of[callee]) is not None)
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return None  # it may come with these
        return argument(call, at, given.id) or default_of(callee, given.id)

    def _goes_over_all(self, callee: _Function, node: ast.AST) -> bool:
        """Whether a helper sets it of all parameters: conditions only ask whether there is a network."""
        over = False
        for outer in self.m.spine(node)[1:]:
            match outer:
                case ast.For(iter=ast.Call(func=ast.Attribute(attr="parameters"), args=[])):
                    over = True
                case ast.For():
                    pass
                case ast.If(test=ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)])):
                    pass
                case _:
                    return outer is callee and over
        return over

    def _models(self, expr: ast.AST) -> frozenset[Key]:
        return self.within.of(expr)

    def _all_of(self, net: ast.expr) -> bool:
        """Whether an expression is one model, or goes through several in a loop over a list of them."""
        if len(self._models(net)) < 2:
            return True
        loops = [x for x in self.m.spine(net) if isinstance(x, ast.For)]
        targets = [x for x in loops if isinstance(x.target, ast.Name) and isinstance(net, ast.Name)]
        return any(x.target.id == net.id and isinstance(x.iter, (ast.List, ast.Tuple)) for x in targets)  # type: ignore[attr-defined]


def _sets(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="requires_grad", ctx=ast.Store()):
            return True
        case ast.Call(func=ast.Attribute(attr="requires_grad_")):
            return True
        case _:
            return False


def _given(stmt: ast.stmt, name: str | None) -> ast.expr | None:
    """What a statement gives ``requires_grad`` of the parameter of that name (None: of any)."""
    match stmt:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=of), attr="requires_grad")], value=value):
            return value if name in (of, None) else None
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr="requires_grad_"), args=[value], keywords=[])
        ):
            return value if name in (of, None) else None
        case _:
            return None


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False
