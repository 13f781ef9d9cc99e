"""What else calls a function that Apex was told to run in float32 is named."""

from __future__ import annotations

import ast

from ...units.registered import Registered, all_registered
from ...units.unit import Context, Unit


def tell_registered(ctx: Context, unit: Unit) -> None:
    """Of each such function: what becomes of its calls, and who may call it besides."""
    if "O1" in {level for options in unit.options.values() for level in options.levels}:
        for found in all_registered(ctx):
            unit.review(found.call, "APX080", _said(ctx, found))


def _said(ctx: Context, found: Registered) -> str:
    name = ast.unparse(found.call.args[1]).strip("'\"")
    others = [f"`{ctx.m.src(n.func)}` (line {n.lineno})" for n in found.layers[:1]]
    others += [f"`{ctx.m.src(n)}`, which is handed on (line {n.lineno})," for n in found.handed_on[:1]]
    what = f"Apex was told to run {name} in float32, whoever called it; "
    mine = "its calls here get .float(), and " if found.operands else ""
    who = " and ".join([*others, "other files"])
    return f"{what}{mine}{who} run it in {ctx.settings.dtype} under autocast, where its input is"
