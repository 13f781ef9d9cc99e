"""Who asks for the parameters of a function that takes the scaler now: ``inspect.signature(train)``, for a command
line or a table of options; ``train.__code__.co_varnames``, for a call by name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...units.unit import Context
from .places import Parameter

_ASKS = ("signature", "getfullargspec", "getargspec")
_KEEPS = ("__code__", "__annotations__", "__signature__", "__defaults__", "__kwdefaults__")


def asked_for(ctx: Context, parameters: Iterable[Parameter]) -> Iterator[tuple[ast.expr, Parameter]]:
    """What lists one of these parameters, too, from now on."""
    mine = {parameter.function.node: parameter for parameter in parameters}
    asks: list[tuple[ast.expr, ast.expr]] = [(c, c.args[0]) for name in _ASKS for c in ctx.m.calls(name) if c.args]
    asks += [(one, one.value) for name in _KEEPS for one in ctx.m.attributes(name) if isinstance(one.ctx, ast.Load)]
    of = dict(asks)
    for node in ctx.m.in_order(of):
        held = {function for one in ctx.v.of(of[node]) for function in ctx.v.functions(one)}
        yield from ((node, mine[function]) for function in ctx.m.in_order(held) if function in mine)
