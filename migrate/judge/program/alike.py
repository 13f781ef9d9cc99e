"""Optimizers of which one is made or the other, in the arms of one choice: ``if args.optim == "adam": optimizer =
Adam(model.parameters()) else: optimizer = SGD(model.parameters())``. What is said of one is said of the other: to the
judge they are one, and what comes behind the choice is followed once.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set

from ...facts.module import Module
from ...facts.once import once_each
from ...flow.arguments import argument
from ...flow.objects import Obj
from ...flow.values import Values
from ...knowledge.operations import CONTAINER_WRITES
from ...nodes import walk

_LISTS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def made_alike(m: Module, v: Values, optimizers: Iterable[Obj], models: Set[Obj]) -> Mapping[ast.AST, ast.AST]:
    """For each call that makes an optimizer the first of those that are as good as it."""
    groups: dict[object, list[ast.Call]] = defaultdict(list)
    for call in sorted((o.key for o in optimizers if o.kind == "call" and isinstance(o.key, ast.Call)), key=m.start):
        target, params = _kept_as(m, v, call), argument(call, 0, "params")
        if target is not None and params is not None and not _given(v, call, params, models):
            groups[m.function(call), m.src(target), m.src(params)].append(call)
    found: dict[ast.AST, ast.AST] = {}
    for first, *others in groups.values():
        like = [first]
        for call in others:
            if all(_instead(m, one, call) for one in like):
                like.append(call)
                found[call] = first
    return found


def _kept_as(m: Module, v: Values, call: ast.Call) -> ast.expr | None:
    """The one name that a call's result is given, where it is made once. In a loop, or of a function that is called for
    each of several optimizers, one may come of the one arm and one of the other."""
    match m.parent[call]:
        case ast.Assign(targets=[target]):
            return target if _runs_once(m, v, call, frozenset()) else None
        case _:
            return None


def _runs_once(m: Module, v: Values, node: ast.AST, inside: frozenset[ast.AST]) -> bool:
    """Whether a run of the program comes by a place once at most, as far as the calls in it say."""
    function = m.function(node).node
    calls = v.calls.get(function, [])
    listed = any(isinstance(outer, _LISTS) for outer in m.ancestors(node) if m.function(outer).node is function)
    if m.loops(node) or listed or len(calls) > 1 or function in inside:
        return False
    return all(_runs_once(m, v, call, inside | {function}) for call in calls)


def _given(v: Values, call: ast.Call, params: ast.expr, models: Set[Obj]) -> bool:
    """Whether a call is handed a model besides its parameters."""
    others = (a for a in (*call.args, *(k.value for k in call.keywords)) if a is not params)
    return any(not models.isdisjoint(v.of(n)) for a in others for n in walk(a))


def _instead(m: Module, one: ast.Call, other: ast.Call) -> bool:
    """Whether two calls stand in arms of one `if`, of which no run takes both, that give nothing else to what they are
    both handed."""
    arms = _arms(m, other)
    choice = next((choice for choice, arm in _arms(m, one).items() if arms.get(choice, arm) != arm), None)
    params = argument(one, 0, "params")
    if choice is None or params is None:
        return False
    return _changed(m, choice).isdisjoint(map(_name, _named(params)))


@once_each
def _changed(m: Module, choice: ast.If) -> frozenset[str]:
    """The names of what its arms give another value, or put something into."""
    return frozenset(map(_name, _written(choice)))


def _written(choice: ast.If) -> Iterator[ast.Name | ast.Attribute]:
    yield from (n for n in _named(choice) if isinstance(n.ctx, ast.Store))
    for node in walk(choice):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as held, attr=attr)):
                if attr in CONTAINER_WRITES:
                    yield held
            case _:
                pass


def _named(inside: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    return (n for n in walk(inside) if isinstance(n, (ast.Name, ast.Attribute)))


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


@once_each
def _arms(m: Module, node: ast.AST) -> Mapping[ast.If, bool]:
    """The `if`s of its function around a node, and whether it stands in the first of their arms."""
    found: dict[ast.If, bool] = {}
    inner = node
    for outer in m.ancestors(node):
        if outer is m.function(node).node:
            break
        if isinstance(outer, ast.If) and inner is not outer.test:
            found[outer] = inner in outer.body
        inner = outer
    return found
