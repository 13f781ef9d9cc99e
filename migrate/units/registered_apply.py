"""``amp.register_half_function(Conv, "apply")``, of an autograd function that the file defines.

Apex put a function that casts in the place of ``Conv.apply``; natively the function's own ``forward`` says what it is
handed, and its ``backward`` runs as that did. Both run without autocast inside, so nothing in them may be what O1 cast.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..facts.names import last_name
from ..knowledge.operations import NATIVE_FLOAT, NATIVE_HALF
from ..nodes import walk
from .unit import Context

DTYPES = {"register_half_function": None, "register_float_function": "float32"}  # None: the one that is asked for
_DECORATORS = frozenset("staticmethod once_differentiable".split())


@dataclass(frozen=True, eq=False)
class Applied:
    """The two methods of an autograd function."""

    forward: ast.FunctionDef
    backward: ast.FunctionDef | None


def applied(ctx: Context, call: ast.Call, tail: str) -> Applied | None:
    """The function of which a statement registers ``apply``, where its methods can say the same."""
    match call:
        case ast.Call(args=[ast.Name(id=name) as registered, ast.Constant(value="apply")], keywords=[]):
            pass
        case _:
            return None
    m = ctx.m
    home = m.binding_scope(name, m.scope(registered))
    declared = [one for one in m.declared(name) if m.binding_scope(name, m.scope(one)) is home]
    cls = declared[0] if len(declared) == 1 and not m.bindings(name, home) else None
    if tail not in DTYPES or not isinstance(cls, ast.ClassDef) or not isinstance(m.parent[call], ast.Expr):
        return None
    if [last_name(base) for base in cls.bases] != ["Function"] or _taken_above(ctx, cls, call):
        return None
    methods = {one.name: one for one in cls.body if isinstance(one, ast.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    both = [one for one in (forward, backward) if one is not None]
    if forward is None or "setup_context" in methods or not all(map(_plain, both)):
        return None
    return Applied(forward, backward)


def _taken_above(ctx: Context, cls: ast.ClassDef, call: ast.Call) -> bool:
    """Whether somebody holds ``apply`` as it was before: the file itself, above the registration."""
    m = ctx.m
    reads = [n for n in m.named(cls.name) if m.file(n) is m.file(call) and m.start(n) < m.start(call)]
    return any(not m.function(n).is_function for n in reads if isinstance(n.ctx, ast.Load))


def _plain(method: ast.FunctionDef) -> bool:
    """Whether a method is decorated as any such is, and holds nothing that O1 cast."""
    words = {last_name(one) for one in method.decorator_list}
    return words <= _DECORATORS and not any(_cast(node) for stmt in method.body for node in walk(stmt))


def _cast(node: ast.AST) -> bool:
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    called = isinstance(node, ast.Call) and last_name(node.func) in NATIVE_HALF | NATIVE_FLOAT
    return product or called
