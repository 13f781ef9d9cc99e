"""``FP16_Optimizer`` and ``network_to_half`` are written out: they keep training as it was, without Apex.

A class behind the file's imports keeps float32 copies of half weights and the loss scale, so that ``model.half()``,
``optimizer.backward(loss)``, ``optimizer.clip_master_grads(…)`` and ``optimizer.step()`` mean what they meant. There
are two: that of ``apex.fp16_utils``, and the older one of ``apex.optimizers`` and ``apex.contrib.optimizers``, which
goes with a FusedAdam that clips (``max_grad_norm``). Each holds what the program asks for: a scale that is dynamic, or
static, as the calls say; methods and attributes that the file, or one of its process that may get the object, names.
Where code that is not in the tree gets it, it holds all. A state that Apex's wrote does not load. Native AMP needs
neither: float32 weights, ``torch.autocast`` around the forward and a GradScaler do, so move on from there.

Source: apex/fp16_utils/fp16_optimizer.py, apex/fp16_utils/fp16util.py, apex/contrib/optimizers/fp16_optimizer.py at
tag 25.05.
"""

from __future__ import annotations

import ast
from dataclasses import replace as but
from functools import partial

from ..parts.definitions import written_out
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX114"
STAGE = Stage.PARTS
BEFORE = """\
from apex.fp16_utils import FP16_Optimizer

model = model.half()
optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
optimizer.backward(loss)
optimizer.step()
"""
AFTER = """\
import torch


class FP16_Optimizer:
    ...


model = model.half()
optimizer = FP16_Optimizer(optimizer)
optimizer.backward(loss)
optimizer.step()
"""

_WIDER = (
    "the class that is written out here keeps float32 copies of half weights as Apex's did, and reads no state that "
    "Apex's wrote; float32 weights under torch.autocast with a GradScaler would be the native way"
)
_CLOSURE = "a closure handed to step() of an FP16_Optimizer has no counterpart here"


def apply(ctx: Context, work: Work) -> None:
    """Replace them by ones of the file's own."""
    newer, older = partial(_wrapper, "fp16_optimizer"), partial(_wrapper, "fp16_contrib")
    replace(
        ctx,
        work,
        ID,
        {
            "apex.fp16_utils.FP16_Optimizer": newer,
            "apex.optimizers.FP16_Optimizer": older,
            "apex.contrib.optimizers.FP16_Optimizer": older,
            "apex.fp16_utils.network_to_half": _half,
        },
    )


def _wrapper(module: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    steps = [call for call in ctx.m.calls("step") if isinstance(call.func, ast.Attribute)]
    given = [arg for call in steps for arg in (*call.args, *(keyword.value for keyword in call.keywords))]
    if any(isinstance(arg, ast.Lambda) or ast.unparse(arg) == "closure" for arg in given):
        return Stays(_CLOSURE)
    return but(written_out(ctx, work, site, module, "FP16_Optimizer"), review=_WIDER)


def _half(ctx: Context, work: Work, site: Site) -> Native | Stays:
    return written_out(ctx, work, site, "network_to_half", "network_to_half", first="class ToHalf")
