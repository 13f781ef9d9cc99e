"""Whether all objects that a condition may be read from have what it reads."""

from __future__ import annotations

import ast

from ...nodes import walk
from ...units.translate import has_attribute
from ...units.unit import Context, Manual


def check_has(ctx: Context, anchor: ast.stmt, text: str) -> None:
    """Raise where a condition that stands at ``anchor`` reads an attribute which only some of the objects have that a
    name may be there: one of two backends, one callback of many."""
    scope = ctx.m.function(anchor)
    for node in walk(ast.parse(text or "True", mode="eval")):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name != ctx.m.self_name(scope):
                pass
            case _:
                continue
        held = ctx.v.in_order(o for o in ctx.v.variable(name, scope) if o.kind == "instance")
        without = [o for o in held if not has_attribute(ctx, o, attr)]
        if without and len(without) < len(held):
            raise Manual(
                anchor,
                f"mixed precision is on where `{ast.unparse(node)}` says so, which a {without[0].label} does not have",
                f"{attr} = … in {without[0].label}, too",
            )
