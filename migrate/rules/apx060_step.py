"""``optimizer.step()`` becomes ``scaler.step(optimizer)`` with one ``scaler.update()`` behind it.

``scaler.step`` leaves a step out whose gradients overflowed, as Apex's patched ``step`` did.
``update`` follows the last step of its block, so that optimizers that share a loss see one scale; it
comes inside the condition that controls the step. Where gradients were unscaled to be looked at, every
way out that leaves the step out (``continue``, ``break``, ``return``) gets an ``update`` as well: a second
``unscale_`` without one is an error.

A step may be taken although its backward was left out (``if torch.isnan(loss): print(…) else: backward``), or before
the first one, which ``scaler.step`` refuses. A flag says then whether a scaled backward waits; without one the
optimizer takes the step.

An optimizer may step by methods of other names (``first_step`` and ``second_step`` of SAM). Apex patched ``step``
alone, so these go on as they are: gradients are unscaled before them, and the scale is updated behind each.

Source: torch/amp/grad_scaler.py (step, update); torch docs, "Working with multiple models, losses,
and optimizers".
"""

from __future__ import annotations

import ast

from ..nodes import walk
from ..plan.gradients.pending import fed, told, unfed
from ..plan.inserted import free_name
from ..plan.schedule import Pending
from ..units.unit import Step
from .common import Plan, Stage, Work

ID = "APX060"
STAGE = Stage.UNIT
BEFORE = """\
optimizer.step()
"""
AFTER = """\
scaler.step(optimizer)
scaler.update()
"""
NOTES = {
    "APX061": "An exception that somebody swallows while the scaler waits for `update()`.",
    "APX062": "An optimizer of the program's own that leaves out the constructor of torch's, which `step` needs.",
}


_OWN = (
    "this step is the optimizer's own: Apex left out `step` alone where gradients had overflowed, and so does a scaler"
)


def apply(plan: Plan, work: Work) -> None:
    """Rewrite the unit's steps and place the updates."""
    if not plan.scaled:
        return
    waiting = {s for one in plan.schedule.pending for s in one.steps if not fed(plan.ctx, one, s.stmt)}
    idle = {s for one in plan.schedule.pending for s in one.steps if unfed(plan.ctx, one, s.stmt)}
    for one in plan.schedule.pending:
        _with_flag(plan, work, one)
    for step in plan.unit.steps:
        if step in idle:
            continue
        if step in waiting:
            pass
        elif step.own:
            plan.unit.infos.append((step.call, ID, _OWN))
            continue
        elif not isinstance(step.stmt, ast.Return) or step not in plan.schedule.updates:
            work.draft.replace(_taken(step, work), _text(plan, step, work))
        work.note(plan.unit.number, ID, step.stmt, "the scaler takes the step, or leaves it out on overflow")
    for step in plan.schedule.updates:
        if any(step in one.steps for one in plan.schedule.pending):
            continue
        if isinstance(step.stmt, ast.Return):
            result = free_name(work.m, "result", set())
            update = f"{plan.scaler_at[step.call]}.update()"
            work.draft.before(step.stmt, f"{result} = {_text(plan, step, work)}", update)
            work.draft.replace(step.call, result)
            continue
        work.draft.after(plan.schedule.updated_behind(step), f"{_scaler(plan, step)}.update()")
    for leaves, step in plan.schedule.exits:
        work.draft.before(leaves, f"{_scaler(plan, step)}.update()")
        work.note(plan.unit.number, ID, leaves, "the scale is updated on this way out, too")
    for leaves, early in plan.schedule.early_exits:
        update = f"{plan.scaler_at[early.step.call]}.update()"
        work.draft.before(leaves, f"if {work.m.src(early.test)}:", f"\t{update}")
        work.note(plan.unit.number, ID, leaves, "the scale is updated on this way out, too, if a step would follow")


def _scaler(plan: Plan, step: Step) -> str:
    """The scaler where it is updated: behind the condition of a step, perhaps, that another function takes."""
    last = plan.schedule.updated_behind(step)
    elsewhere = plan.ctx.m.function(last) is not plan.ctx.m.function(step.call)
    return plan.scaler_at[last if elsewhere else step.call]


def _with_flag(plan: Plan, work: Work, one: Pending) -> None:
    """The scaler takes the step where a scaled backward waits for it, else the optimizer does."""
    draft, flagged = work.draft, told(plan.ctx, one, plan.schedule)
    if flagged:
        draft.above(one.begin, f"{one.name} = False")
        for backward in one.backwards:
            draft.after(backward, f"{one.name} = True")
        for clears in one.cleared:
            draft.after(clears, f"{one.name} = False")
    for step in one.steps:
        if unfed(plan.ctx, one, step.stmt):
            continue  # the optimizer takes it
        if fed(plan.ctx, one, step.stmt):
            behind = [f"{one.name} = False"] if flagged else []
            draft.after(step.stmt, f"{plan.scaler_at[step.call]}.update()", *behind)
            continue
        draft.rewrite(
            step.stmt,
            f"if {one.name}:",
            f"\t{_text(plan, step, work)}",
            f"\t{plan.scaler_at[step.call]}.update()",
            f"\t{one.name} = False",
            "else:",
            f"\t{work.m.src(step.call)}",
        )


def _text(plan: Plan, step: Step, work: Work) -> str:
    """The step as the scaler takes it; a closure that is None in every call is left out."""
    return f"{plan.scaler_at[step.call]}.step({work.m.src(step.optimizer)})"


def _taken(step: Step, work: Work) -> ast.expr:
    """The step itself; or ``optimizer.step(closure) if closure is not None else optimizer.step()``, whose arms are
    the same now."""
    choice = work.m.parent[step.call]
    if not isinstance(choice, ast.IfExp) or any(isinstance(n, ast.Call) for n in walk(choice.test)):
        return step.call
    funcs = [arm.func for arm in (choice.body, choice.orelse) if isinstance(arm, ast.Call)]
    alike = len(funcs) == 2 and ast.dump(funcs[0]) == ast.dump(funcs[1])
    return choice if alike else step.call
