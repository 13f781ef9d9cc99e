"""Operands that O1 cast wherever they were computed with: outside of a region nothing casts them natively.

Source: apex/amp/lists at tag 25.05 (FP32_FUNCS, and FP16_FUNCS in place).
"""

from __future__ import annotations

import ast
from collections.abc import Set

from ..facts.names import called_name
from ..facts.usual_names import dotted
from ..knowledge import operations

PROMOTING = (ast.Add, ast.Sub, ast.Mult, ast.Div)
TORCH = ("torch", "th")
FUNCTIONAL = frozenset({"F", "nn.functional", "functional", "torch.nn.functional"})


def to_float(call: ast.Call, receiver: bool, layer: str = "") -> list[ast.expr]:
    """The operands that O1 turned into float32. ``receiver``: the call is a method of a tensor; ``layer`` is what torch
    calls the module that is called."""
    func = call.func
    if layer in operations.O1_FLOAT_LAYERS:
        return call.args
    if not isinstance(func, ast.Attribute):
        return []
    if receiver:
        return [func.value] if func.attr in operations.O1_FLOAT else []
    module = dotted(func.value)
    if module in TORCH and func.attr in operations.O1_FLOAT:
        return call.args[:1]
    if module in FUNCTIONAL and func.attr in operations.O1_FLOAT_FUNCTIONAL:
        several = 2 if func.attr in operations.O1_PAIRS else 1
        named = [k.value for k in call.keywords if k.arg in ("input", "target", "x1", "x2")[: 2 * several]]
        return (call.args[:several] + named)[:several]
    return []


def takes_floats(node: ast.expr) -> bool:
    """Whether a function makes float32 of integers, or takes none."""
    return isinstance(node, ast.Call) and called_name(node) in operations.NO_INTEGERS


def multiplied(node: ast.AST, names: Set[str] = operations.O1_PRODUCTS) -> list[ast.expr]:
    """The factors of a matrix product, which have to be of one type natively."""
    match node:
        case ast.BinOp(op=ast.MatMult(), left=left, right=right):
            return [left, right]
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[one, other, *_]) if dotted(value) in TORCH:
            return [one, other] if name in names else []
        case ast.Call(func=ast.Attribute(value=one, attr=name), args=[other, *_]):
            return [one, other] if name in names else []
        case _:
            return []


def in_place(call: ast.Call) -> list[ast.expr]:
    """The factors of a product that is added in place: O1 cast them to the type of what they are added to."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return list(call.args) if name in operations.PRODUCTS_IN_PLACE else []


def stays(op: ast.operator) -> bool:
    """Whether ``x += y`` keeps the type of a tensor ``x``, where O1 made a new one of the wider type."""
    return isinstance(op, PROMOTING)
