"""Products that O1 left in float32, as what they multiply was float32 for sure: ``torch.einsum("id,jd->ij", a.float(),
b.float())``. Autocast runs them in float16, whatever they are handed, and sums beyond 65504 are inf there."""

from __future__ import annotations

import ast

from ...facts.once import once
from ...facts.usual_names import home
from ...knowledge.operations import (
    HALF_NOT_AS_GIVEN,
    KEEP,
    LINALG_PRODUCT,
    MULTIPLY_TWO,
    MULTIPLY_WITHIN,
    O1_FLOAT,
    O1_FLOAT_FUNCTIONAL,
    SPREADS,
    WIDENS,
)
from ...nodes import each_given
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from ..regions.tight import last_given
from .spread import wide
from .torchs import of_torch

# As large as what they are handed, or not larger than 1.
_BOUNDED = frozenset("scaled_dot_product_attention corrcoef".split())
# Of a buffer (the edges of a graph), too: numbers that grow with each factor, or that are divided by small ones.
_GROWS = frozenset("matrix_power pinv".split())
_FLOAT32 = O1_FLOAT | O1_FLOAT_FUNCTIONAL | SPREADS
# Of these no sum is large.
_SMALL = frozenset("softmax log_softmax softmin normalize cosine_similarity sigmoid tanh".split())


def review_wide_products(ctx: Context, unit: Unit, coverage: Coverage) -> set[ast.Call]:
    """Name such products where they run under autocast, and hand them back."""
    if not unit.by_functions:
        return set()
    named = set[ast.Call]()
    for call, name in _products(ctx):
        if coverage.may_within(call):
            unit.review(
                call,
                "APX037",
                f"`{name}` ran in float32 under O1, as what it multiplies is float32; under autocast it runs in "
                "float16, where sums beyond 65504 are inf: to keep it, put it under "
                f'torch.autocast("{ctx.settings.device_type}", enabled=False)',
            )
            named.add(call)
    return named


@once
def _products(ctx: Context) -> list[tuple[ast.Call, str]]:
    """Such products in the program, and what they are called."""
    found = []
    for name in [*sorted(HALF_NOT_AS_GIVEN - _BOUNDED), LINALG_PRODUCT]:
        for call in ctx.m.calls(name):
            one_tensor = name in MULTIPLY_WITHIN - MULTIPLY_TWO
            operands = [one for one in call.args[: 1 if one_tensor else None] if not isinstance(one, ast.Constant)]
            if name == LINALG_PRODUCT and home(call.func) != "linalg":
                continue
            stmt = ctx.m.statement(call)
            if not operands[0 if one_tensor else 1 :] or not of_torch(ctx.m, call.func):
                continue
            if all(_wide(ctx, one, stmt) or (name in _GROWS and wide(ctx, one, stmt)) for one in operands):
                found.append((call, name))
    return found


def _wide(ctx: Context, expr: ast.expr, stmt: ast.stmt, steps: int = 6) -> bool:
    """Whether an operand is float32 under O1 for sure, and may be large."""
    match expr:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            if name in WIDENS:
                return not _small(inner)
            if name in _FLOAT32:
                return name not in _SMALL and (name in O1_FLOAT or of_torch(ctx.m, expr.func))
            return name in KEEP - {"half"} - _SMALL and _wide(ctx, inner, stmt, steps)
        case ast.Subscript(value=inner):
            return _wide(ctx, inner, stmt, steps)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            return any(_wide(ctx, one, stmt, steps) for one in (left, right))
        case ast.Name(id=name) if steps:
            given = last_given(ctx.m, name, stmt)
            if isinstance(given, ast.Assign) and len(given.targets) == 1:
                pairs = each_given(given.targets[0], given.value)
                value = next((one for at, one in pairs if isinstance(at, ast.Name) and at.id == name), None)
                return value is not None and _wide(ctx, value, given, steps - 1)
    return False


def _small(inner: ast.expr) -> bool:
    return isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _SMALL
