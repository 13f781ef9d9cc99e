"""Operands that O1 cast wherever they were computed with: outside of a region nothing casts them natively.

Source: apex/amp/lists at tag 25.05 (FP32_FUNCS, and FP16_FUNCS in place).
"""

from __future__ import annotations

import ast
from collections.abc import Set

from ..facts.names import called_name
from ..facts.usual_names import dotted
from ..flow.objects import ELEMENT_KEY, Obj
from ..flow.values import Values
from ..knowledge import operations

_PROMOTING = (ast.Add, ast.Sub, ast.Mult, ast.Div)
PROMOTING_CALLS = frozenset("add sub mul div multiply divide true_divide subtract".split())
_TORCH = ("torch", "th")
_OF_EACH = operations.OF_NUMBERS | frozenset("softmax log_softmax gumbel_softmax relu unbind".split())
_PARAMETERS = frozenset({"Parameter", "ParameterList", "ParameterDict"})
_OF_NUMBERS = operations.OF_NUMBERS | {"rsqrt"}
_LISTS = frozenset({"ParameterList", "ParameterDict"})
_SHAPED = operations.CREATE - {"eye", "linspace"}  # which are handed how many there are in each dimension
_REDUCTIONS = frozenset("sum mean norm std var prod max min".split())
_WIDE_REDUCTIONS = frozenset("sum norm std var prod".split())  # which are float32 whatever they are asked of
_FUNCTIONAL = frozenset({"F", "nn.functional", "functional", "torch.nn.functional"})
_MAX_STEPS = 40  # from a name to what it was given, and so on
_MODULES = frozenset(_TORCH) | _FUNCTIONAL


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


def beside_number(v: Values, node: ast.BinOp | ast.Call) -> ast.expr | None:
    """The operand of ``x * scale``, or ``x.mul(scale)``, whose other one is a float32 tensor without dimensions: O1
    made float32 of both, torch gives the result the operand's own type."""
    if (sides := _sides(node)) is None:
        return None
    made = [side for side in sides if isinstance(side, ast.Call) and _created(side)]
    numbers = [side not in made and _without_dimensions(v, side) for side in sides]
    if all(numbers) or not any(numbers):
        return None
    operand = sides[1] if numbers[0] else sides[0]
    written = operand.operand if isinstance(operand, ast.UnaryOp) else operand
    return None if isinstance(written, ast.Constant) or _is_number(operand) else operand  # two numbers are promoted


def _is_number(expr: ast.expr) -> bool:
    """Whether a tensor was reduced to one number: ``loss.pow(2).mean()``."""
    match expr:
        case ast.Call(func=ast.Attribute(attr=name), args=[], keywords=[]):
            return name in _REDUCTIONS
        case _:
            return False


def _sides(node: ast.BinOp | ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The operands of an operation that O1 gave the wider of their types."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _PROMOTING):
            return left, right
        case ast.Call(func=ast.Attribute(attr=name, value=value), args=[one, *rest]) if name in PROMOTING_CALLS:
            if dotted(value) not in _TORCH:
                return value, one
            return (one, rest[0]) if rest else None
        case _:
            return None


def beside_own_number(node: ast.BinOp) -> ast.expr | None:
    """The operand of ``h / h.norm()``, whose other one is a number that O1 computed of it in float32."""
    if not isinstance(node.op, _PROMOTING):
        return None
    return node.left if _reduces(node.right, node.left) else node.right if _reduces(node.left, node.right) else None


def _reduces(number: ast.expr, operand: ast.expr) -> bool:
    """Whether one side is a number that was computed of the other one: ``h / h.norm()``, ``(h - m) / (h.std() + eps)``,
    ``h * torch.rsqrt(h.pow(2).mean() + eps)``. What is divided by a number of something else, a loss mostly, is float32
    already."""
    match number:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args, keywords=[]):
            inner = args[0] if len(args) == 1 and dotted(value) in _TORCH else value if not args else None
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
        case ast.Name() | ast.Attribute():
            return any(isinstance(made := _made(o), ast.Call) and _trained(v, made, met) for o in v.of(expr))
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


def _without_dimensions(v: Values, expr: ast.expr) -> bool:
    return _dimensions(v, expr) == 0


class _Dimensions(dict[ast.expr, "int | None"]):
    """What is known of a module's expressions already, and None of those that are being asked."""


def _dimensions(v: Values, expr: ast.expr, steps: int = _MAX_STEPS) -> int | None:
    """How many dimensions a float32 tensor has, where that is written: none has ``self.scale.exp()`` of a
    ``nn.Parameter(torch.tensor(8.0))``, and an item of ``softmax(self.alphas)`` of ``nn.Parameter(torch.zeros(3))``."""
    known: _Dimensions = v.m.kept.setdefault(_Dimensions, _Dimensions())
    if expr not in known:
        known[expr] = None  # made of itself: x = x.exp()
        known[expr] = _counted(v, expr, steps - 1) if steps else None
    return known[expr]


def _counted(v: Values, expr: ast.expr, steps: int) -> int | None:
    match expr:
        case ast.Name() | ast.Attribute():
            each = {_of_object(v, o, steps) for o in v.in_order(v.of(expr))}
            if each <= {None} and isinstance(expr, ast.Attribute):
                each = {_dimensions(v, one, steps) for one in _buffers(v, expr.attr)}
            return each.pop() if len(each) == 1 else None
        case ast.Subscript(value=whole, slice=ast.Constant(value=int() | str()) | ast.Name() | ast.BinOp()):
            return _item_of(_dimensions(v, whole, steps))
        case ast.Call() if _created(expr):
            return 0
        case ast.Call(args=[first, *_]) if called_name(expr) == "Parameter":
            return _dimensions(v, first, steps)
        case ast.Call(args=[ast.List(elts=[first, *_]) | ast.Dict(values=[first, *_])]) if called_name(expr) in _LISTS:
            inner = _dimensions(v, first, steps)
            return None if inner is None else inner + 1
        case ast.Call(args=[ast.ListComp(elt=one) | ast.DictComp(value=one)]) if called_name(expr) in _LISTS:
            inner = _dimensions(v, one, steps)
            return None if inner is None else inner + 1
        case ast.Call(args=[ast.List(elts=[first, *_])]) if called_name(expr) == "tensor" and no_integer(first):
            return 1 if not any(k.arg == "dtype" for k in expr.keywords) else None
        case ast.Call(func=ast.Attribute(attr=name, value=value), args=args) if dotted(value) in _MODULES:
            if name in _SHAPED and not any(k.arg == "dtype" for k in expr.keywords):
                return _written(args)
            if name in _REDUCTIONS and len(args) == 1 and not expr.keywords and _has_dimensions(v, args[0], steps):
                return 0
            return _dimensions(v, args[0], steps) if args and name in _OF_EACH else None
        case ast.Call(func=ast.Attribute(attr=name, value=inner), args=args, keywords=keywords):
            if name in _REDUCTIONS and not args and not keywords and _has_dimensions(v, inner, steps):
                return 0
            return _dimensions(v, inner, steps) if name in _OF_EACH else None
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            if any(isinstance(one, ast.Call) and _created(one) for one in (left, right)):
                return 0
            sides = [one for one in (left, right) if not isinstance(one, ast.Constant)]
            known = [found for one in sides if (found := _dimensions(v, one, steps)) is not None]
            return max(known) if known and len(known) == len(sides) else None
        case _:
            return None


def _has_dimensions(v: Values, expr: ast.expr, steps: int) -> bool:
    """Whether a tensor is float32, whatever its dimensions: a parameter, or one of a layer."""
    layers = isinstance(expr, ast.Attribute) and expr.attr in ("weight", "bias")
    return layers or _dimensions(v, expr, steps) is not None


def _buffers(v: Values, name: str) -> list[ast.expr]:
    """What ``register_buffer`` keeps under a name."""
    calls = (call.args for call in v.m.calls("register_buffer") if len(call.args) > 1)
    return [args[1] for args in calls if isinstance(args[0], ast.Constant) and args[0].value == name]


def _of_object(v: Values, obj: Obj, steps: int) -> int | None:
    if obj.kind == "path" and isinstance(obj.key, tuple):
        return _item_of(_of_object(v, obj.key[0], steps)) if obj.key[1] == ELEMENT_KEY or obj.key[1].isdigit() else None
    return _dimensions(v, obj.key, steps) if isinstance(obj.key, ast.Call) else None


def _item_of(dimensions: int | None) -> int | None:
    return dimensions - 1 if dimensions else None


def _written(shape: list[ast.expr]) -> int | None:
    """Of ``torch.zeros(2, 3)`` and ``torch.zeros((2, 3))`` two; a name that stands alone is taken for a number."""
    match shape:
        case [ast.List(elts=elts) | ast.Tuple(elts=elts)]:
            return len(elts)
        case _:
            return None if any(isinstance(one, ast.Starred) for one in shape) else len(shape) or None


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
