"""Which calls make float64: O1 cast it as it did any floating type, autocast leaves it alone.

Source: apex/amp/utils.py (`maybe_half`, `maybe_float`) at tag 25.05; `is_eligible` of torch's autocast_mode.h.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from ..facts.names import called_name
from ..flow.values import Values
from ..knowledge.operations import FROM_NUMPY, NUMPY_DOUBLES, NUMPY_SAME
from ..nodes import walk
from .contents import facts_of
from .halves import ARRAY, DOUBLE, OTHER, Value, of

_DOUBLE = re.compile(r"(torch|th|np|numpy)\.(float64|double|float_)|['\"](float64|double)['\"]|float64|float")
_OF_ARRAYS = FROM_NUMPY | {"FloatTensor", "Tensor"}
_BY_NAME = frozenset({"DoubleTensor"})
_GENERATORS = frozenset({"RandomState", "default_rng"})


def made_double(v: Values, call: ast.Call, operands: list[Value]) -> Value | None:
    """What a call gives where it decides on float64: that, what may be that, or what surely is not. None where it does
    not decide. ``operands``: what it is handed, first what stands in front of the dot."""
    name = called_name(call)
    said = _says(v, name, call)
    numpy = name == "astype" or _of_numpy(v, call.func)
    made = ARRAY if numpy else DOUBLE
    if said is not None:
        return of(made if said else OTHER)
    if name in FROM_NUMPY or (name in NUMPY_SAME and numpy):
        parts = [part for held in operands for part in (held.items or (held,))]
        if any(part.flat and part.flat <= {ARRAY, DOUBLE} for part in parts):
            return of(made)  # the widest of those that are put together
        return of(made, OTHER) if facts_of(operands) & {ARRAY, DOUBLE} else of(OTHER)
    return None


def makes_float32(callees: Iterable[ast.AST]) -> bool:
    """Whether every tensor that functions make of arrays is float32: ``torch.as_tensor(x, dtype=torch.float32)``,
    ``torch.from_numpy(x).float()``. One that makes none hands the array on to another, which is asked itself."""
    made = [c for f in callees for c in walk(f) if isinstance(c, ast.Call) and called_name(c) in _OF_ARRAYS]
    behind = {c.func.value for f in callees for c in walk(f) if _says_single(c)}  # type: ignore[attr-defined]
    return all(
        called_name(c) in ("FloatTensor", "Tensor")
        or c in behind
        or any(map(_single, (*c.args[1:], *(k.value for k in c.keywords))))
        for c in made
    )


def _says_single(node: ast.AST) -> bool:
    """Whether a call of a method makes float32 of what stands in front of the dot."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return called_name(node) == "float" or (called_name(node) in ("to", "type") and any(map(_single, node.args)))


def _single(node: ast.expr) -> bool:
    return ast.unparse(node) in ("torch.float", "torch.float32", "th.float", "th.float32")


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
