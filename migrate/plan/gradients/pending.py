"""A flag that says whether a scaled backward waits for its step.

``scaler.step()`` raises where no backward came since the last one, and Apex's step did what the optimizer does without
new gradients: where a condition leaves the backward out at times, where a round begins with the step, where what is
left of a window is stepped behind the loop and nothing may be left. So the scaler takes the step where a scaled
backward waits for it, and the optimizer where none does.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...facts.scopes import Scope
from ...facts.sites import Scale
from ...nodes import walk
from ...units.ownership import owns_all
from ...units.references import callers_known
from ...units.unit import Context, Step, Unit
from ..inserted import free_name
from ..schedule import Pending, Schedule
from .fold import Fold


def pending(ctx: Context, unit: Unit, schedule: Schedule, step: Step, folded: Sequence[Fold]) -> Pending | None:
    """The flag of an optimizer whose backwards and steps stand in one function, or the backwards in one that this calls
    for each, the first of them in a loop; None where it is not as simple as that."""
    m, here = ctx.m, ctx.m.function(step.call)
    scales = [s for s in unit.scales if s.optimizer_objects & step.objects]
    steps = [s for s in unit.steps if s.objects & step.objects]
    fed_by = [_backwards(ctx, here, scale, folded) for scale in scales]
    backwards = tuple(dict.fromkeys(stmt for stmts in fed_by for stmt in stmts))
    if not scales or not all(fed_by) or any(m.function(s.stmt) is not here for s in steps):
        return None
    alike = all(s.objects == step.objects and m.src(s.optimizer) == m.src(step.optimizer) for s in steps)
    if not alike or any(s.optimizer_objects != step.objects for s in scales):
        return None
    if not all(_plain(ctx, schedule, one) for one in steps):
        return None
    if any(not isinstance(s.optimizers, (ast.Name, ast.Attribute)) for s in scales):
        return None
    first = min([*backwards, *(s.stmt for s in steps)], key=m.start)
    around = [s for s in m.spine(first) if isinstance(s, (ast.For, ast.While))]
    if not around or any(m.function(u.before) is not here or u.loop for u in schedule.unscales):
        return None
    taken = {one.name for one in schedule.pending} | {s.name for s in schedule.scalers}
    cleared = _cleared(ctx, around[-1], steps, backwards)
    if cleared is None:
        return None
    return Pending(free_name(m, "pending", taken), around[-1], backwards, tuple(steps), cleared)


def _backwards(ctx: Context, here: Scope, scale: Scale, folded: Sequence[Fold]) -> list[ast.stmt]:
    """The statements of a function behind which a scaled backward waits: the backward with its guard, or the calls of
    a helper that runs it in any case; empty where that cannot be said."""
    m = ctx.m
    guard = next((fold.stmt for fold in folded if m.inside(scale.call, fold.stmt)), scale.with_)
    scope = m.function(scale.call)
    if guard is None or scope is here:
        return [] if guard is None else [guard]
    body = getattr(scope.node, "body", None)
    if not scope.is_function or m.block(guard).body is not body or not isinstance(body, list):
        return []
    left = any(isinstance(n, (ast.Return, ast.Raise)) for stmt in body[: m.index(guard)] for n in walk(stmt))
    calls = ctx.v.calls[scope.node]
    stmts = [m.statement(call) for call in calls]
    alone = all(getattr(stmt, "value", None) is call for stmt, call in zip(stmts, calls, strict=True))
    if left or not callers_known(ctx, scope) or not alone or any(m.function(call) is not here for call in calls):
        return []
    return [] if any(isinstance(stmt, ast.Return) for stmt in stmts) else stmts


def fed(ctx: Context, flag: Pending, stmt: ast.stmt) -> bool:
    """Whether a scaled backward waits for certain where a statement begins: it stands above it, in the same round and
    under no condition of its own, and nothing between clears or steps."""
    m = ctx.m
    ends = [*(step.stmt for step in flag.steps), *flag.cleared]
    for around in m.spine(stmt):
        if around is not stmt and isinstance(around, (ast.For, ast.AsyncFor, ast.While)):
            return False
        block, index = m.place[around]
        above = [b for b in flag.backwards if m.block(b) is block and m.index(b) < index]
        if above:
            last = max(above, key=m.start)
            return not any(m.end(last) <= m.start(one) < m.start(stmt) for one in ends)
    return False


def unfed(ctx: Context, flag: Pending, stmt: ast.stmt) -> bool:
    """Whether none waits for certain where a statement begins: gradients are cleared above it, in the same round and
    under no condition of their own, and no scaled backward follows between."""
    m = ctx.m
    for around in m.spine(stmt):
        if around is not stmt and isinstance(around, (ast.For, ast.AsyncFor, ast.While)):
            return False
        block, index = m.place[around]
        above = [one for one in flag.cleared if m.block(one) is block and m.index(one) < index]
        if above:
            last = max(above, key=m.start)
            return not any(m.end(last) <= m.start(one) < m.start(stmt) for one in flag.backwards)
    return False


def told(ctx: Context, flag: Pending, schedule: Schedule) -> bool:
    """Whether it takes a flag to say where a scaled backward waits to be unscaled, or for its step."""
    mine = [one.before for one in schedule.unscales if schedule.waits(one.objects) is flag]
    stmts = [*mine, *(step.stmt for step in flag.steps)]
    return not all(fed(ctx, flag, stmt) or unfed(ctx, flag, stmt) for stmt in stmts)


def _cleared(
    ctx: Context, begin: ast.stmt, steps: Sequence[Step], backwards: Sequence[ast.stmt]
) -> tuple[ast.stmt, ...] | None:
    """Statements that clear the gradients of the steps, but for those right behind one, where none wait, or right ahead
    of a backward; None where one may clear some of them, or others."""
    m = ctx.m
    behind = [stmt for step in steps for block, index in [m.place[step.stmt]] for stmt in block.body[index:]]
    found: list[ast.stmt] = []
    for call in m.calls("zero_grad"):
        stmt = m.statement(call)
        here = m.function(call) is m.function(steps[0].call) and m.start(call) > m.start(begin)
        if not here or stmt in behind:
            continue
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is None or not isinstance(stmt, ast.Expr):
            return None
        if m.src(owner) != m.src(steps[0].optimizer) and not _made_from(ctx, steps[0], owner):
            return None
        if not _feeds(ctx, stmt, steps, backwards):
            found.append(stmt)
    return tuple(found)


def _feeds(ctx: Context, stmt: ast.stmt, steps: Sequence[Step], backwards: Sequence[ast.stmt]) -> bool:
    """Whether a scaled backward follows a statement for certain, ahead of any step."""
    block, index = ctx.m.place[stmt]
    for below in block.body[index + 1 :]:
        if below in backwards:
            return True
        leaves = any(isinstance(n, (ast.Continue, ast.Break, ast.Return, ast.Raise)) for n in walk(below))
        if leaves or any(ctx.m.inside(step.call, below) for step in steps):
            return False
    return False


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
