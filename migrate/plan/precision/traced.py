"""A model that is traced or exported: Apex's casts were the whole process's, so its graph had them, too."""

from __future__ import annotations

import ast

from ...facts.once import once
from ...knowledge.words import Patterns
from ...units.order import NOT_YET
from ...units.unit import Context, Unit
from ..regions.planner import Planner

# What runs a model once to write down its operations.
_TRACES = Patterns("torch.jit.trace torch.jit.trace_module torch.onnx.export torch.export.export", exact=True)


def review_traced(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Names the graphs that are written down behind ``initialize``, outside of the regions."""
    held = [stmt for r in planner.regions for stmt in r.stmts()]
    for call in _traces(ctx):
        if planner.order.states(call) != {NOT_YET} and not any(ctx.m.inside(call, stmt) for stmt in held):
            unit.review(
                call,
                "APX031",
                "this ran under Apex's casts, so its graph worked in float16 with them; it runs without casts now, "
                "and its graph is as the model's weights are: a half() model needs a half() input here",
            )


@once
def _traces(ctx: Context) -> list[ast.Call]:
    """The calls of what traces, by whatever name it was imported."""
    names: dict[str, str] = {}
    for node in ctx.m.all(ast.ImportFrom):
        names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for plain in ctx.m.all(ast.Import):
        names |= {alias.asname: alias.name for alias in plain.names if alias.asname}
    found = []
    for call in ctx.m.all(ast.Call):
        root, dot, rest = ctx.m.src(call.func).partition(".")
        if _TRACES.fit(names.get(root, root) + dot + rest):
            found.append(call)
    return found
