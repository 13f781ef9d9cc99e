"""A function that initializes once, by a flag which it sets itself, and is called again: ``if not self.ready: …`` and
``self.ready = True`` behind it. A scaler that is made there by that condition would be switched off the second time."""

from __future__ import annotations

import ast

from ...facts.names import root_name
from ...nodes import walk
from ...units.unit import Context, Manual, Unit
from ..blocks import exclusive
from .anew import repeated


def check_guarded_once(ctx: Context, unit: Unit) -> None:
    """Raises `Manual` where the flag is set outside of the arm that initializes: nothing but the call stands there."""
    for init in unit.initializes:
        scope = ctx.m.function(init.call)
        guards = [one for one in ctx.m.spine(ctx.m.statement(init.call))[1:] if isinstance(one, ast.If)]
        if not guards or not repeated(ctx, scope):
            continue
        behind = [n for n in ctx.m.own(scope, ast.Attribute) if ctx.m.start(n) > ctx.m.start(init.call)]
        stored = [n for n in behind if isinstance(n.ctx, ast.Store)]
        for guard in guards:
            asked = {ast.unparse(n) for n in walk(guard.test) if isinstance(n, ast.Attribute)}
            mine = [n for n in stored if ast.unparse(n) in asked and root_name(n) == ctx.m.self_name(scope)]
            again = next((n for n in mine if not ctx.m.inside(n, guard) and not exclusive(ctx, n, init.call)), None)
            if again is not None:
                called = getattr(scope.node, "name", "this")
                raise Manual(
                    init.call,
                    f"`{ctx.m.src(again)}`, which this asks, is set behind it, and {called}() is called again: the "
                    "scaler would be made anew then, and switched off",
                    f"set `{ctx.m.src(again)}` in the arm that initializes",
                )
