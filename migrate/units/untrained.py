"""Steps of an optimizer that was never initialized: a test of a schedule makes a trainer and its optimizer, steps that
by hand and trains nothing.

What a function makes anew each time it runs is initialized there, or nowhere. Where no call in the function leads to
``initialize``, Apex never patched the step, and it stays as it is.
"""

from __future__ import annotations

import ast

from ..facts.once import once_each
from ..facts.scopes import Scope
from ..flow.objects import Obj
from ..nodes import walk
from .order import Order
from .unit import Context

_SHARED = ("__dict__", "__new__")  # what an object shares with others of its class goes by these


def never_trained(ctx: Context, order: Order, step: ast.Call, optimizers: frozenset[Obj]) -> bool:
    """Whether a step is one of an object that its function makes for itself, and does not train."""
    scope = ctx.m.function(step)
    if not scope.is_function or order.switches(scope.node) or not isinstance(step.func, ast.Attribute):
        return False
    holder = step.func.value
    while isinstance(holder, ast.Attribute):
        holder = holder.value
    if not isinstance(holder, ast.Name) or holder is step.func.value:
        return False
    if not _made_here(ctx, scope, holder):
        return False
    classes = {obj.key for obj in ctx.v.of(holder) if obj.kind == "instance"}
    plain = all(isinstance(cls, ast.ClassDef) and _own_to_each(ctx, cls) for cls in classes)
    if not classes or not plain or len(classes) < len(ctx.v.of(holder)):
        return False
    return all(_made_with(ctx, classes, obj) for obj in optimizers)


@once_each
def _own_to_each(ctx: Context, cls: ast.ClassDef) -> bool:
    """Whether objects of a class share nothing that their methods set."""
    order = [one for one in ctx.v.order(cls) if isinstance(one, ast.ClassDef)]
    named = (_name(n) for one in order for n in walk(one))
    return not any(one.decorator_list or one.keywords for one in order) and not any(n in _SHARED for n in named)


def _name(node: ast.AST) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else node.attr if isinstance(node, ast.Attribute) else ""


def _made_here(ctx: Context, scope: Scope, holder: ast.Name) -> bool:
    """Whether a name holds what a call in the function made, and only its attributes are asked for there, methods to be
    called at once."""
    m = ctx.m
    if m.binding_scope(holder.id, m.scope(holder)) is not scope or len(m.bindings(holder.id, scope)) != 1:
        return False
    for one in (n for n in m.named(holder.id) if m.binding_scope(n.id, m.scope(n)) is scope):
        above = m.parent[one]
        if m.function(one) is not scope:
            return False
        if isinstance(one.ctx, ast.Store):
            if not (isinstance(above, ast.Assign) and isinstance(above.value, ast.Call) and above.targets == [one]):
                return False
        elif not isinstance(above, ast.Attribute):
            return False
        else:
            call = m.parent[above]
            called = isinstance(call, ast.Call) and call.func is above
            if not called and any(obj.kind in ("method", "function") for obj in ctx.v.of(above)):
                return False
    return True


def _made_with(ctx: Context, classes: set[object], optimizer: Obj) -> bool:
    """Whether an optimizer is made by a method of one of several classes, for its object alone."""
    m, key = ctx.m, optimizer.key
    if optimizer.kind != "call" or not isinstance(key, ast.Call):
        return False
    scope, stmt = m.function(key), m.statement(key)
    mine = any(m.class_of(scope) in ctx.v.order(cls) for cls in classes if isinstance(cls, ast.ClassDef))
    if not mine or not isinstance(stmt, ast.Assign) or stmt.value is not key:
        return False
    for target in stmt.targets:
        match target:
            case ast.Name(id=name):
                if m.binding_scope(name, m.scope(target)) is not scope:
                    return False
            case ast.Attribute(value=ast.Name(id=name)):
                if name != m.self_name(scope):
                    return False
            case _:
                return False
    return True
