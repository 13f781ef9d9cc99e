"""A native scaler of the file's own that steps in one arm, where the other arm takes Apex's step.

``if use_native: scaler.step(optimizer); scaler.update()`` with ``else: optimizer.step()``: every run takes a step
there, so the condition decides who takes it, not whether.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..units.unit import Context, Step


def steps_natively(ctx: Context, step: Step, arm: Sequence[ast.stmt]) -> bool:
    """Whether an arm always hands the optimizer of ``step`` to another object's ``step``: a native scaler's."""
    return any(isinstance(stmt, ast.Expr) and _hands(ctx, step, stmt.value) for stmt in arm)


def _hands(ctx: Context, step: Step, call: ast.expr) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="step", value=owner), args=[handed, *_]):
            return bool(ctx.v.of(handed) & step.objects) and not ctx.v.of(owner) & step.objects
        case _:
            return False
