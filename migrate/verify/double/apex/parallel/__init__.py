"""The double's ``apex.parallel``: real processes talk through torch.distributed; one alone has nobody to talk to."""

from __future__ import annotations

from typing import Any

import torch

from . import LARC as LARC
from .distributed import DistributedDataParallel, Reducer
from .sync_batchnorm import SyncBatchNorm

ReduceOp = torch.distributed.ReduceOp

__all__ = [
    "LARC", "DistributedDataParallel", "ReduceOp", "Reducer", "SyncBatchNorm", "convert_syncbn_model",
    "create_syncbn_process_group",
]  # fmt: skip


def convert_syncbn_model(module: torch.nn.Module, process_group: Any = None, channel_last: bool = False) -> Any:
    """Replace batch norms below ``module``, or itself where it is one. The new layers are in training mode."""
    if isinstance(module, torch.nn.modules.instancenorm._InstanceNorm):
        return module
    converted = module
    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
        converted = SyncBatchNorm(
            module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
            process_group, channel_last,
        )  # fmt: skip
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            setattr(converted, name, getattr(module, name))
        if module.affine:
            converted.weight.data = module.weight.data.clone()
            converted.bias.data = module.bias.data.clone()
    for name, child in module.named_children():
        converted.add_module(name, convert_syncbn_model(child, process_group, channel_last))
    return converted


def create_syncbn_process_group(group_size: int) -> Any:
    """The group of this process among groups of ``group_size`` that follow each other; None (all) for 0."""
    if group_size == 0:
        return None
    dist = torch.distributed
    world = dist.get_world_size()
    assert world >= group_size and world % group_size == 0
    mine = None
    for first in range(0, world, group_size):
        group = dist.new_group(ranks=list(range(first, first + group_size)))
        if first <= dist.get_rank() < first + group_size:
            mine = group
    return mine
