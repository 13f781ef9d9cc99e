"""Networks that add their own input in place to what they computed of it: ``out += x`` at the end of ``forward``.

What comes of a layer is half under autocast, and stays so, as it is in place; the input is float32, and O1 made a new
float32 tensor of both. Within a network a layer's input may be half as well: only the model itself is asked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.looks_into import adds_input
from ...facts.networks import comes_from_elsewhere, name_elsewhere
from ...units.unit import Context, Unit


def review_own_input(ctx: Context, unit: Unit) -> None:
    """Name the models of a unit that do so."""
    if unit.by_functions:
        found = dict(_adding(ctx, unit))
        for node in ctx.m.in_order(found):
            unit.review(
                node,
                "APX032",
                f"the forward of {found[node]} adds its own input in place (`out += x`): where that is float32 the "
                "result stays half, O1 made a new float32 tensor of it; `out = out + x` does so natively",
            )


def _adding(ctx: Context, unit: Unit) -> Iterator[tuple[ast.AST, str]]:
    m, v = ctx.m, ctx.v
    for obj in unit.model_objects:
        match obj.key:
            case ast.ClassDef(name=name) as cls if obj.kind == "instance":
                forward = m.method(cls, "forward")
                if forward is not None:
                    parameters = m.scope_of[forward].params
                    body = "".join(f"    {m.src(stmt)}\n" for stmt in forward.body)
                    if adds_input(body, parameters):
                        yield forward, name
            case ast.Call(func=func) as call if obj.kind == "call" and comes_from_elsewhere(v, func):
                if (name := name_elsewhere(v, func)) in ctx.facts.elsewhere.adding_input:
                    yield call, name
            case _:
                pass
