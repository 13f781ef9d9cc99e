"""Steps of the unit's optimizer without a scaled backward ahead of them."""

from __future__ import annotations

import ast

from ...facts.module import Module
from ...facts.once import once
from ...facts.sites import Scale
from ...nodes import walk
from ...units.unit import Context, Manual, Step, Unit, steps_in
from ..blocks import common
from ..gradients.fold import Fold
from ..gradients.pending import pending, told, unfed
from ..schedule import Schedule

_PENDING = "the scaler takes it where a scaled backward waits for it, else the optimizer does, as under Apex"
_NEVER = "no scaled backward waits for this step: the optimizer takes it, as under Apex"


def check_steps_without_backward(ctx: Context, unit: Unit, schedule: Schedule, folded: list[Fold]) -> None:
    """A backward that a condition may leave out, and a step that is taken all the same.

    Whoever wrote that condition meant training to go on, which a step of a GradScaler would not let it: where a flag
    can say whether there was a backward, the scaler takes the step only then."""
    m = ctx.m
    guards_ = {f.stmt for f in folded}
    for scale in (s for s in unit.scales if s.with_ is not None):
        if all(not isinstance(one, ast.If) or one in guards_ for one in m.spine(scale.call)):
            continue
        for step in steps_in(ctx, unit, m.function(scale.call)):
            if m.start(step.call) < m.start(scale.call):
                continue
            tops = common(ctx, m.statement(scale.call), step.anchor)
            if tops is None:
                continue
            inside = [s for s in m.spine(scale.call) if m.inside(s, tops[0])]
            for stmt in inside:
                if not isinstance(stmt, ast.If) or stmt in guards_ or _backward_in_each_arm(m, stmt):
                    continue
                if _left_otherwise(ctx, stmt, scale, step):
                    continue
                if any(_runs_before(ctx, other, scale, tops[0]) for other in unit.scales):
                    continue
                if any(_between(ctx, other, tops[0], step, guards_) for other in unit.scales):
                    continue
                if any(ast.dump(stmt.test) == ast.dump(x.test) for i in unit.initializes for x in _ifs(ctx, i.call)):
                    continue
                test = ast.unparse(stmt.test)
                if any(test in map(ast.unparse, _all_of(x.test)) for x in _ifs(ctx, step.call)):
                    continue  # so is the step
                if schedule.waits(step.objects) is not None:
                    continue
                flag = pending(ctx, unit, schedule, step, folded)
                if flag is not None:
                    schedule.pending.append(flag)
                    said = f"this may be left out (`{test}`), and the step is taken all the same: {_PENDING}"
                    unit.infos.append((scale.call, "APX060", said))
                    break
                if (by_hand := _sets_gradients(ctx, stmt, scale)) is not None:
                    raise Manual(
                        scale.call,
                        f"line {by_hand.lineno} sets gradients by hand where this backward is left out, and the step "
                        f"(line {step.stmt.lineno}) takes them: with no scaled backward ahead, scaler.step() raises",
                        f"step there without the scaler, {ctx.m.src(step.optimizer)}.step(), and by scaler.step() and "
                        "scaler.update() in the other arm",
                    )
                where = "holds" if any(m.inside(scale.call, s) for s in stmt.orelse) else "does not hold"
                raise Manual(
                    scale.call,
                    f"the backward is left out where `{test}` {where}, while the step (line {step.stmt.lineno}) "
                    "may be taken all the same: with no backward since the last step, scaler.step() raises where Apex "
                    "did nothing",
                    "set a flag beside the backward, and step only where it is set: if pending: "
                    f"scaler.step({ctx.m.src(step.optimizer)}); scaler.update(); pending = False",
                )
    for step, missing in schedule.unfed.items():
        _flag(ctx, unit, schedule, step, folded, missing)
    for step in unit.steps if unit.flagged else ():
        _flag(ctx, unit, schedule, step, folded, None)


def _flag(
    ctx: Context, unit: Unit, schedule: Schedule, step: Step, folded: list[Fold], missing: Manual | None
) -> None:
    """A flag for the optimizer of a step that may come with no new backward; where there can be none, the judge says
    what becomes of it, or ``missing`` does."""
    if schedule.waits(step.objects) is not None:
        return
    flag = pending(ctx, unit, schedule, step, folded)
    if flag is not None:
        schedule.pending.append(flag)
        if told(ctx, flag, schedule):
            unit.infos.append((step.call, "APX060", f"there may be no scaled backward since the last step: {_PENDING}"))
        unit.infos += [(one.call, "APX060", _NEVER) for one in flag.steps if unfed(ctx, flag, one.stmt)]
    elif missing is not None:
        raise missing


def _sets_gradients(ctx: Context, stmt: ast.If, scale: Scale) -> ast.stmt | None:
    """Where the arm without the backward gives parameters a gradient: ``p.grad = g``."""
    other = stmt.orelse if any(ctx.m.inside(scale.call, s) for s in stmt.body) else stmt.body
    for node in (n for one in other for n in walk(one)):
        if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Store):
            return ctx.m.statement(node)
    return None


def _left_otherwise(ctx: Context, stmt: ast.If, scale: Scale, step: Step) -> bool:
    """Whether the arm without the backward leaves the function, or the round of the loop that the step is in."""
    m = ctx.m
    other = stmt.orelse if any(m.inside(scale.call, s) for s in stmt.body) else stmt.body
    match other[-1:]:
        case [ast.Return()]:
            return True
        case [ast.Continue()]:
            return m.loops(stmt)[:1] == m.loops(step.anchor)[:1]
        case _:
            return False


def _all_of(test: ast.expr) -> list[ast.expr]:
    """The conditions that all hold where ``test`` does."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _runs_before(ctx: Context, other: Scale, scale: Scale, top: ast.stmt) -> bool:
    """Whether another backward of the same optimizer stands outside of what one is left out with."""
    m = ctx.m
    if not other.optimizer_objects & scale.optimizer_objects or m.inside(other.call, top):
        return False
    pair = common(ctx, m.statement(other.call), top)
    return pair is not None and m.start(pair[0]) < m.start(top) and pair[1] is top


def _between(ctx: Context, other: Scale, top: ast.stmt, step: Step, guards_: set[ast.If]) -> bool:
    """Whether another backward, whose gradients the step takes, stands behind what one is left out with, ahead of the
    step and under no condition that the step is not under."""
    m = ctx.m
    if m.function(other.call) is not m.function(step.call) or not other.optimizer_objects & step.objects:
        return False
    if not m.end(top) <= m.start(other.call) < m.start(step.call):
        return False
    tops = common(ctx, m.statement(other.call), step.anchor)
    inside = [s for s in m.spine(other.call) if tops is not None and m.inside(s, tops[0])]
    return tops is not None and not any(
        isinstance(s, ast.If) and s not in guards_ and not _backward_in_each_arm(m, s) for s in inside
    )


def _ifs(ctx: Context, node: ast.AST) -> list[ast.If]:
    return [a for a in ctx.m.ancestors(node) if isinstance(a, ast.If)]


def _backward_in_each_arm(m: Module, stmt: ast.If) -> bool:
    around = _around_backwards(m)
    return not around.isdisjoint(stmt.body) and not around.isdisjoint(stmt.orelse)


@once
def _around_backwards(m: Module) -> set[ast.AST]:
    """All that a ``.backward`` stands in."""
    found = set[ast.AST]()
    for node in m.attributes("backward"):
        for outer in m.ancestors(node):
            if outer in found:
                break
            found.add(outer)
    return found
