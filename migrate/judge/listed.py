"""Parts that a model lists: ``for part in model.children(): part.zero_grad()``, ``list(model.children())[0]``."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..facts.module import Module
from ..flow.objects import Obj
from ..flow.values import Values
from ..knowledge.models import LISTS_PARTS
from ..nodes import walk
from .owners import Owners

_LOOPS = (ast.For, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_LEAVE = (ast.Continue, ast.Break, ast.Return)


class Part(NamedTuple):
    """A part of what ``of`` stands for: each of them, one after the other, or any."""

    of: ast.expr
    each: bool


def listed_part(m: Module, v: Values, owners: Owners, expr: ast.expr) -> Part | None:
    """What lists the part that an expression stands for; None where nothing here does."""
    calls = [call for obj in v.of(expr) for call in _lists(obj)]
    if not calls:
        return None
    lister = calls[0].func
    assert isinstance(lister, ast.Attribute)
    return Part(lister.value, len(set(calls)) == 1 and isinstance(expr, ast.Name) and _each(m, owners, expr, calls[0]))


def _lists(obj: Obj) -> list[ast.Call]:
    """The call of ``children()`` and the like that an object is an item of."""
    while obj.kind == "path":
        obj = obj.key[0]  # type: ignore[index]
        call = obj.key
        if obj.kind == "call" and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr in LISTS_PARTS:
                return [call]
    return []


def _each(m: Module, owners: Owners, name: ast.Name, lister: ast.Call) -> bool:
    """Whether a name goes through all that is listed, with nothing that leaves one out."""
    for outer in m.ancestors(name):
        if isinstance(outer, _LOOPS) and _binds(outer.target, name):
            leaves = any(isinstance(n, _LEAVE) for n in walk(outer))
            stmt = m.statement(name)
            return not leaves and stmt in outer.body and _whole(owners, outer.iter) is lister
        if isinstance(outer, _COMPREHENSIONS) and len(outer.generators) == 1:
            one = outer.generators[0]
            if _binds(one.target, name):
                return not one.ifs and _whole(owners, one.iter) is lister
        if isinstance(outer, (ast.If, ast.IfExp, ast.BoolOp, ast.While, ast.Try)):
            return False
    return False


def _binds(target: ast.expr, name: ast.Name) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name.id for n in walk(target))


def _whole(owners: Owners, source: ast.expr) -> ast.expr | None:
    """What a loop goes over, through ``list`` and a name that is given one value."""
    for _ in range(4):
        match source:
            case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed"), args=[inner]):
                source = inner
            case ast.Name():
                values = owners.computed.values_of(source)
                if len(values) != 1:
                    return None
                source = values[0]
            case _:
                return source
    return None
