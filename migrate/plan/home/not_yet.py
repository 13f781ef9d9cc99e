"""Conditions that say that ``initialize`` did not run yet: ``if self.optimizer is None: self.setup()``.

What runs under one makes it false, so asked behind that it would say the opposite. It decides when Apex is switched on,
not whether: who scales a loss comes behind it in any case."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import called_name
from ...facts.scopes import Scope
from ...facts.sites import Initialize
from ...units.unit import Context


def ahead_of(ctx: Context, test: ast.expr, init: Initialize, there: Scope | None) -> bool:
    """Whether the condition around an ``initialize``, or around a call that leads to it, is one, and stands in another
    function than ``there``, where the scaler is made."""
    return there not in (None, ctx.m.function(test)) and says_not_yet(ctx, test, init)


def says_not_yet(ctx: Context, test: ast.expr, init: Initialize) -> bool:
    """Whether it is one: what it asks for is set under it, and nothing else gives that a value by which it would be
    left out."""
    m, asked, guard = ctx.m, _asked(test), ctx.m.parent[test]
    if asked is None or not isinstance(guard, ast.If):
        return False
    inside = set[ast.AST](guard.body)
    setup = m.function(init.call)

    def within(node: ast.AST) -> bool:
        return m.function(node) is setup is not m.function(guard) or not inside.isdisjoint(m.ancestors(node))

    given = [*_given(ctx, asked)]
    here = [value for node, value in given if within(node)]
    elsewhere = [value for node, value in given if not within(node)]
    return any(not _is_nothing(value) for value in here) and all(map(_is_nothing, elsewhere))


def _asked(test: ast.expr) -> ast.expr | None:
    """What a condition says is not there."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() as one):
            return one
        case ast.UnaryOp(
            op=ast.Not(), operand=ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str(attr))])
        ):
            return ast.copy_location(ast.Attribute(owner, attr, ast.Load()), owner)
        case ast.Compare(
            left=ast.Name() | ast.Attribute() as one, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]
        ):
            return one
        case ast.Compare(left=ast.Constant(), ops=[ast.NotIn()], comparators=[ast.Name() | ast.Attribute() as one]):
            return one
        case _:
            return None


def _given(ctx: Context, asked: ast.expr) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    """Where what is asked for, or an item of it, is given a value; None: one that is not written."""
    m, v = ctx.m, ctx.v
    stores: list[ast.expr] = []
    if isinstance(asked, ast.Name):
        home = m.binding_scope(asked.id, m.scope(asked))
        if home is None or asked.id in home.params:
            yield asked, None
            return
        stores += m.stores(asked.id, home)
    elif isinstance(asked, ast.Attribute):
        owners = v.of(asked.value)
        stores += [n for n in m.attributes(asked.attr) if isinstance(n.ctx, ast.Store) and v.of(n.value) & owners]
    held = v.of(asked) if asked in m.parent else frozenset()
    items = [n for n in m.all(ast.Subscript) if isinstance(n.ctx, ast.Store) and v.of(n.value) & held]
    for node in (*stores, *items):
        above = m.parent[node]
        whole = isinstance(above, (ast.Assign, ast.AnnAssign)) and getattr(above, "target", node) is node
        yield node, above.value if isinstance(above, (ast.Assign, ast.AnnAssign)) and whole else None


def _is_nothing(value: ast.expr | None) -> bool:
    """Whether a value is written that is as good as none: ``None``, ``False``, ``{}``, ``dict()``."""
    match value:
        case ast.Constant(value=one):
            return not one
        case ast.Dict(keys=some) | ast.List(elts=some) | ast.Tuple(elts=some):
            return not some
        case ast.Call(args=[], keywords=[]):
            return called_name(value) in ("dict", "list", "set", "OrderedDict")
        case _:
            return False
