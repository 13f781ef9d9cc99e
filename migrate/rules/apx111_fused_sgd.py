"""``apex.optimizers.FusedSGD`` becomes ``torch.optim.SGD``, fused as well.

The rule for momentum, dampening and weight decay is the same one, and a saved state loads as it is.
``wd_after_momentum=True`` has no counterpart; ``materialize_master_grads`` and ``set_grad_none`` say how Apex kept
gradients, and go.

Source: apex/optimizers/fused_sgd.py, csrc/multi_tensor_sgd_kernel.cu at tag 25.05; torch/optim/sgd.py.
"""

from __future__ import annotations

from ..parts.optimizers import fused, open_options, optimizer_call
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Role, Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX111"
STAGE = Stage.PARTS
BEFORE = """\
import torch
from apex.optimizers import FusedSGD

optimizer = FusedSGD(model.parameters(), lr=0.1, momentum=0.9)
"""
AFTER = """\
import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
"""

_PARAMETERS = (
    "params lr momentum dampening weight_decay nesterov wd_after_momentum materialize_master_grads set_grad_none"
).split()


_VALUE = (
    "what is made of this class is made elsewhere: torch's has the same defaults, but neither wd_after_momentum nor "
    "materialize_master_grads nor set_grad_none"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the calls."""
    if not ctx.settings.keep_fused:
        replace(ctx, work, ID, {"apex.optimizers.FusedSGD": _sgd})


def _sgd(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if site.call is None:
        unsure = site.role in (Role.HANDED, Role.BASE)
        review = _VALUE if unsure else None
        return Native("torch.optim.SGD", _PARAMETERS, drop=_PARAMETERS[6:], alias=False, review=review)
    given = optimizer_call(ctx, site, _PARAMETERS)
    if isinstance(given, Stays):
        return given
    if given.constant("wd_after_momentum", False) is not False:
        return Stays("torch's SGD has no decay behind the momentum: keep Apex's (--keep-fused), or write the step out")
    return Native(
        "torch.optim.SGD",
        parameters=_PARAMETERS,
        positional=_PARAMETERS[:6],
        drop=_PARAMETERS[6:],
        add=fused(ctx),
        alias=False,
        review=open_options(given, "wd_after_momentum", "materialize_master_grads", "set_grad_none"),
    )
