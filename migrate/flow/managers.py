"""Context managers that are generators of the program, where a block does not call them itself: ``with probe(step):``
runs what the method gives back that ``probe(step)`` is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.module import Module
from ..facts.names import last_name, makes_context
from ..nodes import walk
from .values import Values

_MOST_STEPS = 5  # from a block to the generator


def handed_on(m: Module, v: Values, block: ast.expr) -> set[ast.AST]:
    """The generators that a block may be one of, but for one that it calls itself."""
    made = {one for one in v.callees(block) if makes_context(one)} if isinstance(block, ast.Call) else set[ast.AST]()
    return generators(m, v, block) - made


def generators(m: Module, v: Values, expr: ast.expr, steps: int = _MOST_STEPS) -> set[ast.AST]:
    """Those that an expression may be one of: what is put on an ``ExitStack``."""
    if not steps:
        return set()
    found = set[ast.AST]()
    for callee in v.callees(expr) if isinstance(expr, ast.Call) else ():
        if makes_context(callee):
            found.add(callee)
        else:
            found |= {one for value in _returned(callee) for one in generators(m, v, value, steps - 1)}
    for value in _given(m, expr):
        found |= generators(m, v, value, steps - 1)
    return found


def _returned(function: ast.AST) -> Iterator[ast.expr]:
    if isinstance(function, ast.Lambda):
        yield function.body
    yield from (n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None)


def _given(m: Module, expr: ast.expr) -> Iterator[ast.expr]:
    """What a name or an attribute is given, and the parts of an expression that is one of several."""
    stores: list[ast.expr] = []
    match expr:
        case ast.Name(id=name):
            scope = m.binding_scope(name, m.scope(expr))
            stores = [n for n in m.bindings(name, scope) if isinstance(n, ast.Name)] if scope is not None else []
        case ast.Attribute(attr=name):
            stores = [n for n in m.attributes(name) if isinstance(n.ctx, ast.Store)]
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.BoolOp(values=values):
            yield from values
        case ast.Call() if last_name(expr.func) == "enter_context":
            yield from expr.args
    above = (m.parent[n] for n in stores)
    yield from (one.value for one in above if isinstance(one, (ast.Assign, ast.NamedExpr)))
