"""Apex's functions of many tensors are written out: ``multi_tensor_applier`` and the functions of ``amp_C``.

``multi_tensor_l2norm``, ``multi_tensor_scale``, ``multi_tensor_axpby`` and ``multi_tensor_adam`` become functions of
the file's own with the arguments they had, so that calls stay as they are, also of what an attribute holds. They
compute in float32 and set the flag for overflow as the kernels did, tensor by tensor instead of in one kernel: where
only a norm or a clip is wanted ``torch.nn.utils.clip_grad_norm_(…, foreach=True)`` is shorter and faster.
``multi_tensor_applier.available`` is true from now on, and conditions drop it. ``apex_C.flatten`` and ``unflatten`` are
torch's own ``torch._utils._flatten_dense_tensors`` and ``_unflatten_dense_tensors``. Other kernels of ``amp_C`` (LAMB,
NovoGrad, SGD, …) stay, and with one of them all in the file.

Source: apex/multi_tensor_apply/multi_tensor_apply.py, csrc/multi_tensor_l2norm_kernel.cu, multi_tensor_scale_kernel.cu,
multi_tensor_axpby_kernel.cu, multi_tensor_adam.cu and flatten_unflatten.cpp at tag 25.05.
"""

from __future__ import annotations

from dataclasses import replace as but
from functools import partial

from ..parts.definitions import written_out
from ..parts.outcome import Decide, Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX131"
STAGE = Stage.PARTS
BEFORE = """\
import amp_C
import torch
from apex.multi_tensor_apply import multi_tensor_applier

norm, _ = multi_tensor_applier(amp_C.multi_tensor_l2norm, overflow, [grads], False)
"""
AFTER = """\
import torch


@torch.no_grad()
def multi_tensor_l2norm(chunk_size, noop_flag, tensor_lists, per_tensor=False):
    ...


def multi_tensor_applier(op, noop_flag, tensor_lists, *args):
    ...


norm, _ = multi_tensor_applier(multi_tensor_l2norm, overflow, [grads], False)
"""

_FUNCTIONS = ("multi_tensor_l2norm", "multi_tensor_scale", "multi_tensor_axpby", "multi_tensor_adam")
_APPLIER = "apex.multi_tensor_apply.multi_tensor_applier"
_DENSE = {"flatten": "torch._utils._flatten_dense_tensors", "unflatten": "torch._utils._unflatten_dense_tensors"}
_FOREACH = (2, 0)  # the first torch whose _foreach_norm takes lists of any device
_SAID = (
    "{} is written out here with the arguments that it had, and computes what Apex's kernel did, tensor by tensor; "
    "for a clip by the norm torch.nn.utils.clip_grad_norm_(…, foreach=True) would do"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the functions, wherever they are named, and the object that calls them where all it calls is known."""
    if ctx.settings.keep_fused:
        return
    table: dict[str, Decide] = {f"apex.built.{name}": partial(_function, name) for name in _FUNCTIONS}
    table |= {f"apex.built.{name}": partial(_dense, dotted) for name, dotted in _DENSE.items()}
    table |= {_APPLIER: _applier, "apex.multi_tensor_apply.available": _available}
    replace(ctx, work, ID, table)


def _function(name: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    if (kept := _kernel(ctx)) is not None:
        return Stays(f"amp_C is needed here for {kept} all the same")
    if ctx.settings.target_torch < _FOREACH:
        return Stays("torch has functions of many tensors only from 2.0 on (--target-torch)", "torch._foreach_norm")
    first = f"@torch.no_grad()\ndef {name}"
    return but(
        written_out(ctx, work, site, "multi_tensor", name, first, alone=True), review=_SAID.format(name)
    )


def _applier(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if (kept := _kernel(ctx)) is not None:
        return Stays(f"{kept} needs a build of Apex all the same")
    name = "multi_tensor_applier"
    said = "multi_tensor_applier is written out here and only calls what it is handed, as Apex's did"
    return but(written_out(ctx, work, site, "multi_tensor", name, f"def {name}", alone=True), review=said)


def _kernel(ctx: Context) -> str | None:
    """A function of ``amp_C`` that the file uses and that is not written out here."""
    used = [dotted for dotted in ctx.facts.uses.values() if dotted.startswith("apex.built.amp_C.")]
    names = sorted(dotted.rpartition(".")[2] for dotted in used)
    return next((name for name in names if name not in _FUNCTIONS), None)


def _available(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if (kept := _kernel(ctx)) is not None:
        return Stays(f"{kept} needs a build of Apex all the same")
    return Native("True", spelled="True", alias=False, said="functions of many tensors are there in any case")


def _dense(dotted: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    return Native(dotted, alias=False)


