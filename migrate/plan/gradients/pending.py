"""A flag for a backward that a condition leaves out at times, while the step is taken all the same.

``scaler.step()`` raises where no backward came since the last one, and Apex's step did what the optimizer does without
new gradients. So the scaler takes the step where a scaled backward waits for it, and the optimizer where none does.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...facts.sites import Scale
from ...units.ownership import owns_all
from ...units.unit import Context, Step, Unit
from ..inserted import free_name
from ..schedule import Pending, Schedule
from .fold import Fold


def pending(
    ctx: Context, unit: Unit, schedule: Schedule, scale: Scale, step: Step, folded: Sequence[Fold]
) -> Pending | None:
    """The flag of one backward and one step in a loop of one function; None where it is not as simple as that."""
    m = ctx.m
    mine = [s for s in unit.scales if s.optimizer_objects & step.objects]
    steps = [s for s in unit.steps if s.objects & scale.optimizer_objects]
    if mine != [scale] or steps != [step] or scale.with_ is None or not _plain(ctx, schedule, step):
        return None
    if not isinstance(scale.optimizers, (ast.Name, ast.Attribute)):
        return None
    around = [s for s in m.spine(scale.call) if isinstance(s, (ast.For, ast.While)) and m.inside(step.call, s)]
    if not around or any(m.function(u.before) is not m.function(step.call) or u.loop for u in schedule.unscales):
        return None
    guard = next((fold.stmt for fold in folded if m.inside(scale.call, fold.stmt)), None)
    taken = {one.name for one in schedule.pending} | {s.name for s in schedule.scalers}
    cleared = _cleared(ctx, around[-1], step)
    if cleared is None:
        return None
    return Pending(free_name(m, "pending", taken), around[-1], guard or scale.with_, step, cleared)


def _cleared(ctx: Context, loop: ast.stmt, step: Step) -> tuple[ast.stmt, ...] | None:
    """Statements of the loop that clear the gradients of the step, but for those right behind it, where none wait; None
    where one may clear some of them, or others."""
    m = ctx.m
    block, index = m.place[step.stmt]
    found: list[ast.stmt] = []
    for call in m.calls("zero_grad"):
        stmt = m.statement(call)
        here = m.function(call) is m.function(step.call) and m.inside(call, loop)
        if not here or stmt in block.body[index:]:
            continue
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is None or not isinstance(stmt, ast.Expr):
            return None
        if m.src(owner) != m.src(step.optimizer) and not _made_from(ctx, step, owner):
            return None
        found.append(stmt)
    return tuple(found)


def _made_from(ctx: Context, step: Step, model: ast.expr) -> bool:
    """Whether the optimizer was made from all parameters of what goes by this text: by its text, as objects that one
    function makes are not told apart."""
    m, text = ctx.m, ctx.m.src(model)
    made = [obj.key for obj in step.objects if isinstance(obj.key, ast.Call)]
    near = [call for call in made if m.class_of(m.function(call)) is m.class_of(m.function(step.call))]
    alike = [call for call in near if call.args and ast.unparse(call.args[0]) == f"{text}.parameters()"]
    return bool(made) and len(alike) == len(step.objects) and owns_all(ctx, step.objects, model)


def _plain(ctx: Context, schedule: Schedule, step: Step) -> bool:
    """Whether a step is a statement of its own, with its update behind it, and nothing else depends on it."""
    alone = isinstance(step.stmt, ast.Expr) and step.stmt.value is step.call and step.anchor is step.stmt
    if not alone or step.call.args or step.call.keywords or step not in schedule.updates or step in schedule.late:
        return False
    others = [*schedule.rescaled_clips.values(), *schedule.divided.values(), *(s for _, s in schedule.exits)]
    others += [early.step for early in schedule.early.values()]
    return step not in others and step.anchor not in schedule.moved.values()
