"""The file's own ``autograd.Function`` classes, and which of them autocast has to be told about."""

from __future__ import annotations

import ast

from ..facts.names import called_name, last_name
from ..facts.networks import names_elsewhere
from ..facts.once import once
from ..knowledge.operations import BACKWARD_PRODUCTS
from ..nodes import walk
from .unit import Context

# What torch's own context of a function can be asked.
_OF_THE_CONTEXT = frozenset(
    "save_for_backward mark_dirty mark_non_differentiable set_materialize_grads needs_input_grad saved_tensors "
    "save_for_forward maybe_clear_saved_tensors".split()
)


@once
def uncast_functions(ctx: Context) -> list[tuple[ast.FunctionDef, ast.FunctionDef]]:
    """Forward and backward of each function that computes products in its backward and says nothing of casts."""
    found = []
    for node in ctx.m.all(ast.ClassDef):
        if not any(_is_function(b) for b in node.bases):
            continue
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        forward, backward = methods.get("forward"), methods.get("backward")
        if forward is None or backward is None:
            continue
        if not multiplies(ctx, backward) and not _runs_what_it_kept(backward):
            continue
        if _plain(forward) and _plain(backward):
            found.append((forward, backward))
    return found


def _is_function(base: ast.expr) -> bool:
    return last_name(base) == "Function"


def _plain(node: ast.FunctionDef) -> bool:
    """Whether a method has no decorator but ``staticmethod``: a cast decorator says how it runs."""
    return [getattr(d, "id", "") for d in node.decorator_list] == ["staticmethod"]


def multiplies(ctx: Context, function: ast.AST, depth: int = 3) -> bool:
    """Whether a function that runs in the backward pass computes products, itself or in the program's functions."""
    for node in walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return True
        if isinstance(node, ast.Call):
            elsewhere = ctx.facts.elsewhere.multiplying
            if called_name(node) in BACKWARD_PRODUCTS or (elsewhere and elsewhere & names_elsewhere(ctx.v, node)):
                return True
            if depth and any(multiplies(ctx, callee, depth - 1) for callee in ctx.v.callees(node)):
                return True
    return False


def _runs_what_it_kept(backward: ast.FunctionDef) -> bool:
    """Whether a backward calls what its forward put aside: ``ctx.module(grad)``."""
    first = backward.args.args[0].arg if backward.args.args else ""
    for node in walk(backward):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
                if owner == first and name not in _OF_THE_CONTEXT:
                    return True
    return False
