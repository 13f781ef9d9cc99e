"""``apex.optimizers.FusedAdagrad`` becomes ``torch.optim.Adagrad``.

The same rule with the same defaults; ``adagrad_w_mode=True`` (decay apart from the gradient) has no counterpart.

Source: apex/optimizers/fused_adagrad.py at tag 25.05; torch/optim/adagrad.py.
"""

from __future__ import annotations

from ..parts.optimizers import loads, open_options, optimizer_call
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX112"
STAGE = Stage.PARTS
BEFORE = """\
import torch
from apex.optimizers import FusedAdagrad

optimizer = FusedAdagrad(model.parameters(), 1e-2, 1e-10)
"""
AFTER = """\
import torch

optimizer = torch.optim.Adagrad(model.parameters(), 1e-2, eps=1e-10)
"""

_PARAMETERS = "params lr eps weight_decay set_grad_none adagrad_w_mode".split()
_STATE = "a state that Apex's FusedAdagrad saved has no `step` for each parameter, which torch's asks for"


def apply(ctx: Context, work: Work) -> None:
    """Replace the calls."""
    if not ctx.settings.keep_fused:
        replace(ctx, work, ID, {"apex.optimizers.FusedAdagrad": _adagrad})


def _adagrad(ctx: Context, work: Work, site: Site) -> Native | Stays:
    given = optimizer_call(ctx, site, _PARAMETERS)
    if isinstance(given, Stays):
        return given
    if given.constant("adagrad_w_mode", False) is not False:
        return Stays("torch's Adagrad has no decay apart from the gradient: keep Apex's (--keep-fused)")
    return Native(
        "torch.optim.Adagrad",
        parameters=_PARAMETERS,
        positional=["params", "lr", "lr_decay", "weight_decay"],
        drop=_PARAMETERS[4:],
        alias=False,
        review=open_options(given, "set_grad_none", "adagrad_w_mode"),
        info=_STATE if loads(ctx) else None,
    )
