"""Stand-ins on one process, so that legacy scripts run."""

from __future__ import annotations

from typing import Any

import torch

from . import LARC as LARC


class DistributedDataParallel(torch.nn.Module):
    """Hands everything to the wrapped module; there is nobody to reduce with."""

    def __init__(self, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


class Reducer:
    """``reduce()`` does nothing on one process."""

    def __init__(self, module_or_grads_list: Any) -> None:
        self.module = module_or_grads_list

    def reduce(self) -> None:
        """Nothing to reduce with."""


class SyncBatchNorm(torch.nn.BatchNorm2d):
    """Statistics of one process are those of all."""


def convert_syncbn_model(module: torch.nn.Module, process_group: Any = None, channel_last: bool = False) -> Any:
    return module


def create_syncbn_process_group(group_size: int) -> None:
    return None
