"""``apex.parallel``'s synchronized batch norm becomes ``torch.nn.SyncBatchNorm``.

``convert_syncbn_model(model)`` is ``torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)``, the class has the same
parameters, buffers and keys in a saved state, and ``create_syncbn_process_group(n)`` is the first group of
``torch.distributed.new_subgroups(n)``. The conversion of Apex set every batch norm to training and let its parameters
learn; torch's leaves both as they are. It gave them new parameters, too, of which an optimizer that was made before it
knew nothing; torch's keeps them. A layer in channels-last shape (``channel_last=True``) or with a fused
activation has no counterpart and stays.

Source: apex/parallel/__init__.py, apex/parallel/optimized_sync_batchnorm.py at tag 25.05;
torch/nn/modules/batchnorm.py (SyncBatchNorm).
"""

from __future__ import annotations

import ast

from ..parts.arguments import bind
from ..parts.outcome import Native, Stays
from ..parts.replace import replace
from ..parts.sites import Site
from ..parts.words import native
from ..units.unit import Context
from .common import Stage, Work

ID = "APX101"
STAGE = Stage.PARTS
BEFORE = """\
import apex
import torch

model = apex.parallel.convert_syncbn_model(model)
"""
AFTER = """\
import torch

model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
"""

_LAYER = "num_features eps momentum affine track_running_stats process_group channel_last fuse_relu".split()
_CONVERT = "module process_group channel_last".split()
_MODES = (
    "Apex's conversion put every batch norm into training mode and let its parameters learn; torch's leaves both as "
    "they are, which differs where some were frozen or in evaluation mode before; and it gave them new parameters, "
    "which an optimizer made before it did not train, and now trains"
)


def apply(ctx: Context, work: Work) -> None:
    """Replace the layer, the conversion and the groups."""
    replace(
        ctx,
        work,
        ID,
        {
            "apex.parallel.convert_syncbn_model": _conversion,
            "apex.parallel.SyncBatchNorm": _layer,
            "apex.parallel.create_syncbn_process_group": _group,
        },
    )


def _conversion(ctx: Context, work: Work, site: Site) -> Native | Stays:
    native = "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
    if site.call is None:
        return Native(native, alias=False, review=_MODES)
    given = bind(site, _CONVERT)
    if given.surplus or given.splat or given.constant("channel_last", False) is not False:
        return Stays("batch norm in channels-last shape has no counterpart", f"{native}(model)")
    return Native(
        native, parameters=_CONVERT, positional=_CONVERT[:2], drop=["channel_last"], alias=False, review=_MODES
    )


def _layer(ctx: Context, work: Work, site: Site) -> Native | Stays:
    if site.call is None:
        return Native("torch.nn.SyncBatchNorm", parameters=_LAYER, drop=_LAYER[6:])
    given = bind(site, _LAYER)
    shaped = any(given.constant(name, False) is not False for name in _LAYER[6:])
    if given.surplus or given.splat or shaped:
        return Stays(
            "a layer in channels-last shape, or with an activation in it, has no counterpart",
            "torch.nn.SyncBatchNorm(…) with torch.nn.ReLU() behind it, in memory_format=torch.channels_last",
        )
    return Native("torch.nn.SyncBatchNorm", parameters=_LAYER, positional=_LAYER[:6], drop=_LAYER[6:])


def _group(ctx: Context, work: Work, site: Site) -> Native | Stays:
    words = native(ctx.m, ctx.m.file(site.use), work.native(site.use), "torch.distributed.new_subgroups")
    given = None if site.call is None or site.filled else bind(site, ["group_size"])
    if site.call is None or given is None or given.surplus or given.splat or not given.named:
        return Stays("how large these groups are is not told here", f"{words}(group_size)[0]")
    size = given.named["group_size"]
    text = f"{words}({ctx.m.src(size)})[0]"
    if isinstance(size, ast.Constant):
        return Native("torch.distributed.new_subgroups", text=text if size.value else "None", alias=False)
    text = f"{text} if {ctx.m.src(size)} else None"  # Apex gives back None for one group of all
    if not isinstance(ctx.m.parent[site.call], (ast.Assign, ast.keyword)):
        text = f"({text})"
    return Native("torch.distributed.new_subgroups", text=text, alias=False)
