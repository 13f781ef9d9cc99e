"""Forward and loss run under ``torch.autocast``.

O1 patched torch for the whole process. Natively the region is said where it is: around the
statements from the first model call to the last that computes the loss, and around evaluation.
Backward, steps and ``zero_grad`` stay outside; functions called in the region run under autocast
too, so only the outermost statements are wrapped.

Source: torch docs, "Automatic Mixed Precision package": backward under autocast is not recommended.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..facts.gradless import no_gradient
from ..plan.regions.marks import Hoist, Region
from .common import Plan, Stage, Work

ID = "APX030"
STAGE = Stage.UNIT
BEFORE = """\
output = model(images)
loss = criterion(output, target)
"""
AFTER = """\
with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
    output = model(images)
    loss = criterion(output, target)
"""
NOTES = {
    "APX031": "A forward in evaluation that could not be wrapped and now runs in float32.",
    "APX034": "Gradients taken inside a region (a gradient penalty) stay under autocast and unscaled.",
    "APX035": "A model in another thread, or an object with its own switch: Apex's casts were the whole process's.",
    "APX036": "Products beside the model, on weights or gradients: float16 under O1, float32 now.",
    "APX037": "Operations of the networks that autocast runs in another type than O1 did.",
    "APX038": "A model that runs without gradients and then with them in one region: torch before 2.11 loses them.",
}


def apply(plan: Plan, work: Work) -> None:
    """Wrap the unit's regions, and name a loss that was computed in an argument."""
    started: set[ast.stmt] = set()
    for planned in plan.planner.regions:
        region = work.placed.get(planned, planned)
        if region is None:
            continue
        for part in unwrapped(work, region):
            work.wrapped |= {*part.stmts()}
            _wrap(plan, work, planned, part, started)
            _note(plan, work, planned, part)
    for one in plan.named:
        if one.before not in started:
            work.draft.before(one.before, f"{one.name} = {one.text}")
        work.note(plan.unit.number, ID, one.before, "what several regions ask is asked once")
    for hoist, enabled in zip(plan.planner.hoists, plan.hoist_enabled, strict=True):
        computed = hoist.expr.value if isinstance(hoist.expr, ast.NamedExpr) else hoist.expr
        line = f"{hoist.name} = {work.m.src(computed)}"
        above = _above(plan, work, hoist, enabled)
        if above is not None:
            work.draft.after(above, line)
        else:
            work.draft.before(hoist.stmt, f"with {work.native(hoist.stmt).autocast(enabled)}:", f"\t{line}")
        work.draft.replace(hoist.expr, hoist.name)
        work.note(plan.unit.number, ID, hoist.expr, "the loss is computed under autocast, before it is scaled")


def unwrapped(work: Work, region: Region) -> list[Region]:
    """What of a region no other unit of the file runs under autocast already."""
    parts: list[Region] = []
    for index, stmt in enumerate(region.stmts(), region.first):
        if stmt in work.wrapped:
            continue
        if parts and parts[-1].last == index - 1:
            parts[-1].last = index
        else:
            parts.append(replace(region, first=index, last=index))
    return parts


def _wrap(plan: Plan, work: Work, planned: Region, region: Region, started: set[ast.stmt]) -> None:
    first = region.block.body[region.first]
    entered = work.native(first).autocast(plan.enabled_at[planned])
    header = _joins(region)
    if header is not None and (beside := _last_item(work, header)) is not None:
        work.draft.insert_at(work.m.end(beside), f", {entered}")
        work.draft.on_own_lines(work.m.place[header.body[0]][0])
        work.note(plan.unit.number, ID, beside, "autocast joins the block that is there")
        return
    asked = [f"{one.name} = {one.text}" for one in plan.named if one.before is first]
    work.draft.wrap(region.block, region.first, region.last, "\n".join([*asked, f"with {entered}:"]))
    started.add(first)


def _above(plan: Plan, work: Work, hoist: Hoist, enabled: str) -> ast.stmt | None:
    """The last statement of a region that ends right above the loss's own: the loss joins it."""
    block, index = work.m.place[hoist.stmt]
    for region in plan.planner.regions:
        if region.block.body is block.body and region.last == index - 1 and plan.enabled_at[region] == enabled:
            return block.body[region.last]
    return None


def _joins(region: Region) -> ast.With | None:
    """The ``with`` whose whole body the region is, or that is all of the region."""
    owner = region.block.owner
    whole = region.first == 0 and region.last == len(region.block.body) - 1
    if isinstance(owner, ast.With) and whole:
        return owner
    stmts = region.stmts()
    return stmts[0] if len(stmts) == 1 and isinstance(stmts[0], ast.With) else None


def _last_item(work: Work, with_: ast.With) -> ast.expr | None:
    """The last item of a ``with torch.no_grad():``: autocast joins it there."""
    items = [i.context_expr for i in with_.items]
    plain = all(map(no_gradient, items))
    return items[-1] if plain and with_.items[-1].optional_vars is None else None


def _note(plan: Plan, work: Work, planned: Region, region: Region) -> None:
    first, last = region.block.body[region.first], region.block.body[region.last]
    what = "forward and loss run under autocast"
    if region.why == "evaluation":
        when = " where something had initialized Apex" if planned in plan.alone else ""
        what = f"evaluation runs under autocast, as it did under O1{when}"
    work.note_lines(plan.unit.number, ID, work.m.first_line(first), work.m.last_line(last), what)
