"""``apex.parallel.LARC`` is written out: torch has no counterpart, and it is a few lines around an optimizer.

The class stands behind the file's imports. It shows the optimizer's groups and state, but not that its kernel might
unscale gradients by itself, so that a GradScaler unscales them before this measures them.

Source: apex/parallel/LARC.py at tag 25.05; Yang You, Igor Gitman, Boris Ginsburg, arXiv 1708.03888.
"""

from __future__ import annotations

from ..parts.definitions import written_out
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX102"
STAGE = Stage.PARTS
BEFORE = """\
from apex.parallel.LARC import LARC

optimizer = LARC(optimizer, trust_coefficient=0.001, clip=False)
"""
AFTER = """\
import torch


class LARC:
    ...


optimizer = LARC(optimizer, trust_coefficient=0.001, clip=False)
"""

def apply(ctx: Context, work: Work) -> None:
    """Replace the class by one of the file's own."""
    replace(ctx, work, ID, {"apex.parallel.LARC": _larc})


def _larc(ctx: Context, work: Work, site: Site) -> Native | Stays:
    return written_out(ctx, work, site, "larc", "LARC")
