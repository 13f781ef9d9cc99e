"""Items that a loop puts back where it took them from: ``for i, net in enumerate(nets): nets[i] = net``."""

from __future__ import annotations

import ast

from ..facts.loops import gone_through
from ..facts.module import Module
from ..nodes import walk


def same_item(m: Module, target: ast.expr, value: ast.expr) -> bool:
    """Whether a loop around hands out under the name ``value`` what ``target`` is already."""
    match target, value:
        case ast.Subscript(value=kept, slice=ast.Name(id=index)), ast.Name(id=name):
            pass
        case _:
            return False
    for loop in m.loops(target):
        if not isinstance(loop, ast.For):
            continue
        given = [n.id for n in walk(loop.target) if isinstance(n, ast.Name)]
        if index not in given or name not in given:
            continue
        stored = [
            n for stmt in loop.body for n in walk(stmt) if not isinstance(getattr(n, "ctx", ast.Load()), ast.Load)
        ]
        names = {n.id for n in stored if isinstance(n, ast.Name)}
        others = [n for n in stored if isinstance(n, ast.Subscript) and n is not target and m.src(n) == m.src(target)]
        return not others and not names & {index, name} and _source(m, loop, index, name) == m.src(kept)
    return False


def _source(m: Module, loop: ast.For, index: str, name: str) -> str | None:
    """What a loop goes over whose number or key has one name, and whose item has the other."""
    match loop.target, loop.iter:
        case ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=item)]), ast.Call(
            func=ast.Attribute(value=kept, attr="items"), args=[]
        ) if (key, item) == (index, name):
            return m.src(kept)
        case ast.Tuple(elts=[ast.Name(id=key), _]), ast.Call(func=ast.Name(id="enumerate"), args=[_], keywords=[]) if (
            key == index
        ):
            found = gone_through(loop.target, loop.iter, name)
            return m.src(found) if isinstance(found, (ast.Name, ast.Attribute)) else None
        case _:
            return None
