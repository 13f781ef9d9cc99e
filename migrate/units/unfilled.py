"""A loss that is scaled for an optimizer that nobody hands over: ``def attack(model, x, opt=None)`` of a module that
several scripts share, one of which attacks while it trains.

In a program in which the parameter is None in every call, ``if opt is not None`` never holds and Apex never scaled
there. So that what is written there fits the script that does hand one over, the site belongs to the one unit that
trains.
"""

from __future__ import annotations

import ast

from ..facts.sites import Scale
from .steps import always_none
from .unit import Context


def fill(ctx: Context) -> None:
    """Give the sites whose optimizer is always None the one that this program initializes, if it is one."""
    begun = [init for init in ctx.facts.initializes if init.optimizer_objects]
    empty = [scale for scale in ctx.facts.scales if _unfilled(ctx, scale)]
    if len(begun) == 1 and len(empty) < len(ctx.facts.scales):
        for scale in empty:
            scale.optimizer_objects = begun[0].optimizer_objects


def _unfilled(ctx: Context, scale: Scale) -> bool:
    taken = scale.optimizers
    return isinstance(taken, ast.Name) and not scale.optimizer_objects and always_none(ctx, taken)
