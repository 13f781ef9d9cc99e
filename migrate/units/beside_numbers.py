"""Half tensors that are computed with a float32 number, a tensor without dimensions: O1 made float32 of both, torch
gives the result the half type.

Source: apex/amp/wrap.py at tag 25.05 (``promote``); torch's rules of promotion.
"""

from __future__ import annotations

import ast

from ..facts.names import called_name
from ..facts.usual_names import dotted
from ..flow.objects import Obj
from ..flow.values import Values
from ..knowledge import operations
from .dimensions import LISTS, arithmetic_of, dimensions, is_created, is_reduced
from .operands import PROMOTING, TORCH

PROMOTING_CALLS = frozenset("add sub mul div multiply divide true_divide subtract".split())
_PARAMETERS = LISTS | {"Parameter"}
_OF_NUMBERS = operations.OF_NUMBERS | {"rsqrt"}
_WIDE_REDUCTIONS = frozenset("sum norm std var prod".split())  # which are float32 whatever they are asked of


def beside_number(v: Values, node: ast.BinOp | ast.Call) -> ast.expr | None:
    """The operand of ``x * scale``, or ``x.mul(scale)``, whose other one is a float32 tensor without dimensions: O1
    made float32 of both, torch gives the result the operand's own type."""
    if (sides := _sides(node)) is None:
        return None
    made = [side for side in sides if isinstance(side, ast.Call) and is_created(side)]
    numbers = [side not in made and dimensions(v, side) == 0 for side in sides]
    if all(numbers) or not any(numbers):
        return None
    operand = sides[1] if numbers[0] else sides[0]
    written = operand.operand if isinstance(operand, ast.UnaryOp) else operand
    return None if isinstance(written, ast.Constant) or is_reduced(operand) else operand  # two numbers are promoted


def _sides(node: ast.BinOp | ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The operands of an operation that O1 gave the wider of their types."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, PROMOTING):
            return left, right
        case ast.Call(func=ast.Attribute(attr=name, value=value), args=[one, *rest]) if name in PROMOTING_CALLS:
            if dotted(value) not in TORCH:
                return value, one
            return (one, rest[0]) if rest else None
        case _:
            return None


def beside_own_number(node: ast.BinOp) -> ast.expr | None:
    """The operand of ``h / h.norm()``, whose other one is a number that O1 computed of it in float32."""
    if not isinstance(node.op, PROMOTING):
        return None
    return node.left if _reduces(node.right, node.left) else node.right if _reduces(node.left, node.right) else None


def _reduces(number: ast.expr, operand: ast.expr) -> bool:
    """Whether one side is a number that was computed of the other one: ``h / h.norm()``, ``(h - m) / (h.std() + eps)``,
    ``h * torch.rsqrt(h.pow(2).mean() + eps)``. What is divided by a number of something else, a loss mostly, is float32
    already."""
    match number:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args, keywords=[]):
            inner = args[0] if len(args) == 1 and dotted(value) in TORCH else value if not args else None
            return inner is not None and (
                _reduction(name, inner, operand) or (name in _OF_NUMBERS and _reduces(inner, operand))
            )
        case ast.BinOp(left=inner, right=ast.Constant()) | ast.BinOp(left=ast.Constant(), right=inner):
            return _reduces(inner, operand)
        case _:
            return False


def _reduction(name: str, reduced: ast.expr, operand: ast.expr) -> bool:
    """Whether something of the operand is reduced to one float32 number: of what was half, a mean is half."""
    inside = list(ast.walk(reduced))
    names = {one.id for one in inside if isinstance(one, ast.Name)}
    powers = any(isinstance(one, ast.Pow) or (isinstance(one, ast.Attribute) and one.attr == "pow") for one in inside)
    of_it = any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(operand))
    return of_it and (name in _WIDE_REDUCTIONS or (name == "mean" and powers))


def beside_trained_number(v: Values, node: ast.BinOp) -> ast.expr | None:
    """The same where the other one is trained, as its gradient is a sum over all that it was multiplied with, or is
    computed of the operand."""
    if not isinstance(node.op, (ast.Mult, ast.Div)):
        return None
    if (own := beside_own_number(node)) is not None:
        return own
    operand = beside_number(v, node)
    trained = operand is not None and _trained(v, node.left if operand is node.right else node.right, frozenset())
    return operand if trained else None


def _trained(v: Values, expr: ast.expr, met: frozenset[ast.expr]) -> bool:
    if expr in met:
        return False
    met |= {expr}
    match expr:
        case ast.Name() if (given := arithmetic_of(v, expr)) is not None:
            return _trained(v, given, met)
        case ast.Name() | ast.Attribute():
            return any(isinstance(made := _made(o), ast.Call) and _trained(v, made, met) for o in v.of(expr))
        case ast.BinOp(left=left, right=right):
            return _trained(v, left, met) or _trained(v, right, met)
        case ast.UnaryOp(operand=inner):
            return _trained(v, inner, met)
        case ast.Subscript(value=whole):
            return _trained(v, whole, met)
        case ast.Call(func=func, args=args):
            of = [func.value] if isinstance(func, ast.Attribute) else []
            return called_name(expr) in _PARAMETERS or any(_trained(v, one, met) for one in [*of, *args[:1]])
    return False


def _made(obj: Obj) -> object:
    """The call that made what an object is, or is an item of."""
    while obj.kind == "path" and isinstance(obj.key, tuple) and isinstance(obj.key[0], Obj):
        obj = obj.key[0]
    return obj.key
