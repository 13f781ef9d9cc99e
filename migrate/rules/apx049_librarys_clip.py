"""What only clips behind a library's switch reads the optimizer's own parameters.

``amp.master_params(self.optimizer) if self.use_apex else model.parameters()`` in a class derived from a trainer that is
not in the tree, which initializes and scales by itself: ``master_params`` is a loop over the optimizer's groups, so
that loop takes its place, and a run that has the library use Apex clips as it did. Where the program asks more of amp
than that, nothing is changed here (APX047).

Source: apex/amp/_amp_state.py at tag 25.05 (master_params); copies of the loop of Hugging Face's Trainer.
"""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..plan.backends.foreign import clipped
from ..units.unit import Context
from .apx051_master_params import of_groups
from .common import Stage, Work

ID = "APX049"
STAGE = Stage.FILE
BEFORE = """\
class MyTrainer(Trainer):
    def clip(self, model):
        torch.nn.utils.clip_grad_norm_(
            amp.master_params(self.optimizer) if self.use_apex else model.parameters(),
            self.args.max_grad_norm,
        )
"""
AFTER = """\
class MyTrainer(Trainer):
    def clip(self, model):
        torch.nn.utils.clip_grad_norm_(
            (p for group in self.optimizer.param_groups for p in group["params"])
            if self.use_apex
            else model.parameters(),
            self.args.max_grad_norm,
        )
"""


_SAID = "master_params went over the optimizer's groups; the library does what else Apex does"


def apply(ctx: Context, work: Work) -> None:
    """Write out what ``master_params`` goes over."""
    for call in clipped(ctx):
        above = ctx.m.parent[call]
        if isinstance(above, ast.IfExp) and above.body is call and _begins_a_line(ctx.m, above):
            work.draft.replace(above, _lines(ctx.m, call, above))
        else:
            work.draft.replace(call, of_groups(ctx.m, call))
        work.note(None, ID, call, _SAID)


def _begins_a_line(m: Module, node: ast.expr) -> bool:
    return not m.line_text(node.lineno)[: node.col_offset].strip()


def _lines(m: Module, call: ast.Call, pick: ast.IfExp) -> str:
    """One of two values, a line each: the generator makes it a long one."""
    begin = "\n" + " " * pick.col_offset
    return f"{of_groups(m, call)}{begin}if {m.src(pick.test)}{begin}else {m.src(pick.orelse)}"
