"""What of a program still needs Apex's amp once it is written, and for what: a line of each file, and a kind."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.from_others import amp_of_others
from ..model import Need, Waits
from ..rules.common import Work
from ..units.casts import casts_only
from ..units.unit import Context, Unit
from .home import scaling
from .listed_state import asks_the_scaler
from .premises.idle_state import idle_state


def needs(ctx: Context, work: Work, units: Sequence[Unit], manual: bool) -> dict[int, Need]:
    """For each file (by number) that still needs amp, what for; ``manual``: one of the ``units`` stays."""
    lines = lines_left(ctx, work)
    waits = _waits(ctx, units, manual) if lines else Waits.TRAINING
    return {number: Need(line, waits) for number, line in lines.items()}


def lines_left(ctx: Context, work: Work) -> dict[int, int]:
    """The first line of each file (by number) that still needs amp to be initialized, here or in another file."""
    found: dict[int, int] = {}
    for use, dotted in ctx.facts.uses.items():
        if dotted.startswith("apex.amp.") and not work.draft.gone(use) and not asks_the_scaler(ctx, use):
            file = ctx.m.file(use)
            line = use.lineno - file.first + 1
            found[file.number] = min(line, found.get(file.number, line))
    for name in amp_of_others(ctx.m, ctx.facts, ctx.own):
        file = ctx.m.file(name)
        found.setdefault(file.number, name.lineno - file.first + 1)
    return found


def _waits(ctx: Context, units: Sequence[Unit], manual: bool) -> Waits:
    if not units and casts_only(ctx):
        return Waits.CASTS
    if not units and idle_state(ctx):
        return Waits.STATE
    if manual and not ctx.facts.initializes and scaling.apart(ctx, units, True) is not None:
        return Waits.SCALES
    return Waits.TRAINING
