"""torch.nn.SyncBatchNorm over processes on a CPU, where torch's own wants GPUs."""

from __future__ import annotations

from typing import Any


def over_processes(torch: Any) -> None:
    """Statistics of all processes of the layer's group; torch's plain batch norm with one process and in evaluation."""
    dist = torch.distributed
    plain = torch.nn.modules.batchnorm._BatchNorm.forward

    def forward(self: Any, input: Any) -> Any:
        initialized = dist.is_available() and dist.is_initialized()
        group = (self.process_group or dist.group.WORLD) if initialized else None
        uses_batch = self.training or (self.running_mean is None and self.running_var is None)
        if not uses_batch or group is None or dist.get_world_size(group) == 1:
            return plain(self, input)
        return _synced(torch, self, input, group)

    torch.nn.SyncBatchNorm.forward = forward


def _synced(torch: Any, layer: Any, input: Any, group: Any) -> Any:
    from torch.distributed.nn.functional import all_reduce

    over = [0, *range(2, input.dim())]
    shape = [1, -1] + [1] * (input.dim() - 2)
    mine = input.new_tensor([input.numel() / input.shape[1]])
    sums = all_reduce(torch.cat([input.sum(over), mine]), group=group)
    count = sums[-1].detach()
    mean = sums[:-1] / count
    centred = input - mean.view(shape)
    variance = all_reduce((centred * centred).sum(over), group=group) / count
    if layer.training and layer.track_running_stats:
        _remember(torch, layer, mean, variance * count / (count - 1))
    output = centred * torch.rsqrt(variance + layer.eps).view(shape)
    return output * layer.weight.view(shape) + layer.bias.view(shape) if layer.affine else output


def _remember(torch: Any, layer: Any, mean: Any, variance: Any) -> None:
    layer.num_batches_tracked.add_(1)
    factor = 1.0 / float(layer.num_batches_tracked) if layer.momentum is None else layer.momentum
    with torch.no_grad():
        layer.running_mean.lerp_(mean, factor)
        layer.running_var.lerp_(variance, factor)
