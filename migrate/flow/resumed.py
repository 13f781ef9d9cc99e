"""Generators that train, and who looks at gradients while one waits: the loop that goes through it."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ..facts.module import Module
from ..nodes import walk
from .touching import touches, trains
from .values import Values

_Loop = ast.For | ast.AsyncFor


def looked_at_meanwhile(m: Module, v: Values, lookers: Collection[ast.AST]) -> frozenset[ast.AST]:
    """The functions that train bit by bit where a loop that goes through one, or through what it is handed and may be
    one, looks at gradients in its rounds."""
    made = {m.function(n).node for n in m.of(ast.Yield)}
    training = [f for f in made if trains(f)]
    if not training:
        return frozenset()
    loops = [one for one in m.of(ast.For, ast.AsyncFor) if isinstance(one, _Loop) and _looks(m, v, one, lookers)]
    return frozenset(f for f in training if any(_goes_through(m, v, one, f) for one in loops))


def _looks(m: Module, v: Values, loop: _Loop, lookers: Collection[ast.AST]) -> bool:
    """Whether gradients are looked at in a loop, and not only those of what it goes through."""
    items = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
    for node in (n for stmt in loop.body for n in walk(stmt)):
        match node:
            case ast.Attribute(attr="grad", value=owner) if touches(m, node):
                if not any(isinstance(n, ast.Name) and n.id in items for n in walk(owner)):
                    return True
            case ast.Call() if lookers and any(f in lookers for f in v.callees(node)):
                return True
            case _:
                pass
    return False


def _goes_through(m: Module, v: Values, loop: _Loop, function: ast.AST) -> bool:
    if m.inside(loop, function):
        return False
    gone_through = list(walk(loop.iter))
    calls = v.calls.get(function, ())
    if any(call in gone_through for call in calls):
        return True
    handed = any(not _is_gone_through(m, call) for call in calls)
    scope = m.scope(loop)
    return handed and any(isinstance(n, ast.Name) and n.id in scope.params for n in gone_through)


def _is_gone_through(m: Module, call: ast.AST) -> bool:
    """Whether a loop goes through what a call makes, where it is called."""
    return any(isinstance(one, _Loop) and call in walk(one.iter) for one in m.ancestors(call))
