"""The file's own ``autograd.Function`` classes, and which of them autocast has to be told about."""

from __future__ import annotations

import ast

from ..facts.names import called_name, last_name
from ..knowledge.operations import BACKWARD_PRODUCTS
from .unit import Context


def uncast_functions(ctx: Context) -> list[tuple[ast.FunctionDef, ast.FunctionDef]]:
    """Forward and backward of each function that computes products in its backward and says nothing of casts."""
    found = []
    for node in ctx.m.all(ast.ClassDef):
        if not any(_is_function(b) for b in node.bases):
            continue
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        forward, backward = methods.get("forward"), methods.get("backward")
        if forward is None or backward is None or not _multiplies(backward):
            continue
        if _plain(forward) and _plain(backward):
            found.append((forward, backward))
    return found


def _is_function(base: ast.expr) -> bool:
    return last_name(base) == "Function"


def _plain(node: ast.FunctionDef) -> bool:
    """Whether a method has no decorator but ``staticmethod``: a cast decorator says how it runs."""
    return [getattr(d, "id", "") for d in node.decorator_list] == ["staticmethod"]


def _multiplies(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return True
        if isinstance(node, ast.Call):
            if called_name(node) in BACKWARD_PRODUCTS:
                return True
    return False
