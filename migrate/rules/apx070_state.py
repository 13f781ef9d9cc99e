"""``amp.state_dict()`` and ``amp.load_state_dict()`` become the scaler's.

The two dictionaries differ: Apex wrote ``{"loss_scaler0": {"loss_scale", "unskipped"}}``, a GradScaler
writes ``{"scale", "growth_factor", …}``. A checkpoint written by the legacy code does not load into a
GradScaler (``KeyError: 'scale'``) until it is converted; what else looks into a saved state is named.
Reads of the loss scale become ``get_scale()``; between an overflow and ``update()`` that is still the old one, which
the report then says. Where no loss is scaled (a script that only evaluates) nothing asks for the state, and what saves
or loads it goes.

Source: apex/amp/frontend.py at tag 25.05 (state_dict); torch/amp/grad_scaler.py (state_dict).
"""

from __future__ import annotations

import ast

from ..model import Severity
from ..plan.carried import may_be_nothing
from ..plan.home.set_ahead import said
from ..plan.saved_entries import SAVED, all_entries, scale_entry
from .common import Plan, Stage, Work

ID = "APX070"
STAGE = Stage.UNIT
BEFORE = """\
checkpoint["amp"] = amp.state_dict()
"""
AFTER = """\
checkpoint["amp"] = scaler.state_dict()
"""
NOTES = {
    "APX071": "A read of Apex's loss scale becomes the scaler's, and so does one that is set ahead of training.",
}


def apply(plan: Plan, work: Work) -> None:
    """Rewrite the state uses that belong to the unit."""
    for mark in plan.marks:
        work.draft.replace(mark, f"{plan.scaler_at[mark]}.is_enabled()")
        work.note(plan.unit.number, ID, mark, "Apex's mark on the optimizer: whether mixed precision is on")
    for stmt in plan.idle:
        work.draft.delete(stmt)
        work.note(plan.unit.number, ID, stmt, "deleted: nothing scales a loss, so nobody asks for amp's state")
    for use, kind in () if plan.idle else plan.state:
        if kind == "taken":
            text = "this parameter now takes the GradScaler, which has a state of its own"
            work.find(plan.unit.number, ID, Severity.INFO, use, text)
            continue
        if kind == "asked":
            text = "the GradScaler is among what is asked for its state here, and has a state of its own"
            work.find(plan.unit.number, ID, Severity.INFO, use, text)
            continue
        if kind == "saved":
            assert isinstance(use, ast.Subscript) and isinstance(use.value, ast.Subscript)
            assert isinstance(use.slice, ast.Constant)
            work.draft.cut(work.m.end(use.value.value), work.m.end(use.value))
            work.draft.replace(use.slice, f'"{SAVED[str(use.slice.value)]}"')
            work.note(plan.unit.number, "APX071", use, "the entry of a GradScaler's state")
            continue
        if kind == "alias":
            assert isinstance(use, ast.Attribute)
            above = work.m.parent[use]
            whole = above if isinstance(above, ast.Call) and above.func is use else use
            work.draft.replace(whole, f"{work.m.src(use.value)}.get_scale()")
            work.note(plan.unit.number, "APX071", use, "the loss scale is the scaler's")
            continue
        if kind in ("set", "set alias"):
            stmt = work.m.statement(use)
            assert isinstance(stmt, ast.Assign)
            owner = plan.scaler_at[use] if kind == "set" else work.m.src(use)
            work.draft.rewrite(stmt, said(plan.ctx, stmt, owner))
            work.note(plan.unit.number, "APX071", stmt, "the GradScaler is told what Apex's loss scaler begins with")
            continue
        scaler = plan.scaler_at.get(use)
        if scaler is None:
            continue
        if kind == "handed":
            at_times = not plan.always and may_be_nothing(plan.ctx, use)
            work.draft.replace(use, f"{scaler} if {scaler}.is_enabled() else None" if at_times else scaler)
            work.note(plan.unit.number, ID, use, "the GradScaler is handed on in amp's place")
        elif kind == "listed":
            work.draft.replace(use, scaler)
            work.note(plan.unit.number, ID, use, "the GradScaler stands among what is asked for its state")
        elif kind == "entry" and (entry := scale_entry(work.m, use)) is not None:
            work.draft.replace(entry, f"{scaler}.get_scale()")
            work.note(plan.unit.number, "APX071", use, "the loss scale is the scaler's")
        elif kind == "entries" and (entries := all_entries(work.m, use)) is not None:
            _entries(work, *entries, scaler)
            work.note(plan.unit.number, "APX071", use, "the loss scales are the scalers'")
        elif kind in ("state_dict", "load_state_dict"):
            work.draft.replace(use, f"{scaler}.{kind}")
            work.note(plan.unit.number, ID, use, f"{kind} of the scaler")
        elif kind == "scale":
            work.draft.replace(_whole(work, use), f"{scaler}.get_scale()")
            work.note(plan.unit.number, "APX071", use, "the loss scale is the scaler's")
        elif kind in ("scaler", "scalers"):
            work.draft.replace(use, scaler)
            work.note(plan.unit.number, "APX071", use, "the GradScaler stands where Apex's loss scaler did")


def _entries(work: Work, values: ast.Call, reads: list[ast.Subscript], scalers: str) -> None:
    """A loop over all entries goes over the scalers; a list made of them is written out."""
    m = work.m
    made = m.parent[m.parent[values]]
    if isinstance(made, (ast.ListComp, ast.GeneratorExp)) and len(made.generators) == 1 and not made.generators[0].ifs:
        names = scalers.strip("[]").split(", ")
        whole = m.src(made.elt)
        spans = sorted(((m.start(r), m.end(r)) for r in reads), reverse=True)
        items = []
        for name in names:
            text, at = whole, m.start(made.elt)
            for start, end in spans:
                text = f"{text[: start - at]}{name}.get_scale(){text[end - at :]}"
            items.append(text)
        listed = f"[{', '.join(items)}]"
        work.draft.replace(made, listed if isinstance(made, ast.ListComp) else f"({listed})")
        return
    work.draft.replace(values, scalers)
    for read in reads:
        work.draft.replace(read, f"{m.src(read.value)}.get_scale()")


def _whole(work: Work, use: ast.expr) -> ast.expr:
    """``….loss_scale()`` or ``…._loss_scale`` with its call."""
    above = work.m.parent[use]
    return above if isinstance(above, ast.Call) and above.func is use else use
