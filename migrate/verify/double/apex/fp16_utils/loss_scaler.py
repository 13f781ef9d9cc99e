"""The older loss scalers, for loops that scale by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from apex import observe


class LossScaler:
    """A static scale; never sees an overflow."""

    _dynamic = False

    def __init__(self, scale: float = 1) -> None:
        self.cur_scale = scale

    def has_overflow(self, params: Iterable[torch.Tensor]) -> bool:
        return False

    def update_scale(self, overflow: bool) -> None:
        """It stays."""

    @property
    def loss_scale(self) -> float:
        return self.cur_scale

    def scale_gradient(self, module: Any, grad_in: Any, grad_out: Any) -> tuple[Any, ...]:
        return tuple(self.loss_scale * grad for grad in grad_in)

    def backward(self, loss: torch.Tensor, retain_graph: bool = False) -> None:
        scaled = loss * self.loss_scale
        observe.emit("scaled", tensor=scaled, scale=float(self.loss_scale), dynamic=self._dynamic)
        scaled.backward(retain_graph=retain_graph)


class DynamicLossScaler(LossScaler):
    """Halved on an overflow, never below 1; doubled after ``scale_window`` updates without one."""

    _dynamic = True

    def __init__(self, init_scale: float = 2**32, scale_factor: float = 2.0, scale_window: int = 1000) -> None:
        super().__init__(init_scale)
        self.cur_iter = 0
        self.last_overflow_iter = -1
        self.scale_factor = scale_factor
        self.scale_window = scale_window

    def has_overflow(self, params: Iterable[torch.Tensor]) -> bool:
        sums = [float(param.grad.data.float().sum()) for param in params if param.grad is not None]
        return any(abs(one) == float("inf") or one != one for one in sums)

    def update_scale(self, overflow: bool) -> None:
        if overflow:
            self.cur_scale = max(self.cur_scale / self.scale_factor, 1)
            self.last_overflow_iter = self.cur_iter
        elif (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
            self.cur_scale *= self.scale_factor
        self.cur_iter += 1
