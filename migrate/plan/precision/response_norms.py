"""Local response normalization: O1 ran it in float32, autocast knows nothing of it. It squares what it is handed ahead
of all else, in half under autocast: of what is beyond 256 the square is inf, and the result 0. Where a network of the
program calls it, it is handed float32; in a container or another file it is named.

Source: torch/nn/functional.py (`local_response_norm`: `input.mul(input)`), apex/amp/lists/functional_overrides.py.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ...facts.once import once
from ...knowledge.operations import RESPONSE_NORM, RESPONSE_NORM_LAYER
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from .spread import wide
from .torchs import of_torch

_SAID = (
    "squares what it is handed in float16 under autocast, where O1 ran it in float32: beyond 256 that is inf, and the "
    "result 0; call it of `.float()`"
)


def beside_response_norms(ctx: Context, coverage: Coverage) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls of it under autocast, and what they are handed."""
    for call in _calls(ctx):
        if call.args and coverage.may_within(call) and not wide(ctx, call.args[0], ctx.m.statement(call)):
            if not isinstance(call.args[0], ast.Starred):
                yield call, call.args[0]


def review_response_norms(ctx: Context, unit: Unit, coverage: Coverage, widened: Collection[ast.AST]) -> None:
    """Name the others: layers that a container runs, what is handed by its name, and those of other files."""
    if not unit.by_functions or ctx.settings.dtype != "float16":
        return
    for call in _calls(ctx):
        by_name = not call.args or isinstance(call.args[0], ast.Starred)
        if by_name and call not in widened and coverage.may_within(call):
            unit.review(call, "APX037", f"this {_SAID}")
    run = {o for call in _calls(ctx) for o in ctx.v.of(call.func)}
    for made in ctx.m.calls(RESPONSE_NORM_LAYER):
        if of_torch(ctx.m, made.func) and run.isdisjoint(ctx.v.of(made)):
            unit.review(made, "APX037", f"this layer, which a container runs, {_SAID}")
    if not ctx.facts.elsewhere.operations.isdisjoint((RESPONSE_NORM, RESPONSE_NORM_LAYER)):
        unit.review(unit.line_node, "APX037", f"`{RESPONSE_NORM_LAYER}` of another file {_SAID}")


@once
def _calls(ctx: Context) -> list[ast.Call]:
    """The calls of the function, and of layers."""
    layers = {o for made in ctx.m.calls(RESPONSE_NORM_LAYER) for o in ctx.v.of(made)}
    found = [call for call in ctx.m.calls(RESPONSE_NORM) if of_torch(ctx.m, call.func)]
    found += [call for call in ctx.m.all(ast.Call) if not layers.isdisjoint(ctx.v.of(call.func))] if layers else []
    return ctx.m.in_order(found)
