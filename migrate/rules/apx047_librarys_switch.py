"""Where a library's switch chooses Apex beside native AMP, Apex's arms go, and a run that chooses it stops.

``elif self.use_apex:`` in a class derived from a trainer that is not in the tree: the trainer reads its options, trains
with native AMP or with Apex, and ``self.scaler`` is its own. What stands beside Apex's arms stays as it is. Where they
scaled the loss or initialized, a word says that Apex is no longer there: else such a run would go on without a scale.
A class may initialize and step and leave the backward to the library: what steps with the library's scaler stands
beside then. A switch of the program's own (``self.use_apex`` beside ``self.do_grad_scaling``) is treated alike where
what chose Apex cannot be made to choose the native side (APX048), and that side has all that it needs. That no other
run stops or differs is looked at path by path.
Always *review*.

Source: Hugging Face's Trainer (``use_apex`` beside ``use_amp``, ``do_grad_scaling`` or an accelerator), from which many
projects derive theirs.
"""

from __future__ import annotations

from ..plan.backends.foreign import chosen
from .common import Plan, Stage, Work
from .dropping import drop_body

ID = "APX047"
STAGE = Stage.UNIT
BEFORE = """\
class MyTrainer(Trainer):
    def backward(self, loss):
        if self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            self.accelerator.backward(loss)
"""
AFTER = """\
class MyTrainer(Trainer):
    def backward(self, loss):
        if self.use_apex:
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
        else:
            self.accelerator.backward(loss)
"""
_SAID = "a run that chooses Apex stops here"


def apply(plan: Plan, work: Work) -> None:
    """A stop in the place of what scaled or initialized; what ran behind it goes."""
    found = chosen(plan.ctx) if plan.unit.foreign else None
    if found is None:
        return
    for stop, switch in found.stops.items():
        first, *rest = stop.body
        name = switch.rpartition(".")[2].strip("_")
        said = f"{name}: Apex is no longer supported, use native AMP"
        work.draft.rewrite(first, f'raise RuntimeError("{said}")')
        for stmt in rest:
            work.draft.delete(stmt)
        work.note_lines(plan.unit.number, ID, first.lineno, work.m.last_line(stop.body[-1]), _SAID)
    for node in found.dead:
        drop_body(work, node)
        last = work.m.last_line(node.body[-1])
        work.note_lines(plan.unit.number, ID, node.lineno, last, "nothing comes here any more")
    for pick in found.picked:
        work.draft.replace(pick, work.m.src(pick.orelse))
        work.note(plan.unit.number, ID, pick, "Apex's value is never taken")
