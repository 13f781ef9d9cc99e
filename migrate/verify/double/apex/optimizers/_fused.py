"""What Apex's fused optimizers share. Each of them is its formula, written from what Apex's kernels compute.

Arithmetic is in float32, whatever the type of the weights. Like Apex's they refuse what its kernels have no code for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Fused(torch.optim.Optimizer):
    """Takes the gradients that are there; ``zero_grad`` takes no arguments."""

    types: tuple[torch.dtype, ...] = (torch.float16, torch.float32)

    def __init__(self, params: Any, defaults: dict[str, Any], set_grad_none: bool) -> None:
        super().__init__(params, defaults)
        self.set_grad_none = set_grad_none

    def zero_grad(self) -> None:  # type: ignore[override]
        super().zero_grad()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None if closure is None else closure()
        with torch.no_grad():
            self.begin()
            for group in self.param_groups:
                self.update(group)
        return loss

    def begin(self) -> None:
        """What needs all groups."""

    def update(self, group: dict[str, Any]) -> None:
        """One step of one group."""
        raise NotImplementedError

    def held(self, group: dict[str, Any]) -> list[torch.Tensor]:
        """The weights of a group that have a gradient. Raises RuntimeError for types that Apex has no kernel for."""
        name = type(self).__name__
        found = [param for param in group["params"] if param.grad is not None]
        if any(param.grad.is_sparse for param in found):
            raise RuntimeError(f"{name} does not support sparse gradients")
        if any(param.dtype not in self.types for param in found):
            raise RuntimeError(f"{name} only support fp16 and fp32.")
        return found


def counted(group: dict[str, Any]) -> int:
    """The number of this step, counted for the group as a whole."""
    group["step"] = group.get("step", 0) + 1
    return int(group["step"])
