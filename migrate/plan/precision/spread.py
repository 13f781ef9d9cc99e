"""Variances, which autocast computes in the type it is handed and O1 in float32: ``x.float().var(0)`` does as O1 did.

The square of what float16 holds is often none that it holds: a variance beyond 65504 is inf there, one below 6e-8 is 0.
Source: apex/amp/lists at tag 25.05 (FP32_FUNCS has ``var`` and ``std``), ATen/autocast_mode.h has neither.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.stores import parameters_of
from ...knowledge.operations import KEEP, SPREADS, WIDENS
from ...units.halves import FLOAT, proved
from ...units.precision import Precision
from ...units.unit import Context
from ..regions.coverage import Coverage
from ..regions.tight import last_given
from .torchs import of_torch

_WEIGHTS = frozenset("weight bias weights".split())


def spread(ctx: Context, coverage: Coverage, precision: Precision) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that compute one of what may be half, and of what: a tensor for sure."""
    for name in sorted(SPREADS):
        for call in ctx.m.calls(name):
            if (operand := _operand(ctx, call)) is None or of_float32(ctx, call):
                continue
            held = precision.value(operand)
            if held.flat == {FLOAT} or held.holds:
                continue
            inside = coverage.compute.own_method(ctx.m.function(call))
            if not inside and not coverage.may(call):
                continue
            if of_torch(ctx.m, call.func) or proved(held) or (inside and not _of_numpy(ctx, call)):
                yield call, operand


def of_float32(ctx: Context, call: ast.Call) -> bool:
    """Whether a variance is one of float32 for sure: of a weight (a standardized convolution), or of what is cast."""
    operand = _operand(ctx, call)
    return operand is not None and wide(ctx, operand, ctx.m.statement(call))


def _operand(ctx: Context, call: ast.Call) -> ast.expr | None:
    if of_torch(ctx.m, call.func):
        return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None
    return call.func.value if isinstance(call.func, ast.Attribute) and not ctx.v.callees(call) else None


def _of_numpy(ctx: Context, call: ast.Call) -> bool:
    """Whether arrays of numpy may be at hand where this stands: they have the same methods."""
    text = ctx.m.src(ctx.m.function(call).node)
    return any(word in text for word in ("np.", "numpy", "pd."))


def wide(ctx: Context, expr: ast.expr, stmt: ast.stmt, steps: int = 6) -> bool:
    """Whether a tensor is float32 for sure: cast by whoever wrote the line, or a weight."""
    match expr:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            return name in WIDENS or (name in KEEP - {"half"} and wide(ctx, inner, stmt, steps))
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name in _WEIGHTS or name in parameters_of(ctx.m.file(expr).tree)
        case ast.Attribute(attr=name):
            return name in _WEIGHTS
        case ast.Subscript(value=inner):
            return wide(ctx, inner, stmt, steps)
        case ast.BinOp(left=left, right=right):
            sides = [one for one in (left, right) if not isinstance(one, ast.Constant)]
            return all(wide(ctx, one, stmt, steps) for one in sides)
        case ast.Name(id=name) if steps:
            given = last_given(ctx.m, name, stmt)
            return isinstance(given, ast.Assign) and wide(ctx, given.value, given, steps - 1)
    return False
