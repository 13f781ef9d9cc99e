"""``optimizer.step()`` becomes ``scaler.step(optimizer)`` with one ``scaler.update()`` behind it.

``scaler.step`` leaves a step out whose gradients overflowed, as Apex's patched ``step`` did.
``update`` follows the last step of its block, so that optimizers that share a loss see one scale; it
comes inside the condition that controls the step. Where gradients were unscaled to be looked at, every
way out that leaves the step out (``continue``, ``break``, ``return``) gets an ``update`` as well: a second
``unscale_`` without one is an error.

Source: torch/amp/grad_scaler.py (step, update); torch docs, "Working with multiple models, losses,
and optimizers".
"""

from __future__ import annotations

from migrate.rules.common import Plan, Stage, Work

ID = "APX060"
STAGE = Stage.UNIT
BEFORE = """\
optimizer.step()
"""
AFTER = """\
scaler.step(optimizer)
scaler.update()
"""


def apply(plan: Plan, work: Work) -> None:
    """Rewrite the unit's steps and place the updates."""
    if not plan.scaled:
        return
    for step in plan.unit.steps:
        scaler = plan.scaler_at[step.call]
        work.draft.replace(step.call, f"{scaler}.step({work.m.src(step.optimizer)})")
        work.note(plan.unit.number, ID, step.stmt, "the scaler takes the step, or leaves it out on overflow")
    for step in plan.unit.updates:
        work.draft.after(plan.unit.updated_behind(step), f"{plan.scaler_at[step.call]}.update()")
    for leaves, step in plan.unit.exits:
        work.draft.before(leaves, f"{plan.scaler_at[step.call]}.update()")
        work.note(plan.unit.number, ID, leaves, "the scale is updated on this way out, too")
