"""The optimizer wrapper of the old API (``amp.init().wrap_optimizer(optimizer)``).

It does what that API was made to do: unscale the gradients, skip inside ``step``. In Apex 25.05 itself the
wrapper is broken (it unscales the weights instead of the gradients); scripts that use it are older.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from apex import observe

from ._amp_state import maybe_print
from .scaler import LossScaler


class OptimWrapper:
    """Always dynamic; one scaler for each loss of an iteration, in the order of the calls."""

    def __init__(self, optimizer: torch.optim.Optimizer, amp_handle: Any, num_loss: int) -> None:
        self._optimizer = optimizer
        self._amp_handle = amp_handle
        self._num_loss = num_loss
        self._loss_idx = 0
        self._skip_next = [False] * num_loss
        self._loss_scaler = [LossScaler("dynamic") for _ in range(num_loss)]

    def _params(self) -> list[torch.Tensor]:
        return [param for group in self._optimizer.param_groups for param in group["params"]]

    def _cur_loss_scaler(self) -> LossScaler:
        assert 0 <= self._loss_idx < self._num_loss
        return self._loss_scaler[self._loss_idx]

    @contextlib.contextmanager
    def scale_loss(self, loss: torch.Tensor) -> Iterator[torch.Tensor]:
        if not self._amp_handle.is_active():
            yield loss
            return
        earlier: list[torch.Tensor | None] = []
        if self._loss_idx > 0:
            earlier = [None if param.grad is None else param.grad.detach().clone() for param in self._params()]
            self._optimizer.zero_grad()
        scaler = self._cur_loss_scaler()
        scaled = loss * scaler.loss_scale()
        observe.emit("scaled", tensor=scaled, scale=scaler.loss_scale())
        yield scaled

        scaler.clear_overflow_state()
        grads = [param.grad for param in self._params() if param.grad is not None]
        scaler.unscale(grads, grads)
        self._skip_next[self._loss_idx] = scaler.update_scale()
        self._loss_idx += 1
        for param, grad in zip(self._params(), earlier):
            if grad is not None:
                param.grad = grad if param.grad is None else param.grad.add_(grad)

    def step(self, closure: Any = None) -> Any:
        if not self._amp_handle.is_active():
            return self._optimizer.step(closure=closure)
        self._loss_idx = 0
        if closure is not None:
            raise NotImplementedError("The `closure` argument is unsupported by the amp optimizer wrapper.")
        if any(self._skip_next):
            maybe_print("Gradient overflow, skipping update")
            observe.emit("skip", optimizer=self._optimizer)
            self._skip_next = [False] * self._num_loss
            return None
        return self._optimizer.step()

    def zero_grad(self) -> None:
        self._optimizer.zero_grad()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)
