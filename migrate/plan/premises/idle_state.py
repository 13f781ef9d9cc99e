"""Amp's state, saved and loaded where nobody initializes: ``checkpoint["amp"] = apex.amp.state_dict()`` in a copy of a
library's checkpoint file. There is nothing in it."""

from __future__ import annotations

import ast

from ...facts.once import once
from ...units.unit import Context, Manual
from .handed import dropped

_STATE = ("state_dict", "load_state_dict")


@once
def idle_state(ctx: Context) -> tuple[ast.stmt, ...]:
    """The statements that only save or load amp's state, where that is all that uses amp; else none."""
    found: list[ast.stmt] = []
    for use, dotted in ctx.facts.uses.items():
        kind = dotted.split(".")[-1]
        if not dotted.startswith("apex.amp.") or ctx.m.statement(use) in ctx.facts.imports:
            continue
        if kind not in _STATE:
            return ()
        try:
            found.append(dropped(ctx, use, kind))
        except Manual:
            return ()
    return tuple(dict.fromkeys(found))
