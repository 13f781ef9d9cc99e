"""``apex.parallel.Reducer`` is written out: gradients averaged over processes when ``reduce()`` is called.

torch has no class for it. ``apex.parallel.ReduceOp`` is torch's own.

Source: apex/parallel/distributed.py (Reducer, flat_dist_call) and apex/parallel/__init__.py at tag 25.05.
"""

from __future__ import annotations

from functools import partial

from ..parts.definitions import written_out
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..units.unit import Context
from .common import Stage, Work

ID = "APX103"
STAGE = Stage.PARTS
BEFORE = """\
from apex.parallel import Reducer

reducer = Reducer(model)
loss.backward()
reducer.reduce()
"""
AFTER = """\
import torch


class Reducer:
    ...


reducer = Reducer(model)
loss.backward()
reducer.reduce()
"""

_OPERATIONS = "SUM AVG PRODUCT MIN MAX".split()  # of ReduceOp


def apply(ctx: Context, work: Work) -> None:
    """Replace the class by one of the file's own, and the operations by torch's."""
    operations = {f"apex.parallel.{name}": partial(_operation, name) for name in ("ReduceOp", *_OPERATIONS)}
    replace(ctx, work, ID, {"apex.parallel.Reducer": _reducer, **operations})


def _reducer(ctx: Context, work: Work, site: Site) -> Native | Stays:
    return written_out(ctx, work, site, "reducer", "Reducer")


def _operation(name: str, ctx: Context, work: Work, site: Site) -> Native | Stays:
    return Native("torch.distributed.ReduceOp" if name == "ReduceOp" else f"torch.distributed.ReduceOp.{name}")
