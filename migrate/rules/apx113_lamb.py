"""``apex.optimizers.FusedLAMB`` and ``FusedNovoGrad`` are written out: torch has neither.

Each becomes a class behind the file's imports, which computes the same: LAMB clips the norm of all gradients to 1 as
Apex's did. It takes the arguments that the calls of the file give, all where one hands ``**options`` on; a switch that
they leave alone, or all set, and no group of parameters names, is no argument, and there is no code for it. A state
that Apex's LAMB saved loads into it as it is; NovoGrad keeps its norms with the parameters instead of the groups. The
kernels are not fused: steps take longer. ``--keep-fused`` leaves Apex's; timm and others have maintained ones.
``FusedMixedPrecisionLamb`` stays.

Source: csrc/multi_tensor_lamb.cu, csrc/multi_tensor_novograd.cu, apex/optimizers at tag 25.05.
"""

from __future__ import annotations

from functools import partial

from ..parts.definitions import written_out
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX113"
STAGE = Stage.PARTS
BEFORE = """\
from apex.optimizers import FusedLAMB

optimizer = FusedLAMB(model.parameters(), lr=2e-3)
"""
AFTER = """\
import torch


class LAMB(torch.optim.Optimizer):
    ...


optimizer = LAMB(model.parameters(), lr=2e-3)
"""


def apply(ctx: Context, work: Work) -> None:
    """Replace the classes by ones of the file's own."""
    if not ctx.settings.keep_fused:
        table = {
            "apex.optimizers.FusedLAMB": partial(_class, "lamb", "LAMB"),
            "apex.optimizers.FusedNovoGrad": partial(_class, "novograd", "NovoGrad"),
        }
        replace(ctx, work, ID, table)


def _class(module: str, name: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    return written_out(ctx, work, site, module, name)
