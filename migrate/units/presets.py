"""Options of `initialize` that a table of the file gives: ``amp.initialize(net, opt, **PRESETS[args.precision])``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ..facts.module import Module

_READ = frozenset({"keys"})
_Row = Mapping[str, ast.expr]


def listed_options(m: Module, splat: ast.expr) -> list[_Row] | None:
    """The rows that such options may be, where all are written out and nothing in the file changes them."""
    match splat:
        case ast.Name() as name:
            found = _written(m, name)
            return None if found is None or (row := _row(found)) is None else [row]
        case ast.Subscript(value=ast.Name() as name, slice=key):
            table = _written(m, name)
            rows = _row(table) if table is not None else None
            if rows is None:
                return None
            every = [_row(one) for at, one in rows.items() if not isinstance(key, ast.Constant) or key.value == at]
            known = [one for one in every if one is not None]
            return known if known and len(known) == len(every) else None
        case _:
            return None


def _written(m: Module, name: ast.Name) -> ast.expr | None:
    """What a name is given once, and is only read of."""
    scope = m.binding_scope(name.id, m.scope(name))
    if scope is None or name.id in scope.params:
        return None
    stores = m.stores(name.id, scope)
    above = m.parent[stores[0]] if len(stores) == 1 else None
    if not isinstance(above, (ast.Assign, ast.AnnAssign)) or not all(_only_reads(m, n) for n in _uses(m, name.id)):
        return None
    return above.value


def _uses(m: Module, name: str) -> Iterator[ast.Name]:
    return (n for n in m.named(name) if isinstance(n.ctx, ast.Load))


def _only_reads(m: Module, use: ast.Name) -> bool:
    above: ast.AST = m.parent[use]
    match above:
        case ast.keyword(arg=None) | ast.Compare() | ast.FormattedValue():
            return True
        case ast.Attribute(attr=attr):
            return attr in _READ
        case ast.Subscript(ctx=ast.Load(), value=value) if value is use:
            inner = m.parent[above]
            return isinstance(inner, ast.keyword) and inner.arg is None
        case ast.Call(func=ast.Name(id="list" | "sorted" | "len" | "tuple" | "set")):
            return True
        case _:
            return False


def _row(value: ast.expr) -> _Row | None:
    """The items of a dictionary that is written out."""
    match value:
        case ast.Dict(keys=keys, values=values):
            named = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            return dict(zip(named, values, strict=True)) if len(named) == len(values) else None
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(k.arg for k in keywords):
            return {k.arg: k.value for k in keywords if k.arg is not None}
        case _:
            return None
