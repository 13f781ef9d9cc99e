"""Which calls make float64: O1 cast it as it did any floating type, autocast leaves it alone.

Source: apex/amp/utils.py (`maybe_half`, `maybe_float`) at tag 25.05; `is_eligible` of torch's autocast_mode.h.
"""

from __future__ import annotations

import ast
import re

from ..facts.names import called_name
from ..flow.values import Values
from ..knowledge.operations import FROM_NUMPY, NUMPY_DOUBLES, NUMPY_SAME

_DOUBLE = re.compile(r"(torch|th|np|numpy)\.(float64|double|float_)|['\"](float64|double)['\"]|float64|float")
_BY_NAME = frozenset({"DoubleTensor"})
_GENERATORS = frozenset({"RandomState", "default_rng"})


def made_double(v: Values, call: ast.Call, operands: list[bool]) -> bool | None:
    """Whether what a call gives is float64, where it says so; None where it does not. ``operands``: which of the
    tensors and arrays that it is of are float64, first that in front of the dot."""
    name, func = called_name(call), call.func
    named = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    if named is not None:
        return _says_double(named)
    if name in _BY_NAME or (name == "double" and isinstance(func, ast.Attribute) and not call.args):
        return True
    if name in ("to", "type", "astype") and call.args and isinstance(func, ast.Attribute):
        said = [_says_double(arg) for arg in call.args]
        return True if any(said) else False if name == "astype" else None
    if name in ("float", "half", "bfloat16") and isinstance(func, ast.Attribute):
        return False
    of_numpy = _of_numpy(v, func)
    if of_numpy and name in NUMPY_DOUBLES:
        return True
    if name == "array" and of_numpy and call.args:
        return _fractions(call.args[0])
    if name in FROM_NUMPY or (of_numpy and name in NUMPY_SAME):
        return any(operands)
    return None


def _says_double(node: ast.expr) -> bool:
    return _DOUBLE.fullmatch(ast.unparse(node)) is not None


def _fractions(node: ast.expr) -> bool:
    """Whether numbers that are no integers are written out."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(map(_fractions, node.elts))
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, float)


def _of_numpy(v: Values, func: ast.expr) -> bool:
    """Whether a function is one of numpy, or a method of one of its generators of random numbers."""
    if isinstance(func, ast.Attribute) and any(o.label in _GENERATORS for o in v.of(func.value)):
        return True
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and func.id in ("np", "numpy")
