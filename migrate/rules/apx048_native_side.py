"""Where one switch chooses between Apex and native AMP, what chose Apex chooses the native side.

``if self.use_amp: self.scaler.scale(loss).backward() elif self.use_apex: with amp.scale_loss…``, ``self.amp_type ==
AmpType.APEX`` beside ``AmpType.PYTORCH``: the place that switches Apex on does what the native side's does, and Apex's
arms go. What is scaled, clipped and stepped is compared with what Apex did, path by path, and where the native side
does something else, all stays. What runs under autocast is then what the native side says: always *review*, as Apex's
casts held for the whole process and its levels mean nothing there.

Source: Hugging Face's Trainer from 4.2 on, ClassyVision's and vissl's tasks, OpenNMT-py's optimizer.
"""

from __future__ import annotations

import ast

from ..plan.backends.sides import Sides, is_dead, sides
from .common import Plan, Stage, Work
from .dropping import drop_body

ID = "APX048"
STAGE = Stage.UNIT
BEFORE = """\
class Task:
    def begin(self, args):
        self.use_apex = False
        self.use_amp = False
        if args.backend == "amp":
            self.use_amp = True
            self.scaler = torch.amp.GradScaler("cuda")
        elif args.backend == "apex":
            self.use_apex = True

    def backward(self, loss, optimizer):
        if self.use_amp:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
"""
AFTER = """\
class Task:
    def begin(self, args):
        self.use_amp = False
        if args.backend == "amp":
            self.use_amp = True
            self.scaler = torch.amp.GradScaler("cuda")
        elif args.backend == "apex":
            self.use_amp = True
            self.scaler = torch.amp.GradScaler("cuda")

    def backward(self, loss, optimizer):
        if self.use_amp:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()
"""
_SAID = "the native side serves"


def apply(plan: Plan, work: Work) -> None:
    """Turn the switch to the native side where it is set, and take Apex's arms out."""
    found = sides(plan.ctx) if plan.unit.beside_native else None
    if found is None:
        return
    _take_out(plan, work, found)
    _turn(plan, work, found)


def _take_out(plan: Plan, work: Work, found: Sides) -> None:
    """Apex's arms, and what is asked of its optimizers."""
    number, draft, m = plan.unit.number, work.draft, work.m
    for node, answer in found.asked.items():
        if is_dead(plan.ctx, found.asked, node):
            continue
        if isinstance(answer, str):
            draft.replace(node.test, answer)
        elif isinstance(node, ast.IfExp):
            draft.replace(node, m.src(node.body if answer else node.orelse))
        elif answer:
            draft.unwrap(node)
        else:
            drop_body(work, node)
        last = node.body[-1] if isinstance(node, ast.If) and answer is False else node.test
        work.note_lines(number, ID, node.lineno, m.last_line(last), _SAID)
    for function in found.unused:
        draft.delete(function)
        work.note(number, ID, function, f"{function.name}() is not called any more")
    for call in found.masters:
        draft.replace(call, f'(p for group in {m.src(call.args[0])}.param_groups for p in group["params"])')
        work.note(number, ID, call, "the optimizer's own parameters are the master weights")


def _turn(plan: Plan, work: Work, found: Sides) -> None:
    """The switch chooses the native side where it chose Apex's."""
    number, draft, m = plan.unit.number, work.draft, work.m
    for block, lines in found.blocks:
        draft.rewrite(block[0], *lines)
        for stmt in block[1:]:
            draft.delete(stmt)
        work.note_lines(number, ID, block[0].lineno, m.last_line(block[-1]), "what chose Apex chooses the native side")
    for stmt, target in found.checked:
        switch = found.switch
        draft.after(stmt, f"if {target} == {switch.apex}:", f"\t{target} = {switch.native}")
        work.note(number, ID, stmt, "what chose Apex chooses the native side")
    for value, text in found.joined:
        draft.replace(value, text)
        work.note(number, ID, m.statement(value), "what chose Apex chooses the native side")
    for node in found.parted:
        draft.unwrap(node)
        work.note(number, ID, node, "what chose Apex chooses the native side")
    for stmt in found.unread:
        draft.delete(stmt)
        work.note(number, ID, stmt, "nothing asks this any more")
