"""Clips inside the ``scale_loss`` block, where gradients are still scaled and earlier ones are put aside."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...facts.sites import Scale
from ...units.unit import Context, Manual, Step, Unit
from ..blocks import common
from ..schedule import Schedule
from .reached import always_followed, conditions_of

_BY_HAND = "under the step's condition: scaler.unscale_(optimizer), then the clip with max_norm as it was meant"


def inside_with(ctx: Context, reader: ast.stmt, site: Scale) -> bool:
    """Whether a statement stands in the block of a ``scale_loss``."""
    return site.with_ is not None and ctx.m.inside(reader, site.with_)


def scaled_clip(ctx: Context, unit: Unit, schedule: Schedule, reader: ast.stmt, steps: list[Step]) -> None:
    """What it did is a clip at max_norm / scale; under the step's condition where that is not taken every time."""
    site = next(s for s in unit.scales if inside_with(ctx, reader, s))
    tops = [(common(ctx, reader, s.anchor), s) for s in steps if ctx.m.start(s.call) > ctx.m.start(reader)]
    often = [conditions_of(ctx, unit, pair[1], step) for pair, step in tops if pair is not None]
    scope = ctx.m.function(site.call)
    followed = not tops and ctx.m.function(reader) is scope and always_followed(ctx, unit, scope)
    unsure = not tops or len(often) < len(tops) or (any(often) and not _moves(ctx, site, reader, len(tops)))
    if unsure and not followed:
        raise Manual(
            reader,
            "gradients are clipped inside the scale_loss block, still scaled, and the step is not taken every time",
            _BY_HAND,
        )
    held = ctx.v.of(site.optimizers) if site.optimizers is not None else frozenset()
    if any(o.kind in ("seq", "dict") or ctx.v.is_container(o) for o in held):
        raise Manual(
            reader,
            "gradients of several optimizers are clipped inside the scale_loss block, while they are still scaled",
            "scaler.unscale_(optimizer) for each of them, then the clip with max_norm as it was meant",
        )
    schedule.scaled_clips.append(reader)
    if not any(often):
        unit.review(
            reader,
            "APX053",
            "the legacy code clipped inside the scale_loss block, where gradients are still scaled: its real threshold "
            "was max_norm / loss scale. That is kept as it was; to clip at max_norm itself, drop the division",
        )
        return
    schedule.moved[reader] = tops[0][1].anchor
    unit.review(
        reader,
        "APX053",
        "the legacy code clipped inside the scale_loss block, where gradients are still scaled and those of earlier "
        "backwards put aside: each backward's own, at max_norm / loss scale. The step is taken under a condition (line "
        f"{often[0][0].lineno}): the clip moves under it and acts once, on the sum, at that threshold; with mixed "
        "precision off it acts once, too. To clip at max_norm itself, drop the division",
    )


def _moves(ctx: Context, site: Scale, reader: ast.stmt, steps: int) -> bool:
    """Whether a clip can move under the condition of the one step: it stands in the block for itself, and Apex put
    earlier gradients aside, so that nothing but this backward's was clipped."""
    together = any(k.arg == "delay_unscale" for k in site.call.keywords)
    alone = isinstance(reader, ast.Expr) and ctx.m.parent[reader] is site.with_
    return steps == 1 and alone and not together


def check_guard(ctx: Context, clip: ast.stmt, kept: Collection[ast.stmt]) -> None:
    """Under the step's condition a clip leaves the guard of its block behind: that has to fold away."""
    block = ctx.m.parent[clip]
    if isinstance(ctx.m.parent[block], ast.If) and block not in kept:
        said = "gradients are clipped inside the scale_loss block, still scaled, and the step is taken under another "
        raise Manual(clip, f"{said}condition than the clip", _BY_HAND)
