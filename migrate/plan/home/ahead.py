"""Whether a condition can be asked ahead of the place where it stood: nothing between may change what it reads."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...facts.scopes import Scope
from ...nodes import walk
from ...units.conditions import Term, reads
from ...units.unit import Context


def changes(ctx: Context, stmt: ast.stmt, end: int, condition: Term) -> ast.expr | None:
    """What in a statement, up to a position, may change what a condition reads: it is handed on or, in functions that
    run there, something of its name is set. Names and attributes that the statement itself sets are not looked for."""
    read = reads(condition.text)
    names = {name.rpartition(".")[2] for name in read}
    for node in walk(stmt):
        if isinstance(node, (ast.Call, ast.Subscript)) and ctx.m.start(node) < end:
            if _hands_on(ctx, node, read) or (isinstance(node, ast.Call) and _sets(ctx, node, names)):
                return node
    return None


def sets(ctx: Context, scope: Scope, texts: Collection[str]) -> bool:
    """Whether a function sets what conditions read: an attribute, a name of its file, an item of what such a name
    holds (``_STATE["enabled"] = fp16``)."""
    m = ctx.m
    names = {name for text in texts for name in reads(text)}
    attributes = {n.attr for n in m.own(scope, ast.Attribute) if isinstance(n.ctx, ast.Store)}
    if not attributes.isdisjoint(name.rpartition(".")[2] for name in names if "." in name):
        return True
    stored = {n.id for n in m.own(scope, ast.Name) if isinstance(n.ctx, ast.Store)} & scope.outer
    if not stored.isdisjoint(name.rpartition(".")[2] for name in names):
        return True
    items = {_item(n) for n in m.own(scope, ast.Subscript) if isinstance(n.ctx, ast.Store)}
    return any(_item(n) in items for text in texts for n in walk(_parsed(text)) if isinstance(n, ast.Subscript))


def _item(node: ast.Subscript) -> str:
    """An item by the last name in front of it, which other files write with their own names ahead."""
    return f"{ast.unparse(node.value).rpartition('.')[2]}[{ast.unparse(node.slice)}]"


def _parsed(text: str) -> ast.AST:
    try:
        return ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return ast.Constant(None)


def _hands_on(ctx: Context, node: ast.Call | ast.Subscript, read: Collection[str]) -> bool:
    """Whether an item of what is read is set, or a call is handed it, or calls a method of it."""
    m = ctx.m
    if isinstance(node, ast.Subscript):
        return not isinstance(node.ctx, ast.Load) and m.src(node.value) in read
    handed = [*node.args, *(k.value for k in node.keywords)]
    if isinstance(node.func, ast.Attribute):
        handed.append(node.func.value)
    return any(m.src(one.value if isinstance(one, ast.Starred) else one) in read for one in handed)


def _sets(ctx: Context, call: ast.Call, names: Collection[str]) -> bool:
    """Whether functions of the program that a call runs, or that these run, set something of such a name."""
    todo, met = list(ctx.v.callees(call)), set[ast.AST]()
    while todo:
        function = todo.pop()
        if function in met:
            continue
        met.add(function)
        for node in walk(function):
            if isinstance(node, ast.Call):
                todo += ctx.v.callees(node)
            elif isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
                if (node.id if isinstance(node, ast.Name) else node.attr) in names:
                    return True
    return False
