"""Amp's state goes from checkpoints where nobody initializes Apex.

Copies of a library's runner and checkpoint file save ``apex.amp.state_dict()``, which is empty unless amp was
initialized. Where no file that may run in their process does so once the tree is migrated, and nothing else of the tree
needs Apex's amp, nothing is saved any more; what an older checkpoint has is not looked at. Always *review*.

Source: apex/amp/frontend.py at tag 25.05: state_dict has an entry a loss scaler, of which initialize makes the first.
"""

from __future__ import annotations

from ..model import Severity
from ..plan.premises.idle_state import idle_state
from ..units.unit import Context
from .common import Stage, Work

ID = "APX072"
STAGE = Stage.CASTS
BEFORE = """\
import apex
import torch


def save(model, path):
    checkpoint = {"model": model.state_dict()}
    checkpoint["amp"] = apex.amp.state_dict()
    torch.save(checkpoint, path)
"""
AFTER = """\
import torch


def save(model, path):
    checkpoint = {"model": model.state_dict()}
    torch.save(checkpoint, path)
"""
_SAID = (
    "nothing that may run with this initializes Apex now, so amp's state would be empty here: it is not saved or "
    "loaded any more. Whoever trains with a GradScaler and uses this file would save the scaler's state instead: "
    "without it the loss scale begins at 65536 again after a resume, and a few steps are left out until it fits"
)


def apply(ctx: Context, work: Work) -> None:
    """Delete what saves and loads a state in which there is nothing."""
    if not ctx.unled:
        return
    for stmt in idle_state(ctx):
        work.draft.delete(stmt)
        work.note(None, ID, stmt, "there was nothing in amp's state")
        work.find(None, ID, Severity.REVIEW, stmt, _SAID)
