"""An ``autograd.Function`` with products in it says that its backward runs as its forward did.

O1's patches held in ``backward`` too, and under O2 all was half there. Natively the backward pass runs
outside of every region: the products in a function's own ``backward`` would meet a half gradient and a
float32 weight, and raise. With ``custom_fwd`` and ``custom_bwd`` the backward runs under autocast where
the forward did.

Source: torch docs, "Automatic Mixed Precision examples", Functions that need a particular dtype;
torch/amp/autocast_mode.py (custom_bwd).
"""

from __future__ import annotations

import ast

from ..units.autograd import uncast_functions
from .common import Plan, Stage, Work

ID = "APX081"
STAGE = Stage.UNIT
BEFORE = """\
@staticmethod
def forward(ctx, input, weight):
    ctx.save_for_backward(input, weight)
    return input.mm(weight.t())

@staticmethod
def backward(ctx, grad_output):
    input, weight = ctx.saved_tensors
    return grad_output.mm(weight), grad_output.t().mm(input)
"""
AFTER = """\
@staticmethod
@torch.amp.custom_fwd(device_type="cuda")
def forward(ctx, input, weight):
    ctx.save_for_backward(input, weight)
    return input.mm(weight.t())

@staticmethod
@torch.amp.custom_bwd(device_type="cuda")
def backward(ctx, grad_output):
    input, weight = ctx.saved_tensors
    return grad_output.mm(weight), grad_output.t().mm(input)
"""
NOTES = {"APX082": "A hook of the backward pass that computes products: no autocast holds there."}


def apply(plan: Plan, work: Work) -> None:
    """Decorate the program's own functions that compute products in their backward."""
    if plan.unit.off:
        return
    done: set[ast.FunctionDef] = set()  # a method of a base serves several
    for one in uncast_functions(plan.ctx):
        native = work.native(one.forward)
        for node, decorator in ((one.forward, native.custom_fwd()), (one.backward, native.custom_bwd())):
            if one.marked and node not in done:
                done.add(node)
                _decorate(work, node, decorator)
                work.note_header(plan.unit.number, ID, node, "the backward runs under autocast where the forward did")


def _decorate(work: Work, node: ast.FunctionDef, decorator: str) -> None:
    """``decorator`` goes next to the ``def``: inside of all others, where torch's context comes first."""
    start = work.m.starts[node.lineno - 1] + node.col_offset
    work.draft.insert_at(start, f"@{decorator}\n{work.m.indent(node)}")
