"""What only a torch older than the target runs goes, where that is all that uses Apex's amp.

``if version.parse(torch.__version__) < version.parse("1.6"): from apex import amp; use_apex = True`` is false of each
torch that the result has to run on (``--target-torch``), so ``elif use_apex:`` never runs either: those arms go, and
what stands beside them stays as it is. A flag that only such an arm gives a value was a NameError where others asked
it; it is named.

Source: Hugging Face's Trainer of 2020, and what was written after it.
"""

from __future__ import annotations

from ..model import Severity
from ..plan.backends.outdated import dead_arm, never_given, outdated, settled
from ..units.unit import Context
from .common import Stage, Work
from .dropping import drop_body

ID = "APX046"
STAGE = Stage.FILE
BEFORE = """\
use_apex = False
if version.parse(torch.__version__) < version.parse("1.6"):
    from apex import amp
    use_apex = True

def backward(loss, optimizer, scaler):
    if use_apex:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        scaler.scale(loss).backward()
"""
AFTER = """\
def backward(loss, optimizer, scaler):
    scaler.scale(loss).backward()
"""


_SAID = "only a torch older than the target runs what goes here"
_NEVER = "only a torch older than the target gives `{}` a value: with others this was a NameError where it was asked"


def apply(ctx: Context, work: Work) -> None:
    """Take the arms out that never run."""
    tests = outdated(ctx)
    for node in tests:
        dead = dead_arm(ctx, node)
        for name in never_given(ctx, node):
            work.find(None, ID, Severity.INFO, node.test, _NEVER.format(name))
        if dead is node.body:
            drop_body(work, node)
            work.note_lines(None, ID, node.lineno, ctx.m.last_line(node.body[-1]), _SAID)
        elif not ctx.m.is_elif(node):
            work.draft.unwrap(node)
            work.note(None, ID, node, _SAID)
        else:
            for stmt in dead:
                work.draft.delete(stmt)
                work.note(None, ID, stmt, _SAID)
    for stmt in [*settled(ctx, work.draft.gone)] if tests else []:
        work.draft.delete(stmt)
        work.note(None, ID, stmt, "nothing reads this any more")
