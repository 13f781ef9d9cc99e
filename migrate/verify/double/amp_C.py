"""A double of three functions of Apex's extension ``amp_C``, which training scripts call by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def _note(buffer: torch.Tensor, tensor: torch.Tensor) -> None:
    if not bool(torch.isfinite(tensor).all()):
        buffer.fill_(1)


@torch.no_grad()
def multi_tensor_scale(chunk: int, buffer: torch.Tensor, tensors: Sequence[Sequence[torch.Tensor]], scale: Any) -> None:
    """``out = in * scale`` for the lists (in, out); the buffer becomes 1 where something is not finite."""
    for source, target in zip(*tensors):
        _note(buffer, source)
        target.copy_(source.float() * scale)


@torch.no_grad()
def multi_tensor_axpby(
    chunk: int, buffer: torch.Tensor, tensors: Sequence[Sequence[torch.Tensor]], a: float, b: float, arg_to_check: int
) -> None:
    """``out = a * x + b * y`` for the lists (x, y, out); looks at x (0), y (1) or both (-1)."""
    for x, y, target in zip(*tensors):
        for at, one in enumerate((x, y)):
            if arg_to_check in (-1, at):
                _note(buffer, one)
        target.copy_(a * x.float() + b * y.float())


@torch.no_grad()
def multi_tensor_l2norm(
    chunk: int, buffer: torch.Tensor, tensors: Sequence[Sequence[torch.Tensor]], per_tensor: bool = False
) -> Any:
    """The norm of all tensors of the only list, as a tensor of one number, and of each of them if asked for."""
    norms = torch.stack([one.float().norm() for one in tensors[0]])
    if not bool(torch.isfinite(norms).all()):
        buffer.fill_(1)
    return norms.norm().reshape(1), norms if per_tensor else torch.empty(0)
