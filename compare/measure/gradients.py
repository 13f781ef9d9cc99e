"""What the optimizer sees at a step, and whether it stepped at all.

Both come from hooks on the optimizer, which every arm's step runs through: Apex and `GradScaler` skip
a step by not calling the optimizer, and at the hook the gradients are unscaled (and clipped) in all
arms, Apex O2's masters included. A hook that only counts costs a microsecond and waits for nothing.
A fused optimizer behind a `GradScaler` would be called on skipped steps too; no arm is built so.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

SAMPLED = 4096
"""Gradient coordinates that are recorded at step 0."""


class StepCounter:
    """Counts the steps an optimizer takes while it is attached."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.taken = 0
        self._optimizer = optimizer
        self._handle: Any = None
        self.attach()

    def attach(self) -> None:
        self._handle = self._optimizer.register_step_post_hook(self._count)

    def detach(self) -> None:
        self._handle.remove()

    def _count(self, *_: object) -> None:
        self.taken += 1


class GradientProbe:
    """Reads the gradients of single steps: its norm, or a sample of its coordinates. Not for timed steps."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.norm: float | None = None
        self.sample: list[float] | None = None
        self._handle: Any = None
        self._optimizer = optimizer

    def __enter__(self) -> GradientProbe:
        self.norm = self.sample = None
        self._handle = self._optimizer.register_step_post_hook(self._read)
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.remove()

    def _read(self, optimizer: Optimizer, *_: object) -> None:
        gradients = [
            weight.grad.detach().float()
            for group in optimizer.param_groups
            for weight in group["params"]
            if weight.grad is not None
        ]
        if gradients:
            self.norm = float(torch.stack([gradient.norm() for gradient in gradients]).norm())
            self.sample = _sample(gradients)


def _sample(gradients: list[Tensor]) -> list[float]:
    """The same coordinates for the same shapes, drawn evenly over all of them with a fixed seed."""
    sizes = torch.tensor([gradient.numel() for gradient in gradients])
    total = int(sizes.sum())
    drawn = torch.randint(total, (min(SAMPLED, total),), generator=torch.Generator().manual_seed(0))
    ends = sizes.cumsum(0)
    tensors = torch.searchsorted(ends, drawn, right=True)
    values: list[float] = []
    for index in tensors.unique().tolist():
        within = drawn[tensors == index] - (ends[index] - sizes[index])
        flat = gradients[index].reshape(-1)
        values += flat[within.to(flat.device)].cpu().tolist()
    return values
