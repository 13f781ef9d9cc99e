"""Products with a trained number (CLIP's temperature, a gain that begins at 0) inside of networks: ``.float()`` there.

O1 made float32 of a half result times a float32 tensor without dimensions, torch leaves it half. The number's gradient
is a sum over all that it was multiplied with: times a loss scale of 65536 float16 seldom holds it.
Source: apex/amp/wrap.py at tag 25.05 (``promote``), torch's rules of promotion.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.once import once
from ...knowledge.operations import KEEP, NATIVE_HALF
from ...units.beside_numbers import beside_trained_number
from ...units.halves import FLOAT, proved
from ...units.precision import Precision
from ...units.unit import Context
from ..regions.coverage import Coverage
from ..regions.tight import last_given
from .spread import wide
from .torchs import of_torch

_OF_TENSORS = KEEP | NATIVE_HALF


def beside_trained_numbers(
    ctx: Context, coverage: Coverage, precision: Precision
) -> Iterator[tuple[ast.BinOp, ast.expr]]:
    """Such products under autocast, and what is half in them: a tensor for sure."""
    for node, operand in _products(ctx):
        if wide(ctx, operand, stmt := ctx.m.statement(node)):
            continue
        held = precision.value(operand)
        if held.flat == {FLOAT} or held.holds:
            continue
        if coverage.may_within(node):
            if proved(held) or _is_tensor(ctx, operand, stmt):
                yield node, operand


@once
def _products(ctx: Context) -> list[tuple[ast.BinOp, ast.expr]]:
    """Such products of the program, each with its operand that is not the number."""
    found = ((node, beside_trained_number(ctx.v, node)) for node in ctx.m.all(ast.BinOp))
    return [(node, operand) for node, operand in found if operand is not None]


def _is_tensor(ctx: Context, expr: ast.expr, stmt: ast.stmt, steps: int = 6) -> bool:
    """Whether an expression surely is a tensor, of which ``.float()`` can be asked."""
    match expr:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.BinOp(left=left, right=right):
            return any(_is_tensor(ctx, one, stmt, steps) for one in (left, right))
        case ast.Call(func=ast.Attribute(value=inner, attr=name) as func):
            if of_torch(ctx.m, func):
                return name in _OF_TENSORS  # `torch.distributed.get_world_size()` gives a number
            return name in KEEP and _is_tensor(ctx, inner, stmt, steps)
        case ast.Name(id=name) if steps:
            given = last_given(ctx.m, name, stmt)
            if isinstance(given, ast.Assign) and len(given.targets) == 1 and isinstance(given.targets[0], ast.Name):
                return _is_tensor(ctx, given.value, given, steps - 1)
    return False
