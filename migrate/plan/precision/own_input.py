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
    """Name the models of a unit that do so, where it was not known of both sides and said."""
    if not unit.by_functions:
        return
    found, told = dict(_adding(ctx, unit)), {node for node, _, _ in unit.reviews}
    for node in ctx.m.in_order(found.keys() - told):
        unit.review(
            node,
            "APX032",
            f"the forward of {found[node]} adds its own input in place (`out += x`): where that is float32 the "
            "result stays half, O1 made a new float32 tensor of it; `out = out + x` does so natively",
        )


def _adding(ctx: Context, unit: Unit) -> Iterator[tuple[ast.AST, str]]:
    """The sums, or what makes a model of another file, and what the models are called."""
    v = ctx.v
    for obj in unit.model_objects:
        match obj.key:
            case ast.ClassDef(name=name) as cls if obj.kind == "instance":
                yield from ((stmt, name) for stmt in _sums(ctx, cls))
            case ast.Call(func=func) as call if obj.kind == "call" and comes_from_elsewhere(v, func):
                if (name := name_elsewhere(v, func)) in ctx.facts.elsewhere.adding_input:
                    yield call, name
            case _:
                pass


def _sums(ctx: Context, cls: ast.ClassDef) -> list[ast.AugAssign]:
    """Where the forward of a class here adds its input in place."""
    m = ctx.m
    if (forward := m.method(cls, "forward")) is None:
        return []
    scope = m.scope_of[forward]
    if not adds_input("".join(f"    {m.src(stmt)}\n" for stmt in forward.body), scope.params):
        return []
    sums = m.own(scope, ast.AugAssign)
    return [stmt for stmt in sums if isinstance(stmt.value, ast.Name) and stmt.value.id == scope.params[1]]
