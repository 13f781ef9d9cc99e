"""Results that leave the GPU by a ``cpu`` that is not called by its name: ``map(torch.Tensor.cpu, results)`` and
``getattr(y, "cpu")()``. O1's patch of ``Tensor.cpu`` made float32 of them there, too; no ``.float()`` can be written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import called_name
from ...knowledge.models import MAPPING
from ...units.halves import HALF
from ...units.precision import Precision
from ...units.unit import Context, Unit

_SAID = (
    "results leave the GPU here in float16; Apex handed them on in float32 (its patched Tensor.cpu()): `.float()` "
    "before that keeps it"
)


def review_unnamed(ctx: Context, unit: Unit, precision: Precision) -> None:
    """Name the places where half results do so."""
    for call, source in _leaving(ctx):
        held = precision.value(source)
        if HALF in (held.element if held.holds else held).flat:
            unit.review(call, "APX032", _SAID)


def _leaving(ctx: Context) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Such calls, each with what it takes, or goes through."""
    for call in ctx.m.all(ast.Call):
        match call:
            case ast.Call(func=ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value="cpu"), *_])):
                yield call, owner
            case ast.Call(args=[ast.Attribute(value=ast.Attribute(attr="Tensor"), attr="cpu"), *rest]):
                if called_name(call) in MAPPING:
                    yield from ((call, one) for one in rest)
