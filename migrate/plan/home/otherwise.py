"""A parameter that is an object's own optimizer unless another one is handed: ``optimizer or self.optimizer``."""

from __future__ import annotations

import ast

from ...facts.names import is_none
from ...facts.scopes import Scope
from ...facts.sites import opened
from ...units.translate import passed
from ...units.unit import Context
from ..schedule import Scaler


def own_otherwise(ctx: Context, scaler: Scaler, scope: Scope, name: str) -> ast.expr | None:
    """``self.optimizer``, where a parameter is that unless it is handed, and nobody hands another optimizer."""
    m, v = ctx.m, ctx.v
    own, stores = m.self_name(scope), list(m.stores(name, scope))
    found = _filled_with(m.statement(stores[0]), m.parent[m.statement(stores[0])], name) if len(stores) == 1 else None
    if found is None or not isinstance(found.value, ast.Name) or found.value.id != own:
        return None
    if not opened(v, v.of(found)) & scaler.objects:
        return None
    handed = [passed(ctx, call, scope, name) for call in v.calls[scope.node]]
    return found if all(one is None or v.of(one) <= v.of(found) for one in handed) else None


def _filled_with(stmt: ast.stmt, above: ast.AST, name: str) -> ast.Attribute | None:
    """The attribute that a parameter becomes where it is None: ``x = x or self.x``, ``x = self.x if x is None else x``,
    ``if x is None: x = self.x``."""
    match stmt:
        case ast.Assign(value=ast.BoolOp(op=ast.Or(), values=[ast.Name(id=given), ast.Attribute() as own])):
            return own if given == name else None
        case ast.Assign(value=ast.IfExp(test=test, body=ast.Attribute() as own, orelse=ast.Name(id=given))):
            return own if given == name and _asks_none(test, name, ast.Is) else None
        case ast.Assign(value=ast.IfExp(test=test, body=ast.Name(id=given), orelse=ast.Attribute() as own)):
            return own if given == name and _asks_none(test, name, ast.IsNot) else None
        case ast.Assign(value=ast.Attribute() as own) if isinstance(above, ast.If) and stmt in above.body:
            return own if _asks_none(above.test, name, ast.Is) else None
        case _:
            return None


def _asks_none(test: ast.expr, name: str, word: type[ast.cmpop]) -> bool:
    """``name is None``, or ``name is not None``, as ``word`` says; ``not name`` and ``name`` are as good."""
    match test:
        case ast.Compare(left=ast.Name(id=asked), ops=[op], comparators=[other]):
            return asked == name and isinstance(op, word) and is_none(other)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=asked)):
            return asked == name and word is ast.Is
        case ast.Name(id=asked):
            return asked == name and word is ast.IsNot
        case _:
            return False
