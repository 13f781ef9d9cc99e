"""Overflows that the program sees by a smaller loss scale: Apex halved it behind the backward, a GradScaler does at
update(). And those that Apex was told not to look for."""

from __future__ import annotations

import ast

from ..flow.arguments import argument
from ..units.unit import Context, Unit

_UNCHECKED = (
    "delay_overflow_check: Apex did not act on an overflow of this backward, took the step with what is not finite, "
    "and left the loss scale as it was; a GradScaler leaves the step out and halves it"
)
_UNREAD = (
    "what ** hands to scale_loss is not read here: with delay_overflow_check Apex took steps that had overflowed, with "
    "delay_unscale it left gradients scaled, with loss_id it used another loss scale; a GradScaler does none of these"
)


def review_overflow_tests(ctx: Context, unit: Unit, state: list[tuple[ast.expr, str]]) -> None:
    """Names the comparisons of two loss scales between a backward and its step: no overflow is seen there any more."""
    m = ctx.m
    reads = [use for use, kind in state if kind in ("scale", "entry", "scaler", "alias")]
    held = {m.src(target) for use in reads for target in _targets(m.statement(use))}
    for test in m.all(ast.Compare) if reads else ():
        sides = (test.left, *test.comparators)
        scales = [s for s in sides if m.src(s) in held or any(m.inside(use, s) for use in reads)]
        if len(scales) < 2 or not isinstance(test.ops[0], (ast.Lt, ast.Gt, ast.NotEq, ast.Eq, ast.LtE, ast.GtE)):
            continue
        here, at = m.function(test), m.start(test)
        behind = any(m.function(s.call) is here and m.start(s.call) < at for s in unit.scales)
        if behind and not any(m.function(s.call) is here and m.start(s.call) < at for s in unit.steps):
            unit.review(
                test,
                "APX071",
                f"`{m.src(test)}` no longer sees an overflow here: the scale of a GradScaler changes at update() only. "
                "Compare behind scaler.update(), with the scale from before the step",
            )


def review_unchecked(unit: Unit) -> None:
    """Names the backwards whose overflows Apex let pass, or may have."""
    for scale in unit.scales:
        told = argument(scale.call, 5, "delay_overflow_check")
        if told is not None and not (isinstance(told, ast.Constant) and not told.value):
            unit.review(scale.call, "APX040", _UNCHECKED)
        elif any(k.arg is None for k in scale.call.keywords):
            unit.review(scale.call, "APX040", _UNREAD)


def _targets(stmt: ast.stmt) -> list[ast.expr]:
    return list(stmt.targets) if isinstance(stmt, ast.Assign) else []
