"""Apex's cast decorators and registrations: which of them have a counterpart of autocast's own."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeGuard

from ..facts.module import Module
from ..facts.names import called_name, last_name
from ..facts.usual_names import dotted, home
from ..knowledge.apex import CASTS, REGISTRATIONS
from ..knowledge.operations import NATIVE_FLOAT, NATIVE_HALF, NATIVE_PROMOTE
from ..nodes import walk
from .public import listed
from .registered_apply import applied
from .unit import Context
from .unmarked import is_row, may_take_none, torn


def casts_only(ctx: Context) -> bool:
    """Whether every use of amp in a file is a cast, or the registration of one, that has a counterpart."""
    uses = {use: dotted for use, dotted in ctx.facts.uses.items() if dotted.startswith("apex.amp.")}
    return bool(uses) and all(
        (tail := dotted.split(".")[-1]) in CASTS | REGISTRATIONS and resolved(ctx, use, tail)
        for use, dotted in uses.items()
    )


def _decorates(use: ast.expr, above: ast.AST) -> bool:
    return isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and use in above.decorator_list


def another_name(ctx: Context, use: ast.expr) -> ast.Assign | None:
    """``float_function = amp.float_function``: the statement, where all who read the name decorate or wrap something
    that `resolved` knows, or call it to switch casts off. A second value of the name has to stand for a missing Apex:
    in a handler of the try around it, in the other arm of an ``if``, or of a choice."""
    m, given = ctx.m, use
    if isinstance(choice := m.parent[use], ast.IfExp):
        there = ctx.conditions.constant(choice.test)
        given = choice if (there is True and choice.body is use) or (there is False and choice.orelse is use) else use
    stmt = m.parent[given]
    match stmt:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if value is given:
            home = m.binding_scope(name, m.scope(target))
        case _:
            return None
    others = [n for n in m.bindings(name, home) if n is not target]
    others += [n for n in m.declared(name) if home is not None and m.scope(n) is home]  # type: ignore[misc]
    if home is None or any(c.original == name and c.source is home for c in m.copied):
        return None
    if ctx.exported(stmt) & {name, "*"} or listed(ctx, home, name) or not all(_stands_in(m, stmt, n) for n in others):
        return None
    tail = ctx.facts.uses[use].split(".")[-1]
    reads = m.loads(name, home)
    alike = all(ctx.facts.uses.get(n) == ctx.facts.uses[use] and resolved(ctx, n, tail) for n in reads)
    if tail == "disable_casts":
        alike = alike and all(isinstance(call := m.parent[n], ast.Call) and call.func is n for n in reads)
    return stmt if reads and alike else None


def _stands_in(m: Module, stmt: ast.stmt, node: ast.AST) -> bool:
    """Whether a node runs where a statement could not: in a handler of its try, in the other arm of its ``if``."""
    holder = m.parent[stmt]
    other: Sequence[ast.AST] = ()
    if isinstance(holder, ast.Try) and stmt in holder.body:
        other = holder.handlers
    elif isinstance(holder, ast.If):
        other = holder.orelse if stmt in holder.body else holder.body
    return any(m.inside(node, one) for one in other)


def of_a_backward(ctx: Context, use: ast.expr) -> bool:
    """Whether a cast decorates the ``backward`` of an autograd function whose ``forward`` has the same one: that has
    switched autocast off for both, and gradients have the type of what it hands back."""
    m = ctx.m
    function = m.parent[use]
    cls = m.parent.get(function)
    named = isinstance(function, ast.FunctionDef) and function.name == "backward"
    if not named or not isinstance(cls, ast.ClassDef) or not _decorates(use, function):
        return False
    tail = ctx.facts.uses[use].split(".")[-1]
    forwards = [s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "forward"]
    said = [ctx.facts.uses.get(d, "") for one in forwards for d in one.decorator_list]
    return any(last_name(base) == "Function" for base in cls.bases) and any(
        d.startswith("apex.amp.") and d.split(".")[-1] == tail for d in said
    )


def wraps_extension(ctx: Context, use: ast.expr) -> bool:
    """``nms = amp.float_function(_C.nms)``: a function of an imported module, called with tensors; or one of a file
    that takes its first argument for a tensor."""
    call = ctx.m.parent[use]
    if not (isinstance(call, ast.Call) and call.func is use and len(call.args) == 1 and not call.keywords):
        return False
    wrapped, above = call.args[0], ctx.m.parent[call]
    if not isinstance(above, ast.Assign) or not all(isinstance(target, ast.Name) for target in above.targets):
        return False
    names = {target.id for target in above.targets if isinstance(target, ast.Name)}
    calls = [c for c in ctx.m.all(ast.Call) if last_name(c.func) in names]
    if any(c.args and (may_take_none(ctx, c.args[0]) or any(torn(ctx, arg) for arg in c.args)) for c in calls):
        return False
    if isinstance(wrapped, ast.Attribute):
        return isinstance(wrapped.value, ast.Name) and any(
            isinstance(one, ast.alias) for one in ctx.m.declared(wrapped.value.id)
        )
    functions = [f for f in ctx.m.declared(wrapped.id) if isinstance(f, ast.FunctionDef)] if _is_name(wrapped) else []
    return (
        bool(functions)
        and all(_takes_a_tensor(f) and not _casts_inside(ctx, f, ctx.facts.uses[use].split(".")[-1]) for f in functions)
        and all(c.args for c in calls)
    )


def _is_name(expr: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(expr, ast.Name)


def _takes_a_tensor(function: ast.FunctionDef) -> bool:
    """Whether a function slices its first parameter as only a tensor can be, ``boxes[:, :2]``, or hands it on first to
    a function of ``torch.nn.functional``."""
    first = function.args.args[0].arg if function.args.args else ""
    return any(_of_tensors(n, first) for n in walk(function))


def _of_tensors(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Subscript(value=ast.Name(id=sliced), slice=ast.Tuple()):
            return sliced == name
        case ast.Call(func=func, args=[ast.Name(id=given), *_]):
            return given == name and home(func) in ("F", "functional")
        case _:
            return False


def _casts_inside(ctx: Context, function: ast.FunctionDef | ast.AsyncFunctionDef, tail: str | None) -> bool:
    """Whether O1 cast what a function does inside, where ``custom_fwd`` switches autocast off.

    Products ran in half, also in a float function; natively they are float32. In a half function O1's float operations
    ran in float32, and weights of its own are float32, which a half tensor cannot be multiplied with."""
    half = tail == "half_function"
    own = ctx.m.self_name(ctx.m.scope_of[function])
    family = ctx.m.parent[function]
    methods = {n.name for n in getattr(family, "body", []) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    for node in (n for stmt in function.body for n in walk(stmt)):
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        if isinstance(node, ast.Call):
            name, said = called_name(node), node.func
            if isinstance(said, ast.Attribute) and _is_name(said.value) and said.value.id == own:
                if said.attr not in methods:
                    return True  # a module
                continue
            product = name in NATIVE_HALF
            if half and name in NATIVE_FLOAT:
                return True
        if product and (not half or any(_is_name(n) and n.id == own for n in walk(node))):
            return True
    return False


def resolved(ctx: Context, use: ast.expr, tail: str) -> bool:
    """Whether autocast's own can stand for a use: a decorator of a method, or a registration that autocast knows.

    ``custom_fwd`` marks its first argument, which takes no attribute if it is a number or a list."""
    above = ctx.m.parent[use]
    if tail in ("float_function", "half_function"):
        if wraps_extension(ctx, use) or another_name(ctx, use) is not None:
            return True
        if not _decorates(use, above):
            return False
        if _casts_inside(ctx, above, tail):  # type: ignore[arg-type]
            return False
        first = above.args.args[0].arg if above.args.args else ""  # type: ignore[attr-defined]
        if first == "ctx":
            return True
        calls, cls = ctx.v.calls[above], ctx.m.class_of(ctx.m.scope_of[above])
        handed = (arg for c in calls for arg in (*c.args, *(k.value for k in c.keywords)))
        if (cls is not None and is_row(ctx, cls)) or any(torn(ctx, arg) for arg in handed):
            return False
        plain = bool(calls) and all(c.args and not may_take_none(ctx, c.args[0]) for c in calls)
        if not calls:  # whoever calls it is not read here
            plain = _takes_a_tensor(above)  # type: ignore[arg-type]
        return plain or ctx.m.self_name(ctx.m.scope_of[above]) is not None
    if tail in REGISTRATIONS:
        stands = isinstance(above, ast.Call) and isinstance(ctx.m.parent[above], ast.Expr)
        return stands and (known(above, tail) or applied(ctx, above, tail) is not None)  # type: ignore[arg-type]
    return True


def known(call: ast.Call, tail: str) -> bool:
    """Whether a registration names a torch function that autocast lists the same way."""
    if len(call.args) != 2 or not isinstance(call.args[1], ast.Constant):
        return False
    if dotted(call.args[0]).rpartition(".")[2] not in ("torch", "F", "functional", "Tensor"):
        return False
    name = call.args[1].value
    kinds = {"register_half_function": NATIVE_HALF, "register_promote_function": NATIVE_PROMOTE}
    return name in kinds.get(tail, NATIVE_FLOAT)
