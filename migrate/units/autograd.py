"""The file's own ``autograd.Function`` classes, and which of them autocast has to be told about."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

from ..facts.names import called_name, last_name
from ..facts.networks import names_elsewhere
from ..facts.once import once
from ..knowledge.apex import CASTS
from ..knowledge.operations import BACKWARD_PRODUCTS
from ..nodes import positional_parameters, walk
from .unit import Context

_FUNCTIONS = frozenset("Function InplaceFunction NestedIOFunction".split())  # torch's
_CASTS = CASTS | {"custom_fwd", "custom_bwd", "autocast"}
_RUNS = re.compile("forward|backward|inverse|reverse|run|call|apply")
_PASSING = frozenset("reversed enumerate zip list".split())
# What torch's own context of a function can be asked.
_OF_THE_CONTEXT = frozenset(
    "save_for_backward mark_dirty mark_non_differentiable set_materialize_grads needs_input_grad saved_tensors "
    "save_for_forward maybe_clear_saved_tensors".split()
)


@dataclass(frozen=True, eq=False)
class Uncast:
    """The two methods of an autograd function that computes products in its backward and says nothing of casts.
    ``marked``: the decorators may tell each other by what both are handed first."""

    forward: ast.FunctionDef
    backward: ast.FunctionDef
    marked: bool


@once
def uncast_functions(ctx: Context) -> list[Uncast]:
    """Those of the program's own autograd functions, whichever class of theirs has the methods."""
    found: list[Uncast] = []
    for cls in ctx.m.all(ast.ClassDef):
        if not any(last_name(base) in _FUNCTIONS for one in ctx.v.order(cls) for base in one.bases):
            continue
        forward, backward = _method(ctx, cls, "forward"), _method(ctx, cls, "backward")
        if forward is None or backward is None or _says_casts(forward) or _says_casts(backward):
            continue
        if multiplies(ctx, backward) or _runs_what_it_kept(backward):
            alike = _of_class(forward) is _of_class(backward)
            found.append(Uncast(forward, backward, alike and _method(ctx, cls, "setup_context") is None))
    return found


def _method(ctx: Context, cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    method = ctx.v.inherited(cls, name)
    return method if isinstance(method, ast.FunctionDef) else None


def _of_class(node: ast.FunctionDef) -> bool:
    """Whether a method is handed its class first, ahead of torch's context."""
    return any(last_name(decorator) == "classmethod" for decorator in node.decorator_list)


def _says_casts(node: ast.FunctionDef) -> bool:
    """Whether a decorator says how a method runs."""
    return any(called_name(one) in _CASTS or last_name(one) in _CASTS for one in node.decorator_list)


def multiplies(ctx: Context, function: ast.AST, depth: int = 3) -> bool:
    """Whether a function that runs in the backward pass computes products, itself or in the program's functions."""
    for node in walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return True
        if isinstance(node, ast.Call):
            elsewhere = ctx.facts.elsewhere.multiplying
            if called_name(node) in BACKWARD_PRODUCTS or (elsewhere and elsewhere & names_elsewhere(ctx.v, node)):
                return True
            runs = (*ctx.v.callees(node), *_applied(ctx, node)) if depth else ()
            if any(multiplies(ctx, function, depth - 1) for function in runs):
                return True
    return False


def _applied(ctx: Context, call: ast.Call) -> list[ast.FunctionDef]:
    """The ``forward`` that ``Function.apply`` runs."""
    match call.func:
        case ast.Attribute(value=owner, attr="apply"):
            classes = (one.key for one in ctx.v.of(owner) if one.kind == "class" and isinstance(one.key, ast.ClassDef))
            return [found for cls in classes if (found := _method(ctx, cls, "forward")) is not None]
        case _:
            return []


def _runs_what_it_kept(backward: ast.FunctionDef) -> bool:
    """Whether a backward calls what its forward put aside, ``ctx.module(grad)``, or a method of it that runs a network:
    ``for block in ctx.blocks: x, g = block.backward_pass(x, g)``."""
    names = positional_parameters(backward)
    first = names[1 if _of_class(backward) else 0 :][:1]
    kept = {name for node in walk(backward) for name in _given(node, first)}
    for node in walk(backward):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in kept:
                return True
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                of_it = _is_kept(owner, first) or (isinstance(owner, ast.Name) and owner.id in kept)
                if _is_kept(node.func, first) or (of_it and _RUNS.search(name)):
                    return True
    return False


def _is_kept(expr: ast.AST, context: Collection[str]) -> bool:
    """``ctx.module``, or an item of ``ctx.blocks``."""
    while isinstance(expr, ast.Subscript):
        expr = expr.value
    match expr:
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return owner in context and name not in _OF_THE_CONTEXT
        case _:
            return False


def _given(node: ast.AST, context: Collection[str]) -> list[str]:
    """The names that a statement gives what the forward put aside."""
    match node:
        case ast.Assign(targets=[target], value=value) | ast.For(target=target, iter=value):
            around = value.args if isinstance(value, ast.Call) and called_name(value) in _PASSING else [value]
            return [n.id for n in walk(target) if isinstance(n, ast.Name)] if any(
                _is_kept(one, context) for one in around
            ) else []
        case _:
            return []
