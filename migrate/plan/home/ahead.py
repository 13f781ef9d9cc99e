"""Whether a condition can be asked ahead of the place where it stood: nothing between may change what it reads."""

from __future__ import annotations

import ast
from collections.abc import Collection

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
