"""Attributes that are set one after the other by the names of a dictionary: ``for k, v in kwargs.items(): setattr(self,
k, v)``. Each takes what stands under its own name, not what any of them does."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..nodes import walk


def set_by_items(m: Module, call: ast.Call) -> ast.expr | None:
    """The dictionary whose items a ``setattr`` in a loop over them sets, each by its own name."""
    match call.args:
        case [_, ast.Name(id=key), ast.Name(id=value)] if key != value:
            pass
        case [_, ast.Name(id=key), ast.Subscript(value=read, slice=ast.Name(id=at))] if key == at:
            return _read_by_name(m, call, key, read)
        case _:
            return None
    for outer in m.ancestors(call):
        match outer:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=one), ast.Name(id=other)]),
                iter=ast.Call(func=ast.Attribute(value=table, attr="items"), args=[], keywords=[]),
            ) if (one, other) == (key, value):
                return table if _given_once(outer, key, value) else None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return None
    return None


def _read_by_name(m: Module, call: ast.Call, key: str, read: ast.expr) -> ast.expr | None:
    """``for k in d: setattr(self, k, d[k])``, where the loop gives ``d`` no other value."""
    for outer in m.ancestors(call):
        match outer:
            case ast.For(target=ast.Name(id=one), iter=source) if one == key:
                match source:
                    case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[], keywords=[]):
                        source = inner
                plain = isinstance(read, ast.Name) and isinstance(source, ast.Name) and read.id == source.id
                names = [key, source.id] if isinstance(source, ast.Name) else []
                return source if plain and _given_once(outer, *names) else None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return None
    return None


def _given_once(loop: ast.For, *names: str) -> bool:
    """Whether nothing in a loop but its own target gives these names a value."""
    own = set(walk(loop.target))
    return not any(
        isinstance(n, ast.Name) and n.id in names and not isinstance(n.ctx, ast.Load) and n not in own
        for n in walk(loop)
    )
