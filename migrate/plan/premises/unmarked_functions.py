"""Autograd functions with products whose methods torch's decorators cannot serve: these mark what both are handed
first, by which the backward knows how the forward ran.

Source: torch/amp/autocast_mode.py (``custom_fwd``, ``custom_bwd``).
"""

from __future__ import annotations

from ...units.autograd import uncast_functions
from ...units.unit import Context, Unit


def review_unmarked_functions(ctx: Context, unit: Unit) -> None:
    """Names the autograd functions with products whose methods cannot tell each other how the forward ran."""
    for one in uncast_functions(ctx) if not unit.off else ():
        if not one.marked:
            unit.review(
                one.backward,
                "APX081",
                "this backward computes products: Apex's casts held there, too, and natively it raises where a half "
                "gradient meets float32. custom_fwd and custom_bwd mark what both methods are handed first, which is "
                "not one thing here: wrap the products in torch.autocast",
            )
