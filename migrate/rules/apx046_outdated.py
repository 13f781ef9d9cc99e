"""What only a torch older than the target runs goes, where that is all that uses Apex's amp.

``if version.parse(torch.__version__) < version.parse("1.6"): from apex import amp; use_apex = True`` is false of each
torch that the result has to run on (``--target-torch``), so ``elif use_apex:`` never runs either: those arms go, and
what stands beside them stays as it is.

Source: Hugging Face's Trainer of 2020, and what was written after it.
"""

from __future__ import annotations

import ast

from ..plan.outdated import dead_arm, outdated, settled
from ..units.unit import Context
from .common import Stage, Work

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


def apply(ctx: Context, work: Work) -> None:
    """Take the arms out that never run."""
    tests = outdated(ctx)
    for node in tests:
        dead = dead_arm(ctx, node)
        if dead is node.body:
            _drop_body(ctx, work, node)
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


def _drop_body(ctx: Context, work: Work, node: ast.If) -> None:
    """An arm that never runs goes with its header: the whole condition, or one arm of a chain."""
    m, draft = ctx.m, work.draft
    last = m.last_line(node.body[-1])
    match node.orelse:
        case [] if m.is_elif(node):
            draft.cut(m.starts[node.lineno - 1], m.starts[last])
        case []:
            draft.delete(node)
        case [ast.If() as following] if m.is_elif(following):
            draft.cut(m.start(node), m.start(following) + (0 if m.is_elif(node) else len("el")))
        case _ if m.is_elif(node):
            draft.cut(m.start(node), draft.else_offset(node))
        case _:
            draft.unwrap(node, "orelse")
    work.note_lines(None, ID, node.lineno, last, _SAID)
