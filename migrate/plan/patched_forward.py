"""The ``forward`` that Apex puts on each model at O0, O2 and O3: it casts what it is handed, and a copy keeps it.

Source: apex/amp/_initialize.py at tag 25.05 (``patch_forward``, wherever ``cast_model_type`` is set: not at O1).
"""

from __future__ import annotations

import re

from ..units.order import NOT_YET
from ..units.unit import Context, Unit
from .regions.planner import Planner

_PATCHED = frozenset({"O0", "O2", "O3", "?"})
_COPY = (
    "{levels} Apex put a forward of its own on the model, bound to it, and a copy that is made behind initialize kept "
    "that one: called, it ran the weights of the model that it was copied from; it runs its own now"
)
_DOUBLE = (
    "at O0 Apex cast what the model is handed to float32; float64, as numpy makes it, reaches it as it is now, and its "
    "layers raise: .float() where it is made"
)
_NUMPY = re.compile(r"\bfloat64\b|\.double\(|\bfrom_numpy\(|\b(?:tensor|as_tensor|Tensor)\((?=[^\n]*\bnp\b)")


def review_patched_forward(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Names copies of the model that are made behind ``initialize``, and float64 at O0."""
    levels = frozenset[str]().union(*(options.levels for options in unit.options.values()))
    if not levels & _PATCHED:
        return
    sure = levels <= {"O0", "O2", "O3"}
    said = "at this level" if sure else "at every level but O1"
    for call in ctx.m.in_order(ctx.m.calls("deepcopy")):
        copied = call.args[0] if call.args else None
        if copied is None or not planner.compute.is_model(ctx.v.of(copied)):
            continue
        if planner.order.states(call) != {NOT_YET}:
            unit.review(call, "APX021", _COPY.format(levels=said))
    if unit.off and _NUMPY.search(ctx.m.text):
        unit.review(unit.initializes[0].call, "APX021", _DOUBLE)
