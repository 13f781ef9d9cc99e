"""How many dimensions a float32 tensor has, as far as it is written: one without any makes no half tensor float32.

Source: torch's rules of promotion, in which a tensor without dimensions counts for less.
"""

from __future__ import annotations

import ast

from ..facts.names import called_name
from ..facts.usual_names import dotted
from ..flow.objects import ELEMENT_KEY, Obj
from ..flow.values import Values
from ..knowledge import operations
from .operands import FUNCTIONAL, TORCH

LISTS = frozenset({"ParameterList", "ParameterDict"})
REDUCTIONS = frozenset("sum mean norm std var prod max min".split())
_MODULES = frozenset(TORCH) | FUNCTIONAL
_OF_EACH = operations.OF_NUMBERS | frozenset("softmax log_softmax gumbel_softmax relu unbind".split())
_SHAPED = operations.CREATE - {"eye", "linspace"}  # which are handed how many there are in each dimension
_MAX_STEPS = 40  # from a name to what it was given, and so on


class _Known(dict[ast.expr, "int | None"]):
    """What is known of a module's expressions already, and None of those that are being asked."""


def dimensions(v: Values, expr: ast.expr, steps: int = _MAX_STEPS) -> int | None:
    """How many dimensions a float32 tensor has, where that is written: none has ``self.scale.exp()`` of a
    ``nn.Parameter(torch.tensor(8.0))``, and an item of ``softmax(self.alphas)`` of ``nn.Parameter(torch.zeros(3))``."""
    known: _Known = v.m.kept.setdefault(_Known, _Known())
    if expr not in known:
        known[expr] = None  # made of itself: x = x.exp()
        known[expr] = _counted(v, expr, steps - 1) if steps else None
    return known[expr]


def _counted(v: Values, expr: ast.expr, steps: int) -> int | None:
    match expr:
        case ast.Name() | ast.Attribute():
            each = {_of_object(v, o, steps) for o in v.in_order(v.of(expr))}
            if each <= {None} and isinstance(expr, ast.Attribute):
                each = {dimensions(v, one, steps) for one in _buffers(v, expr.attr)}
            if each <= {None} and isinstance(expr, ast.Name) and (given := arithmetic_of(v, expr)) is not None:
                return dimensions(v, given, steps)
            return each.pop() if len(each) == 1 else None
        case ast.Subscript(value=whole, slice=ast.Constant(value=int() | str()) | ast.Name() | ast.BinOp()):
            return _item_of(dimensions(v, whole, steps))
        case ast.Call() if is_created(expr):
            return 0
        case ast.Call(args=[first, *_]) if called_name(expr) == "Parameter":
            return dimensions(v, first, steps)
        case ast.Call(args=[whole]) if called_name(expr) in LISTS:
            inner = dimensions(v, one, steps) if (one := _first_of(whole)) is not None else None
            return None if inner is None else inner + 1
        case ast.Call(args=[ast.List(elts=[first, *_])]) if called_name(expr) == "tensor" and no_integer(first):
            return 1 if not any(k.arg == "dtype" for k in expr.keywords) else None
        case ast.Call(func=ast.Attribute(attr=name, value=value), args=args) if dotted(value) in _MODULES:
            if name in _SHAPED and not any(k.arg == "dtype" for k in expr.keywords):
                return _written(args)
            if name in REDUCTIONS and len(args) == 1 and not expr.keywords and _is_float32(v, args[0], steps):
                return 0
            return dimensions(v, args[0], steps) if args and name in _OF_EACH else None
        case ast.Call(func=ast.Attribute(attr=name, value=inner), args=args, keywords=keywords):
            if name in REDUCTIONS and not args and not keywords and _is_float32(v, inner, steps):
                return 0
            return dimensions(v, inner, steps) if name in _OF_EACH else None
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            if any(isinstance(one, ast.Call) and is_created(one) for one in (left, right)):
                return 0
            sides = [one for one in (left, right) if not isinstance(one, ast.Constant)]
            counts = [count for one in sides if (count := dimensions(v, one, steps)) is not None]
            if counts and len(counts) < len(sides) and any(map(is_reduced, sides)):
                return max(counts)  # two numbers, of which one is float32
            return max(counts) if counts and len(counts) == len(sides) else None
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return dimensions(v, inner, steps)
        case _:
            return None


def arithmetic_of(v: Values, name: ast.Name) -> ast.expr | None:
    """The arithmetic that a name of a function stands for, where it is given nothing else."""
    home = v.m.binding_scope(name.id, v.m.scope(name))
    if home is None or not home.is_function or name.id in home.params:
        return None
    bound = v.m.bindings(name.id, home)
    match [v.m.parent[one] for one in bound]:
        case [ast.Assign(targets=[ast.Name()], value=ast.BinOp() | ast.UnaryOp() as value)]:
            return value
        case _:
            return None


def is_reduced(expr: ast.expr) -> bool:
    """Whether a tensor was reduced to one number: ``loss.pow(2).mean()``."""
    match expr:
        case ast.Call(func=ast.Attribute(attr=name), args=[], keywords=[]):
            return name in REDUCTIONS
        case _:
            return False


def _is_float32(v: Values, expr: ast.expr, steps: int) -> bool:
    """Whether a tensor is float32, whatever its dimensions: a parameter, or one of a layer."""
    layers = isinstance(expr, ast.Attribute) and expr.attr in ("weight", "bias")
    return layers or dimensions(v, expr, steps) is not None


def _first_of(whole: ast.expr) -> ast.expr | None:
    """What a list or dictionary of parameters is written with first: they are taken to be alike."""
    match whole:
        case ast.List(elts=[one, *_]) | ast.Dict(values=[one, *_]) | ast.ListComp(elt=one) | ast.DictComp(value=one):
            return one
        case _:
            return None


def _buffers(v: Values, name: str) -> list[ast.expr]:
    """What ``register_buffer`` keeps under a name."""
    calls = (call.args for call in v.m.calls("register_buffer") if len(call.args) > 1)
    return [args[1] for args in calls if isinstance(args[0], ast.Constant) and args[0].value == name]


def _of_object(v: Values, obj: Obj, steps: int) -> int | None:
    if obj.kind == "path" and isinstance(obj.key, tuple):
        return _item_of(_of_object(v, obj.key[0], steps)) if obj.key[1] == ELEMENT_KEY or obj.key[1].isdigit() else None
    return dimensions(v, obj.key, steps) if isinstance(obj.key, ast.Call) else None


def _item_of(whole: int | None) -> int | None:
    return whole - 1 if whole else None


def _written(shape: list[ast.expr]) -> int | None:
    """Of ``torch.zeros(2, 3)`` and ``torch.zeros((2, 3))`` two; a name that stands alone is taken for a number."""
    match shape:
        case [ast.List(elts=elts) | ast.Tuple(elts=elts)]:
            return len(elts)
        case _:
            return None if any(isinstance(one, ast.Starred) for one in shape) else len(shape) or None


def is_created(call: ast.Call) -> bool:
    """Whether a call makes a float32 tensor without dimensions: ``torch.tensor(0.07)``, ``torch.ones([])``."""
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
