"""Where a library's runner trains: the model's ``forward`` runs under autocast, and the hook has a scaler of its own.

``amp.initialize`` in one file and ``scale_loss`` in a hook that a config names, with a runner (mmcv's, say) between
them: no line of the project calls the model or hands the hook its optimizer. Apex's casts held for the whole process,
so the model's ``forward`` is wrapped where Apex was initialized, and the hook makes its scaler itself. Amp's state is
not saved any more: no way from the hook to the checkpoint is known, and a GradScaler finds its scale anew within a few
steps. All of it is for review.

Source: mmcv/runner/hooks/optimizer.py (Fp16OptimizerHook has a GradScaler of its own); apex/amp/frontend.py, which
wraps ``model.forward`` itself under O2.
"""

from __future__ import annotations

from .common import Plan, Stage, Work

ID = "APX044"
STAGE = Stage.UNIT
BEFORE = """\
model, optimizer = amp.initialize(model.cuda(), optimizer, opt_level="O1")
runner = build_runner(cfg.runner, default_args=dict(model=model, optimizer=optimizer))
"""
AFTER = """\
model = model.cuda()
model.forward = torch.autocast("cuda", dtype=torch.float16)(model.forward)
runner = build_runner(cfg.runner, default_args=dict(model=model, optimizer=optimizer))
"""


def apply(plan: Plan, work: Work) -> None:
    """Wrap the forward of the model, and drop what saved amp's state."""
    handed = plan.handed
    if handed is None:
        return
    forward = f"{handed.model}.forward"
    work.draft.after(handed.behind, f"{forward} = {work.native(handed.behind).autocast('')}({forward})")
    work.note(plan.unit.number, ID, handed.behind, "the model's forward runs under autocast")
    for stmt in handed.dropped:
        work.draft.delete(stmt)
        work.note(plan.unit.number, ID, stmt, "deleted: amp's state is not saved any more")
