"""Parameters that a group of the optimizer is given while it trains: ``group["params"] = list(net.head.parameters())``.

Apex lists an optimizer's parameters at the first backward, and ``add_param_group`` adds to that list. What comes into a
group by another way it never unscaled, and stepped with gradients times the loss scale.
Source: apex/amp/_process_optimizer.py (lazy_init_no_master_weights, new_add_param_group).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.module import Module
from ...facts.once import once
from ...units.unit import Context, Unit

_PUTS = ("append", "extend", "insert")


def review_filled_groups(ctx: Context, unit: Unit) -> None:
    """Name the places where a group of an optimizer of a unit is filled, but for those ahead of `initialize`."""
    m = ctx.m
    for node, owner in _filled(ctx):
        ahead = [i for i in unit.initializes if m.function(i.call) is m.function(node) and not m.loops(node)]
        if any(m.start(node) < m.start(i.call) for i in ahead) or not ctx.v.of(owner) & unit.optimizer_objects:
            continue
        unit.review(
            node,
            "APX060",
            "what is put into a group of the optimizer here behind the first backward Apex did not know: it stepped "
            "with gradients that were still scaled; a GradScaler unscales them",
        )


@once
def _filled(ctx: Context) -> list[tuple[ast.Subscript, ast.expr]]:
    """Where the list of a group is given another value or more, and the optimizer that has the group."""
    return list(_fillings(ctx.m))


def _fillings(m: Module) -> Iterator[tuple[ast.Subscript, ast.expr]]:
    for node in m.all(ast.Subscript):
        if not (isinstance(node.slice, ast.Constant) and node.slice.value == "params"):
            continue
        above = m.parent[node]
        puts = isinstance(above, ast.Attribute) and above.attr in _PUTS and isinstance(m.parent[above], ast.Call)
        if not puts and not isinstance(node.ctx, ast.Store):
            continue
        match node.value:
            case ast.Subscript(value=ast.Attribute(value=owner, attr="param_groups")):
                yield node, owner
            case ast.Name(id=name):
                for loop in m.loops(node):
                    match loop:
                        case ast.For(target=ast.Name(id=item), iter=ast.Attribute(value=owner, attr="param_groups")):
                            if item == name:
                                yield node, owner
                        case _:
                            pass
            case _:
                pass
