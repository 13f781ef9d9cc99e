"""Whether the conditions that a unit says after the migration can be asked there."""

from __future__ import annotations

import ast

from ..units.conditions import reads
from ..units.unit import Context, Manual, Unit
from .carried import sometimes_imported
from .home.scales import chosen
from .plan import Plan
from .regions.has import check_has
from .regions.named import named


def asks_for_amp(ctx: Context, unit: Unit, plan: Plan) -> None:
    """A condition on amp itself (imported only at times) cannot outlive the import, unless that leaves a flag."""
    bound: set[str] = set()
    said = [c.anchor for c in plan.homes.creations] + [r.block.body[r.first] for r in plan.enabled_at]
    scopes = {ctx.m.scope(one) for one in said}
    for stmt in ctx.facts.imports:
        for alias in stmt.names:  # type: ignore[attr-defined]
            name = alias.asname or alias.name.split(".")[0]
            home = ctx.m.binding_scope(name, ctx.m.scope(stmt))
            here = any(ctx.m.binding_scope(name, scope) is home for scope in scopes)  # not another one's name
            if here and not sometimes_imported(ctx, home, name):
                bound.add(name)
    texts = [c.enabled.text for c in plan.homes.creations] + list(plan.enabled_at.values())
    for text in texts:
        if text and not reads(text).isdisjoint(bound):
            raise Manual(
                unit.line_node,
                f"mixed precision is on where `{text}`, and that name is only imported at times",
                "give the condition a name of its own, such as use_amp, and test that",
            )


def review_kept_flags(ctx: Context, unit: Unit, plan: Plan) -> None:
    """A condition of mixed precision that goes on asking whether Apex is there, as imports beside it stay."""
    texts = [c.enabled.text for c in plan.homes.creations] + list(plan.enabled_at.values())
    for flag in sorted(ctx.conditions.kept_flags.intersection(*[set().union(*map(reads, filter(None, texts)))])):
        unit.review(
            unit.line_node,
            "APX020",
            f"`{flag}` is set beside imports of Apex that stay, and mixed precision hangs on it: without Apex it is "
            "off, as it was; once these imports are gone, drop the flag",
        )


def check_attributes(ctx: Context, plan: Plan) -> None:
    """Each object that a scaler's condition may be read from has what is read: not only one of two backends."""
    for creation in plan.homes.creations:
        check_has(ctx, creation.anchor, creation.enabled.text)


def check_scales(ctx: Context, plan: Plan) -> None:
    """Each scaler that several calls of ``initialize`` ask for can say the loss scale: the rule asks again when nothing
    can stay any more."""
    for creation in plan.homes.creations:
        if creation.init is None and creation.enabled.value is not False:
            chosen(ctx, plan.unit, creation.anchor)


def name_conditions(ctx: Context, unit: Unit, plan: Plan) -> None:
    """What several regions of a function ask gets a name there."""
    regions = {region: region.block.body[region.first] for region in plan.planner.regions}
    hoists = [hoist.stmt for hoist in plan.planner.hoists]
    said = [*((stmt, plan.enabled_at[region]) for region, stmt in regions.items())]
    said += zip(hoists, plan.hoist_enabled, strict=True)
    plan.named = named(ctx.m, said, unit.number)

    def short(stmt: ast.stmt, text: str) -> str:
        here = (one.name for one in plan.named if one.text == text and one.function is ctx.m.function(stmt))
        return next(here, text)

    plan.enabled_at = {region: short(stmt, plan.enabled_at[region]) for region, stmt in regions.items()}
    plan.hoist_enabled = [short(*pair) for pair in zip(hoists, plan.hoist_enabled, strict=True)]
