"""Operands that O1 cast wherever they were computed with: outside of a region nothing casts them natively.

Source: apex/amp/lists at tag 25.05 (FP32_FUNCS, and FP16_FUNCS in place).
"""

from __future__ import annotations

import ast

from ..knowledge import operations

_FUNCTIONAL = frozenset({"F", "nn.functional", "functional", "torch.nn.functional"})


def to_float(call: ast.Call, receiver: bool) -> list[ast.expr]:
    """The operands that O1 turned into float32. ``receiver``: the call is a method of a tensor."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        return []
    if receiver:
        return [func.value] if func.attr in operations.O1_FLOAT else []
    module = ast.unparse(func.value)
    if module in ("torch", "th") and func.attr in operations.O1_FLOAT:
        return call.args[:1]
    if module in _FUNCTIONAL and func.attr in operations.O1_FLOAT_FUNCTIONAL:
        return call.args[:2] if func.attr in operations.O1_PAIRS else call.args[:1]
    return []


def multiplied(node: ast.AST) -> list[ast.expr]:
    """The factors of a matrix product, which have to be of one type natively."""
    match node:
        case ast.BinOp(op=ast.MatMult(), left=left, right=right):
            return [left, right]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "th"), attr=name), args=[one, other, *_]):
            return [one, other] if name in operations.O1_PRODUCTS else []
        case ast.Call(func=ast.Attribute(value=one, attr=name), args=[other, *_]):
            return [one, other] if name in operations.O1_PRODUCTS else []
        case _:
            return []


def in_place(call: ast.Call) -> list[ast.expr]:
    """The factors of a product that is added in place: O1 cast them to the type of what they are added to."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return list(call.args) if name in operations.PRODUCTS_IN_PLACE else []
