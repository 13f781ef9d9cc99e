"""Batch norm whose statistics are those of all processes of a group."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F

from .distributed import processes


class SyncBatchNorm(torch.nn.modules.batchnorm._BatchNorm):
    """In evaluation, and with one process, torch's own function computes it."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        channel_last: bool = False,
        fuse_relu: bool = False,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats)
        self.process_group = process_group
        self.channel_last = channel_last
        self.fuse_relu = fuse_relu

    def _specify_process_group(self, process_group: Any) -> None:
        self.process_group = process_group

    def _specify_channel_last(self, channel_last: bool) -> None:
        self.channel_last = channel_last

    def forward(self, input: torch.Tensor, z: torch.Tensor | None = None) -> torch.Tensor:
        last = self.channel_last and input.dim() > 2
        output = self._normalized(input.movedim(-1, 1) if last else input)
        output = output.movedim(1, -1) if last else output
        output = output if z is None else output + z
        return torch.relu(output) if self.fuse_relu else output

    def _normalized(self, input: torch.Tensor) -> torch.Tensor:
        training = self.training or not self.track_running_stats
        factor = 0.0
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            factor = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        group = self.process_group or (dist.group.WORLD if processes() > 1 else None)
        if training and group is not None and dist.get_world_size(group) > 1:
            return self._over_all(input, group, factor)
        return F.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, training, factor, self.eps
        )

    def _over_all(self, input: torch.Tensor, group: Any, factor: float) -> torch.Tensor:
        from torch.distributed.nn.functional import all_reduce

        shape = [1, -1] + [1] * (input.dim() - 2)
        over = [at for at in range(input.dim()) if at != 1]
        count = input.new_tensor([input.numel() / input.shape[1]])
        total = all_reduce(torch.cat([input.sum(over), count]), group=group)
        number = total[-1].detach()
        mean = total[:-1] / number
        centred = input - mean.view(shape)
        variance = all_reduce((centred * centred).sum(over), group=group) / number
        if self.running_mean is not None and self.running_var is not None:
            with torch.no_grad():
                self.running_mean.lerp_(mean, factor)
                self.running_var.lerp_(variance * number / (number - 1), factor)
        output: torch.Tensor = centred * torch.rsqrt(variance + self.eps).view(shape)
        if self.affine:
            output = output * self.weight.view(shape) + self.bias.view(shape)
        return output
