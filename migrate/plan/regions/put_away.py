"""A loss that one function puts away in an attribute, and that another scales, which no call joins to it.

``self.loss = …`` in a trainer, ``self.trainer.loss`` in its hook; a bag of losses that is added to
(``bag.add("ce", loss)``, ``losses["ce"] = loss``) and whose total is a property.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import last_name
from ...facts.scopes import Scope
from ...flow.objects import Obj
from ...nodes import walk
from ...units.unit import Context

_STORES = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_ADDS = frozenset("append add insert extend update setdefault".split())
_ITEMS = frozenset("values items get pop".split())
_CONTAINERS = frozenset("dict list OrderedDict defaultdict UserDict UserList".split())


def stored(ctx: Context, site: ast.stmt, loss: ast.expr) -> list[ast.stmt]:
    """The statements elsewhere that fill the attributes from which the loss of a site is read."""
    m, v = ctx.m, ctx.v
    scope = m.function(site)
    found: dict[ast.stmt, None] = {}
    for read in _read_from(ctx, scope, site, loss):
        owners = frozenset(o for o in v.of(read.value) if o.kind == "instance")
        for put in m.attributes(read.attr) if owners else ():
            stmt = m.statement(put)
            if m.function(put) is not scope and _fills(ctx, put, stmt) and owners & v.of(put.value):
                found[stmt] = None
        bags = frozenset(o for o in owners if _takes_items(ctx, o, read.attr))
        found |= dict.fromkeys(_items_of(ctx, bags))
    return list(found)


def _fills(ctx: Context, put: ast.Attribute, stmt: ast.stmt) -> bool:
    """Whether a statement gives an attribute a value, or what it holds one more."""
    above = ctx.m.parent[put]
    if isinstance(put.ctx, ast.Store):
        return isinstance(stmt, _STORES) and stmt.value is not None
    if isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store):
        return isinstance(stmt, _STORES)
    return isinstance(above, ast.Attribute) and above.attr in _ADDS and isinstance(stmt, ast.Expr)


def _takes_items(ctx: Context, obj: Obj, attr: str) -> bool:
    """Whether what an attribute of an object has may be its items: it is a dictionary, or stores them itself."""
    assert isinstance(obj.key, ast.ClassDef)
    line = ctx.v.order(obj.key)
    if any(ctx.m.method(cls, "__setitem__") is not None for cls in line):
        return True
    return attr in _ITEMS and any(last_name(base) in _CONTAINERS for cls in line for base in cls.bases)


def _items_of(ctx: Context, owners: frozenset[Obj]) -> Iterator[ast.stmt]:
    """The statements that put items into some objects."""
    for item in ctx.m.all(ast.Subscript) if owners else ():
        stmt = ctx.m.statement(item)
        if isinstance(item.ctx, ast.Store) and isinstance(stmt, _STORES) and owners & ctx.v.of(item.value):
            yield stmt


def _read_from(ctx: Context, scope: Scope, site: ast.stmt, loss: ast.expr) -> list[ast.Attribute]:
    """The attributes that a loss is made of, also by way of local names and properties."""
    m = ctx.m
    found: list[ast.Attribute] = []
    todo: list[tuple[ast.AST, Scope]] = [(loss, scope)]
    seen: set[ast.AST] = set()
    while todo:
        node, here = todo.pop()
        for n in walk(node):
            if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load):
                found.append(n)
            for run in _runs(ctx, n):
                if run not in seen:
                    seen.add(run)
                    inner = m.scope_of[run]
                    todo += [(r.value, inner) for r in m.own(inner, ast.Return) if r.value is not None]
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                for made in m.stores(n.id, here):
                    stmt = m.statement(made)
                    value = getattr(stmt, "value", None)
                    before = here is not scope or m.start(stmt) < m.start(site)
                    if isinstance(value, ast.expr) and stmt not in seen and before:
                        seen.add(stmt)
                        todo.append((value, here))
    return found


def _runs(ctx: Context, read: ast.AST) -> Iterator[ast.AST]:
    """The functions that a call runs, or an attribute that is a property."""
    if isinstance(read, ast.Call):
        yield from (one for one in ctx.v.callees(read) if not isinstance(one, ast.Lambda))
    if not isinstance(read, ast.Attribute):
        return
    for obj in ctx.v.of(read.value):
        if obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
            run = ctx.v.property_of(obj.key, read.attr)
            if run is not None:
                yield run
