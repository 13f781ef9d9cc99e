"""``amp.state_dict()`` and ``amp.load_state_dict()`` become the scaler's.

The two dictionaries differ: Apex wrote ``{"loss_scaler0": {"loss_scale", "unskipped"}}``, a GradScaler
writes ``{"scale", "growth_factor", …}``. A checkpoint written by the legacy code does not load into a
GradScaler (``KeyError: 'scale'``) until it is converted.

Source: apex/amp/frontend.py at tag 25.05 (state_dict); torch/amp/grad_scaler.py (state_dict).
"""

from __future__ import annotations

import ast

from migrate.model import Severity
from migrate.plan.bare import scale_entry
from migrate.rules.common import Plan, Stage, Work

ID = "APX070"
STAGE = Stage.UNIT
BEFORE = """\
checkpoint["amp"] = amp.state_dict()
"""
AFTER = """\
checkpoint["amp"] = scaler.state_dict()
"""


def apply(plan: Plan, work: Work) -> None:
    """Rewrite the state uses that belong to the unit."""
    for use, kind in plan.state:
        if kind == "taken":
            text = "this parameter now takes the GradScaler, which has a state of its own"
            work.find(plan.unit.number, ID, Severity.INFO, use, text)
            continue
        scaler = plan.scaler_at.get(use)
        if scaler is None:
            continue
        if kind == "handed":
            work.draft.replace(use, scaler)
            work.note(plan.unit.number, ID, use, "the GradScaler is handed on in amp's place")
        elif kind == "entry" and (whole := scale_entry(work.m, use)) is not None:
            work.draft.replace(whole, f"{scaler}.get_scale()")
            work.note(plan.unit.number, "APX071", use, "the loss scale is the scaler's")
        elif kind in ("state_dict", "load_state_dict"):
            work.draft.replace(use, f"{scaler}.{kind}")
            work.note(plan.unit.number, ID, use, f"{kind} of the scaler")
        elif kind == "scale":
            work.draft.replace(_whole(work, use), f"{scaler}.get_scale()")
            work.note(plan.unit.number, "APX071", use, "the loss scale is the scaler's")


def _whole(work: Work, use: ast.expr) -> ast.expr:
    """The expression around ``amp._amp_state.loss_scalers`` that reads one scale."""
    at = use
    while True:
        above = work.m.parent[at]
        match above:
            case ast.Subscript(value=inner) if inner is at:
                at = above
            case ast.Attribute(attr="loss_scale" | "_loss_scale"):
                at = above
            case ast.Call(func=inner) if inner is at:
                at = above
            case _:
                return at
