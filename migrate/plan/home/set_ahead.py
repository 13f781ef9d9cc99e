"""The loss scale that Apex begins with, set by hand: ``_amp_state.loss_scalers[0]._loss_scale = 2**10``.

Apex's scaler is written to; a GradScaler is told by its state, which it takes at any time. Only where no gradients wait
for their step, as it divides them by the scale of that moment: ahead of all training.
Source: torch/amp/grad_scaler.py (load_state_dict, set_growth_interval); apex/amp/scaler.py at tag 25.05.
"""

from __future__ import annotations

import ast

from ...nodes import constructs, walk
from ...units.unit import Context
from ..blocks import common, running

_SAYS = {
    "_loss_scale": '{scaler}.load_state_dict({{**{scaler}.state_dict(), "scale": {value}}})',
    "_scale_seq_len": "{scaler}.set_growth_interval({value})",
}


def set_ahead(ctx: Context, use: ast.expr) -> ast.Assign | None:
    """The assignment ahead of all training that sets what one of Apex's loss scalers begins with."""
    above = ctx.m.parent[use]
    stmt = ctx.m.statement(use)
    match stmt:
        case ast.Assign(targets=[ast.Attribute(value=owner, attr=attr) as target], value=value):
            if target is not above or owner is not use or attr not in _SAYS:
                return None
        case _:
            return None
    reads_apex = any(isinstance(n, (ast.Name, ast.Attribute)) and ctx.v.apex_names(n) for n in walk(value))
    return stmt if not reads_apex and _ahead(ctx, stmt) else None


def said(ctx: Context, stmt: ast.Assign, scaler: str) -> str:
    """What a GradScaler is told in the place of such an assignment."""
    (target,) = stmt.targets
    assert isinstance(target, ast.Attribute)
    return _SAYS[target.attr].format(scaler=scaler, value=" ".join(ctx.m.src(stmt.value).split()))


def _ahead(ctx: Context, stmt: ast.Assign) -> bool:
    """Whether every backward comes behind a statement, wherever one function runs both; where none does, whether it
    stands in a constructor."""
    m = ctx.m
    met = False
    mine = list(running(ctx, stmt))
    for scale in ctx.facts.scales:
        for at in running(ctx, scale.call):
            for own in mine:
                if own is at or m.function(at) is not m.function(own):
                    continue  # a call that leads to both says nothing
                one = m.statement(own)
                pair = common(ctx, one, m.statement(at))
                met = True
                if pair is None or m.start(pair[0]) >= m.start(pair[1]):
                    return False
                if any(m.inside(pair[1], loop) for loop in m.loops(one)):
                    return False
    return met or constructs(m.function(stmt).node)
