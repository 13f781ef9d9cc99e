"""A loss that one function puts away in an attribute, and that another scales, which no call joins to it.

``self.loss = …`` in a trainer, ``self.trainer.loss`` in its hook.
"""

from __future__ import annotations

import ast

from ...facts.scopes import Scope
from ...nodes import walk
from ...units.unit import Context

_STORES = (ast.Assign, ast.AnnAssign)


def stored(ctx: Context, site: ast.stmt, loss: ast.expr) -> list[ast.stmt]:
    """The assignments elsewhere that fill the attributes from which the loss of a site is read."""
    m, v = ctx.m, ctx.v
    scope = m.function(site)
    found: dict[ast.stmt, None] = {}
    for read in _read_from(ctx, scope, site, loss):
        owners = frozenset(o for o in v.of(read.value) if o.kind == "instance")
        for put in m.attributes(read.attr) if owners else ():
            stmt = m.statement(put)
            elsewhere = m.function(put) is not scope and isinstance(stmt, _STORES) and stmt.value is not None
            if isinstance(put.ctx, ast.Store) and elsewhere and owners & v.of(put.value):
                found[stmt] = None
    return list(found)


def _read_from(ctx: Context, scope: Scope, site: ast.stmt, loss: ast.expr) -> list[ast.Attribute]:
    """The attributes that a loss is made of, also by way of local names."""
    m = ctx.m
    found: list[ast.Attribute] = []
    todo: list[ast.AST] = [loss]
    seen: set[ast.AST] = set()
    while todo:
        node = todo.pop()
        for n in walk(node):
            if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load):
                found.append(n)
            elif isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                for made in m.stores(n.id, scope):
                    stmt = m.statement(made)
                    value = getattr(stmt, "value", None)
                    if isinstance(value, ast.expr) and stmt not in seen and m.start(stmt) < m.start(site):
                        seen.add(stmt)
                        todo.append(value)
    return found
