"""Where a file has a native backend beside Apex, that one serves Apex's arm too.

``amp_autocast = torch.cuda.amp.autocast`` and ``loss_scaler = NativeScaler()``, which the native arm sets, are what
Apex's condition asks for now: where one arm follows the other they become one, else Apex's sets the same.
A validation with a switch for each (``if native_amp: amp_autocast = …``, ``if apex_amp: model = amp.initialize(…)``)
asks for both where it asked for the native one.
Where each guard of the training has a native arm that does the same (``if apex: with amp.scale_loss… else:
scaler.scale(loss).backward()…``), these arms serve both and the guards go (`plan/backends/arms.py`).
``amp.initialize`` goes, and with it a class that scales by Apex, once nothing makes one. What runs under autocast is
then what the file says of its native backend, so this is for review: Apex's casts held for the whole process. What is
scaled, clipped and stepped is compared with what Apex did, path by path; where the two differ, all stays. A scaler of a
library is not read, and the report says so.

Source: timm's train.py and timm/utils/cuda.py (ApexScaler, NativeScaler), which many projects began with.
"""

from __future__ import annotations

import ast

from ..plan.backends.native import Backend, only_tells
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
if use_amp in ("apex", "native"):
    amp_autocast = torch.cuda.amp.autocast
    loss_scaler = NativeScaler()
"""
_SERVES = "the file's native backend serves here too"
NOTES = {
    "APX045": "A class that scales what it is called with keeps its interface and is native inside.",
}


def apply(plan: Plan, work: Work) -> None:
    """Let Apex's arm set what the native one sets, or the native arm serve for both."""
    for guard in plan.unit.served:
        work.draft.unwrap(guard, "orelse")
        work.note(plan.unit.number, ID, guard, _SERVES)
    backend = plan.backend
    if backend is None:
        return
    for cls in backend.unused:
        work.draft.delete(cls)
        work.note(plan.unit.number, ID, cls, f"{cls.name} goes: nothing makes one any more")
    for alias in backend.unread:
        stmt = work.m.parent[alias]
        if isinstance(stmt, ast.ImportFrom) and len(stmt.names) == 1:
            work.draft.delete(stmt)
        else:
            work.draft.cut_alias(alias)
        work.note(plan.unit.number, ID, stmt, f"{alias.name} is not used any more")
    if backend.asked is not None and isinstance(backend.first, ast.If):
        test = backend.first.test
        work.draft.replace(test, f"{work.m.src(test)} or {work.m.src(backend.asked)}")
        work.note(plan.unit.number, ID, test, _SERVES)
        return
    if backend.arms is not None and _nothing_else(work, backend):
        mine, native = backend.arms
        work.draft.join(mine, native)
        work.note_lines(plan.unit.number, ID, mine.lineno, work.m.last_line(mine.body[-1]), _SERVES)
        return
    if backend.lines:
        work.draft.before(backend.first, *backend.lines)
    for value, native_value in backend.given:
        work.draft.replace(value, work.m.src(native_value))
    work.note(plan.unit.number, ID, backend.first, _SERVES)


def _nothing_else(work: Work, backend: Backend) -> bool:
    """Whether Apex's arm does nothing that the native one does not do: it initializes, sets names, and tells."""
    assert backend.arms is not None
    mine, _ = backend.arms
    given = {value for value, _ in backend.given}
    plain = all(work.m.owns_lines(arm.body[0]) for arm in backend.arms)
    return plain and all(
        work.draft.deleted(stmt) or only_tells(stmt) or (isinstance(stmt, ast.Assign) and stmt.value in given)
        for stmt in mine.body
    )
