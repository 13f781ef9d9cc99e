"""Where a file has a native backend beside Apex, that one serves Apex's arm too.

``amp_autocast = torch.cuda.amp.autocast`` and ``loss_scaler = NativeScaler()``, which the native arm sets, are what
Apex's arm sets now; ``amp.initialize`` goes. What runs under autocast and how the loss is scaled is then what the file
says of its native backend, so this is for review: Apex's casts held for the whole process.

Source: timm's train.py and timm/utils/cuda.py (ApexScaler, NativeScaler), which many projects began with.
"""

from __future__ import annotations

from .common import Plan, Stage, Work

ID = "APX043"
STAGE = Stage.UNIT
BEFORE = """\
if use_amp == "apex":
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    loss_scaler = ApexScaler()
elif use_amp == "native":
    amp_autocast = torch.cuda.amp.autocast
    loss_scaler = NativeScaler()
"""
AFTER = """\
if use_amp == "apex":
    amp_autocast = torch.cuda.amp.autocast
    loss_scaler = NativeScaler()
elif use_amp == "native":
    amp_autocast = torch.cuda.amp.autocast
    loss_scaler = NativeScaler()
"""
NOTES = {
    "APX045": "A class that scales what it is called with keeps its interface and is native inside.",
}


def apply(plan: Plan, work: Work) -> None:
    """Let Apex's arm set what the native one sets."""
    backend = plan.backend
    if backend is None:
        return
    if backend.lines:
        work.draft.before(backend.first, *backend.lines)
    for value, native in backend.given:
        work.draft.replace(value, work.m.src(native))
    work.note(plan.unit.number, ID, backend.first, "the file's native backend serves here too")
