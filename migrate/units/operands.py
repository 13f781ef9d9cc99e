"""Operands that O1 cast wherever they were computed with: outside of a region nothing casts them natively.

Source: apex/amp/lists at tag 25.05 (FP32_FUNCS, and FP16_FUNCS in place).
"""

from __future__ import annotations

import ast
from collections.abc import Set

from ..facts.names import called_name
from ..facts.usual_names import dotted
from ..flow.values import Values
from ..knowledge import operations

_PROMOTING = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_TORCH = ("torch", "th")
_FUNCTIONAL = frozenset({"F", "nn.functional", "functional", "torch.nn.functional"})


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
    if module in _TORCH and func.attr in operations.O1_FLOAT:
        return call.args[:1]
    if module in _FUNCTIONAL and func.attr in operations.O1_FLOAT_FUNCTIONAL:
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
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[one, other, *_]) if dotted(value) in _TORCH:
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
    return isinstance(op, _PROMOTING)


def beside_number(v: Values, node: ast.BinOp) -> ast.expr | None:
    """The operand of ``x * scale`` whose other one is a float32 tensor without dimensions: O1 made float32 of both,
    torch gives the result the operand's own type."""
    if not isinstance(node.op, _PROMOTING):
        return None
    made = [side for side in (node.left, node.right) if isinstance(side, ast.Call) and _created(side)]
    numbers = [side not in made and _without_dimensions(v, side) for side in (node.left, node.right)]
    return None if all(numbers) or not any(numbers) else node.right if numbers[0] else node.left


def beside_trained_number(v: Values, node: ast.BinOp) -> ast.expr | None:
    """The same where the other one is trained: its gradient is a sum over all that it was multiplied with."""
    operand = beside_number(v, node)
    if operand is None or not isinstance(node.op, (ast.Mult, ast.Div)):
        return None
    return operand if _trained(v, node.left if operand is node.right else node.right, frozenset()) else None


def _trained(v: Values, expr: ast.expr, met: frozenset[ast.expr]) -> bool:
    if expr in met:
        return False
    met |= {expr}
    match expr:
        case ast.Name() | ast.Attribute():
            return any(isinstance(o.key, ast.Call) and _trained(v, o.key, met) for o in v.of(expr))
        case ast.Call(func=func, args=args):
            of = [func.value] if isinstance(func, ast.Attribute) else []
            return called_name(expr) == "Parameter" or any(_trained(v, one, met) for one in [*of, *args[:1]])
    return False


def _without_dimensions(v: Values, expr: ast.expr, met: frozenset[ast.expr] = frozenset()) -> bool:
    """Whether an expression is one: ``self.scale.exp()`` of a ``nn.Parameter(torch.tensor(8.0))``."""
    if expr in met:
        return False  # made of itself: x = x.exp()
    met |= {expr}
    match expr:
        case ast.Name() | ast.Attribute():
            made = [o.key for o in v.of(expr)]
            return bool(made) and all(isinstance(one, ast.Call) and _without_dimensions(v, one, met) for one in made)
        case ast.Call(func=ast.Attribute(attr=name, value=value), args=[first, *_]) if dotted(value) in ("torch", "F"):
            return _created(expr) or (name in operations.OF_NUMBERS and _without_dimensions(v, first, met))
        case ast.Call(func=ast.Attribute(attr=name, value=inner)) if name in operations.OF_NUMBERS:
            return _without_dimensions(v, inner, met)
        case ast.Call(args=[first, *_]) if called_name(expr) == "Parameter":
            return _without_dimensions(v, first, met)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            return any(_created(side) for side in (left, right) if isinstance(side, ast.Call))
        case ast.Call():
            return _created(expr)
        case _:
            return False


def _created(call: ast.Call) -> bool:
    """``torch.tensor(0.07)``, ``torch.ones([])``"""
    if not call.args or any(k.arg == "dtype" for k in call.keywords):
        return False
    first, name = call.args[0], called_name(call)
    if name in ("tensor", "as_tensor"):
        return no_integer(first)
    return name in operations.CREATE and isinstance(first, (ast.List, ast.Tuple)) and not first.elts


def no_integer(node: ast.expr) -> bool:
    """Whether a number that is no integer is written here."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(inner, ast.Call):
        return called_name(inner) in ("float", "log", "sqrt", "exp")
    if isinstance(inner, ast.BinOp):
        return no_integer(inner.left) or no_integer(inner.right) or isinstance(inner.op, ast.Div)
    return isinstance(inner, ast.Constant) and isinstance(inner.value, float)
