"""Who asks for the parameters of a function that takes the scaler now: ``inspect.signature(train)``, for a command
line or a table of options."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...units.unit import Context
from .places import Parameter

_ASKS = ("signature", "getfullargspec", "getargspec")


def asked_for(ctx: Context, parameters: Iterable[Parameter]) -> Iterator[tuple[ast.Call, Parameter]]:
    """The calls that list one of these parameters, too, from now on."""
    mine = {parameter.function.node: parameter for parameter in parameters}
    calls = [call for name in _ASKS for call in ctx.m.calls(name) if call.args]
    for call in ctx.m.in_order(calls):
        held = {node for one in ctx.v.of(call.args[0]) for node in ctx.v.functions(one)}
        yield from ((call, mine[node]) for node in ctx.m.in_order(held) if node in mine)
