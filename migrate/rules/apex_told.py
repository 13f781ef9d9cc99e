"""What only tells whether Apex is there: ``info["apex"] = "installed"`` behind an import that may fail, for a report of
the environment. It asks what is installed, and goes on asking that."""

from __future__ import annotations

import ast

from ..facts.scopes import Scope
from ..plan.looked_into import items_by_key
from ..units.available import Key
from ..units.unit import Context


def reports(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether an import that nobody uses stands in a ``try`` that only keeps its answer as an item or attribute which
    nothing in the program asks for."""
    holder = ctx.m.parent[stmt]
    if not isinstance(holder, ast.Try) or stmt not in holder.body:
        return False
    told = [one for one in (*holder.body, *holder.orelse) if one not in ctx.facts.imports]
    return bool(told) and all(_kept_unasked(ctx, one) for one in told) and not tried_and_read(ctx, holder)


def tried_and_read(ctx: Context, holder: ast.Try) -> bool:
    """Whether somebody reads what the imports of Apex in a ``try`` bind."""
    m = ctx.m
    for stmt in holder.body:
        for alias in stmt.names if stmt in ctx.facts.imports else ():  # type: ignore[attr-defined]
            name = alias.asname or alias.name.split(".")[0]
            home = m.binding_scope(name, m.scope(stmt))
            if any(m.loads(called, scope) for scope, called in known_as(ctx, home, name)):
                return True
    return False


def known_as(ctx: Context, home: Scope | None, name: str) -> set[Key]:
    """A name, and what files that take it call it."""
    return {(home, name), *((c.scope, c.name) for c in ctx.m.copied if (c.source, c.original) == (home, name))}


def _kept_unasked(ctx: Context, stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(key)))], value=ast.Constant()):
            asked = (node for node, _, other in items_by_key(ctx) if other == key)
            return not any(isinstance(node, ast.Call) or isinstance(node.ctx, ast.Load) for node in asked)  # type: ignore[attr-defined]
        case ast.Assign(targets=[ast.Attribute(attr=attr)], value=ast.Constant()):
            return not any(_asks(ctx, node) for node in ctx.m.attributes(attr))
        case _:
            return False


def _asks(ctx: Context, node: ast.Attribute) -> bool:
    """Whether an attribute is read, and is no module's: ``torch.amp``."""
    base = node.value
    of_module = isinstance(base, ast.Name) and any(isinstance(d, ast.alias) for d in ctx.m.declared(base.id))
    return isinstance(node.ctx, ast.Load) and not of_module
