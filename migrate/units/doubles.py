"""Which calls make float64: O1 cast it as it did any floating type, autocast leaves it alone.

Source: apex/amp/utils.py (`maybe_half`, `maybe_float`) at tag 25.05; `is_eligible` of torch's autocast_mode.h.
"""

from __future__ import annotations

import ast
import re

from ..facts.names import called_name
from ..flow.values import Values
from ..knowledge.operations import FROM_NUMPY, NUMPY_DOUBLES, NUMPY_SAME
from .contents import facts_of
from .halves import DOUBLE, OTHER, Value, of

_DOUBLE = re.compile(r"(torch|th|np|numpy)\.(float64|double|float_)|['\"](float64|double)['\"]|float64|float")
_BY_NAME = frozenset({"DoubleTensor"})
_GENERATORS = frozenset({"RandomState", "default_rng"})


def made_double(v: Values, call: ast.Call, operands: list[Value]) -> Value | None:
    """What a call gives where it decides on float64: that, what may be that, or what surely is not. None where it does
    not decide. ``operands``: what it is handed, first what stands in front of the dot."""
    name = called_name(call)
    said = _says(v, name, call)
    if said is not None:
        return of(DOUBLE if said else OTHER)
    if name in FROM_NUMPY or (name in NUMPY_SAME and _of_numpy(v, call.func)):
        parts = [part for held in operands for part in (held.items or (held,))]
        if any(part.flat == {DOUBLE} for part in parts):
            return of(DOUBLE)  # the widest of those that are put together
        return of(DOUBLE, OTHER) if DOUBLE in facts_of(operands) else of(OTHER)
    return None


def _says(v: Values, name: str, call: ast.Call) -> bool | None:
    """Whether a call gives float64, whatever it is handed; None where that decides."""
    func = call.func
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
    if name in NUMPY_DOUBLES and _of_numpy(v, func):
        return True
    if name == "array" and call.args and _fractions(call.args[0]) and _of_numpy(v, func):
        return True
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
