"""Adagrad; its decay may be decoupled."""

from __future__ import annotations

from typing import Any

import torch

from ._fused import Fused


class FusedAdagrad(Fused):
    """Steps divided by the root of all squares so far."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        eps: float = 1e-10,
        weight_decay: float = 0.0,
        set_grad_none: bool = True,
        adagrad_w_mode: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "eps": eps, "weight_decay": weight_decay}, set_grad_none)
        self.adagrad_w_mode = int(adagrad_w_mode)

    def update(self, group: dict[str, Any]) -> None:
        decay = group["weight_decay"]
        for param in self.held(group):
            value, grad = param.float(), param.grad.float()  # type: ignore[union-attr]
            squares = self.state[param].setdefault("sum", torch.zeros_like(param))
            if not self.adagrad_w_mode:
                grad = grad + decay * value
            squares.add_(grad * grad)
            change = grad / (squares.float().sqrt() + group["eps"])
            if self.adagrad_w_mode:
                change = change + decay * value
            param.copy_(value - group["lr"] * change)
