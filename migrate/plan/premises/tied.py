"""A weight that two optimizers have which one ``scale_loss`` is handed: Apex unscaled it for each of them ahead of both
steps; natively the second one's ``step`` unscales it once more, behind that of the first.

Which networks share one is told by the program, or by the text of what it calls in another file."""

from __future__ import annotations

import ast

from ...facts.names import called_name, last_name
from ...facts.networks import comes_from_elsewhere, name_elsewhere, names_elsewhere
from ...facts.once import once
from ...facts.ties import SHARED, TIES_BY_NAME, tied
from ...units.unit import Context

_SAID = (
    "; and `{}` (line {}) may give one network a weight of another one's: what two of these optimizers have is "
    "unscaled twice, the second time behind the step of the first, where Apex did both ahead of the steps: "
    "scaler.unscale_(optimizer) for each of them ahead of the first step does the same, or let one of them own it"
)


def said_of_ties(ctx: Context) -> str:
    """What is said where networks of the program may share a weight."""
    node = _tie(ctx)
    return "" if node is None else _SAID.format(ctx.m.src(node), node.lineno)


@once
def _tie(ctx: Context) -> ast.stmt | ast.Call | None:
    """The first statement, or call, that may give a network a weight of another one."""
    found: list[ast.stmt | ast.Call] = [stmt for stmt in ctx.m.all(ast.Assign) if tied(stmt)]
    found += [call for call in ctx.m.all(ast.Call) if _ties(ctx, call)]
    return min(found, key=ctx.m.start, default=None)


def _ties(ctx: Context, call: ast.Call) -> bool:
    name = called_name(call)
    if name == "setattr" and len(call.args) == 3:
        key, value = call.args[1:]
        said = isinstance(key, ast.Constant) and isinstance(key.value, str) and SHARED.fit(key.value)
        return said and isinstance(value, ast.Attribute) and SHARED.fit(last_name(value))
    if ctx.v.callees(call):
        return False  # it is looked into itself
    tying = ctx.facts.elsewhere.tying
    if not tying.isdisjoint(names_elsewhere(ctx.v, call)):
        return True
    if comes_from_elsewhere(ctx.v, call.func) and name_elsewhere(ctx.v, call.func) in tying:
        return True
    return TIES_BY_NAME.fit(name)
