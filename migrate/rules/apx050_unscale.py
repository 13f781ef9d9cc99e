"""Whoever reads gradients gets ``scaler.unscale_(optimizer)`` first.

Apex left unscaled gradients behind its ``with``; natively they stay scaled until the step. So a clip,
a norm for the log or a hand on ``p.grad`` needs one ``unscale_`` before it, under the condition that
controls the step (a second one before ``update()`` is an error). A clip after every micro-batch
moves under that condition (APX052).

Source: torch docs, "Working with unscaled gradients".
"""

from __future__ import annotations

import ast
import re

from ..nodes import walk
from ..plan.blocks import common
from ..plan.gradients.pending import fed, unfed
from ..units.readers import clip_bound
from ..units.unit import Step
from .apx051_master_params import parameters
from .common import Plan, Stage, Work

ID = "APX050"
STAGE = Stage.UNIT
BEFORE = """\
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
"""
AFTER = """\
scaler.unscale_(optimizer)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update()
"""
NOTES = {
    "APX052": "A clip after every micro-batch moves under the condition of the step, ahead of what looks at gradients "
    "there.",
    "APX053": "A clip of gradients that were still scaled keeps the threshold that really acted.",
    "APX054": "What reads gradients after every micro-batch makes up for the loss scale where no step follows.",
    "APX055": "A reader to whom the size of gradients is all one (FGM, PGD) sees scaled ones.",
    "APX056": "A hook sees gradients that are scaled: behind their accumulation the sum of all backwards of a step. "
    "So do a thread, a task, and what a class of another file calls.",
    "APX057": "At O2 a clip or a look at the gradients of the model's own parameters was none of what was stepped.",
}


def apply(plan: Plan, work: Work) -> None:
    """Insert the unscale calls, move clips under the step's condition, keep thresholds of scaled clips."""
    if plan.scaled:
        for unscale in plan.schedule.unscales:
            text = f"{plan.scaler_at[unscale.before]}.unscale_({unscale.optimizer})"
            lines = [unscale.loop, f"\t{text}"] if unscale.loop else [text]
            flag = plan.schedule.waits(unscale.objects)
            if flag is not None and unfed(plan.ctx, flag, unscale.before):
                continue
            if flag is not None and not fed(plan.ctx, flag, unscale.before):
                lines = [f"if {flag.name}:", f"\t{text}"]
            (work.draft.after if unscale.behind else work.draft.above)(unscale.before, *lines)
            work.note(plan.unit.number, ID, unscale.before, "gradients are unscaled before they are read")
    for clip, anchor in plan.schedule.moved.items():
        if plan.scaled:
            guard = _own_guard(work, clip, anchor)
            text = _moved_text(plan, work, clip)
            lines = [text] if guard is None else [f"if {work.m.src(guard.test)}:", f"\t{text}"]
            place = _ahead_of_readers(plan, clip, anchor)
            if work.m.owns_lines(place):
                lines = work.draft.take_comments(guard or clip) + lines
            work.draft.before(place, *lines)
            work.draft.delete(guard or clip)
            rule = "APX053" if clip in plan.schedule.scaled_clips else "APX052"
            work.note(plan.unit.number, rule, clip, "the clip moves under the condition of the step")
    for clip in plan.schedule.scaled_clips:
        if plan.scaled and clip not in plan.schedule.moved:
            _keep_threshold(plan, work, clip)
    if plan.scaled:
        for early in dict.fromkeys(plan.schedule.early.values()):
            scaler, optimizer = plan.scaler_at[early.step.call], work.m.src(early.step.optimizer)
            lines = [f"if {work.m.src(early.test)}:", f"\t{scaler}.unscale_({optimizer})", f"\t{early.scale} = 1.0"]
            work.draft.above(early.before, f"{early.scale} = {scaler}.get_scale()", *lines)
        for call, step in plan.schedule.rescaled_clips.items():
            held = plan.schedule.early.get(call)
            _rescale(plan, work, call, held.scale if held else f"{_scaler_near(plan, call, step)}.get_scale()")
        for grad in plan.schedule.divided:
            _divide(plan, work, grad)


def _scaler_near(plan: Plan, call: ast.Call, step: Step) -> str:
    """What the scaler is called where gradients are clipped: as at the step, or as at the backward of that function."""
    m = plan.ctx.m
    if m.function(step.call) is m.function(call):
        return plan.scaler_at[step.call]
    return next(plan.scaler_at[s.call] for s in plan.unit.scales if m.function(s.call) is m.function(call))


def _ahead_of_readers(plan: Plan, clip: ast.stmt, anchor: ast.stmt) -> ast.stmt:
    """Where a clip goes that moves under the step's condition: ahead of the step, and of what reads or changes
    gradients ahead of that, to which they were clipped before."""
    m = plan.ctx.m
    objects = frozenset(o for step in plan.unit.steps if step.anchor is anchor for o in step.objects)
    for one in plan.schedule.unscales:
        if one.behind or not one.objects & objects or not m.start(clip) < m.start(one.before) < m.start(anchor):
            continue
        tops = common(plan.ctx, one.before, anchor)
        if tops is not None and tops[0] is one.before and (one.loop or "for").startswith("for"):
            return one.before
    return anchor


def _own_guard(work: Work, clip: ast.stmt, anchor: ast.stmt) -> ast.If | None:
    """An ``if`` around the clip alone, which the step is not under: it moves along."""
    guard = work.m.parent[clip]
    alone = isinstance(guard, ast.If) and not guard.orelse and len(guard.body) == 1 and not work.m.inside(anchor, guard)
    return guard if alone and isinstance(guard, ast.If) else None


def _moved_text(plan: Plan, work: Work, clip: ast.stmt) -> str:
    m = work.m
    text = _with_threshold(plan, work, clip) if clip in plan.schedule.scaled_clips else m.src(clip)
    for fold in plan.folds:
        for call, said in fold.parameters.items():
            if m.inside(call, clip):
                text = text.replace(m.written(call), said)
    for node in walk(clip):
        if isinstance(node, ast.Call) and any(x.endswith(".master_params") for x in plan.ctx.v.apex_names(node.func)):
            text = text.replace(m.written(node), parameters(plan, node))
    return re.sub(r",? \)", ")", " ".join(text.split()).replace("( ", "("))


def _with_threshold(plan: Plan, work: Work, clip: ast.stmt) -> str:
    """The text of a clip of scaled gradients with the threshold that really acted."""
    m = work.m
    assert isinstance(clip, ast.Expr) and isinstance(clip.value, ast.Call)
    bound = clip_bound(clip.value)
    if bound is None:
        return m.src(clip)
    scale = next(s for s in plan.unit.scales if s.with_ is not None and m.inside(clip, s.with_))
    threshold = f"{_operand(work, bound)} / {plan.scaler_at[scale.call]}.get_scale()"
    return m.text[m.start(clip) : m.start(bound)] + threshold + m.text[m.end(bound) : m.end(clip)]


def _keep_threshold(plan: Plan, work: Work, clip: ast.stmt) -> None:
    """A clip of scaled gradients at ``c`` is a clip of the gradients at ``c / scale``."""
    assert isinstance(clip, ast.Expr) and isinstance(clip.value, ast.Call)
    call = clip.value
    scale = next(s for s in plan.unit.scales if s.with_ is not None and work.m.inside(clip, s.with_))
    scaler = plan.scaler_at[scale.call]
    work.draft.before(clip, f"{scaler}.unscale_({work.m.src(scale.optimizers)})" if scale.optimizers else "")
    bound = clip_bound(call)
    if bound is not None:
        work.draft.replace(bound, f"{_operand(work, bound)} / {scaler}.get_scale()")
    work.note(plan.unit.number, "APX053", clip, "the threshold that really acted on the scaled gradients is kept")


def _rescale(plan: Plan, work: Work, call: ast.Call, scale: str) -> None:
    """A clip of gradients at ``c`` is a clip of the scaled ones at ``c * scale``; so is the norm that it returns."""
    bound = plan.schedule.factors.get(call) or clip_bound(call)
    if bound is not None:
        one = isinstance(bound, ast.Constant) and bound.value == 1
        work.draft.replace(bound, scale if one else f"{_operand(work, bound)} * {scale}")
    above = work.m.parent[call]
    if not isinstance(above, ast.Expr):
        tail = f" / {scale}"
        alone = isinstance(above, (ast.Assign, ast.AnnAssign, ast.Call, ast.keyword, ast.Return, ast.NamedExpr))
        alone = alone and getattr(above, "func", None) is not call
        work.draft.insert_at(work.m.start(call), "" if alone else "(")
        work.draft.insert_at(work.m.end(call), tail if alone else f"{tail})")
    work.note(plan.unit.number, "APX054", call, "gradients stay scaled here: threshold and norm take the scale along")


def _divide(plan: Plan, work: Work, grad: ast.expr) -> None:
    """Gradients that stay scaled are looked at as they were."""
    alone = isinstance(work.m.parent[grad], ast.Call)
    text = f"{work.m.src(grad)} / {plan.scaler_at[grad]}.get_scale()"
    work.draft.replace(grad, text if alone else f"({text})")
    work.note(plan.unit.number, "APX054", grad, "gradients stay scaled here: what is looked at is divided by the scale")


def _operand(work: Work, expr: ast.expr) -> str:
    simple = isinstance(expr, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript))
    return work.m.src(expr) if simple else f"({work.m.src(expr)})"
