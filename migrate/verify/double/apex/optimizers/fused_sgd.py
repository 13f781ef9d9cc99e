"""SGD with momentum; its decay may stand behind the momentum."""

from __future__ import annotations

from typing import Any

import torch
from torch.optim.optimizer import required

from ._fused import Fused


class FusedSGD(Fused):
    """``materialize_master_grads=False`` is not doubled: the gradients of master weights are always there."""

    def __init__(
        self,
        params: Any,
        lr: Any = required,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        wd_after_momentum: bool = False,
        materialize_master_grads: bool = True,
        set_grad_none: bool = False,
    ) -> None:
        if lr is not required and lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov
        }  # fmt: skip
        super().__init__(params, defaults, set_grad_none)
        self.wd_after_momentum = wd_after_momentum
        self.materialize_master_grads = materialize_master_grads
        self.most_recent_scale = 1.0
        self.scale_set_by_backward = False

    def update(self, group: dict[str, Any]) -> None:
        # Weights of other types are left alone without a word, as by Apex.
        for dtype in (torch.float16, torch.float32):
            self._update(group, [one for one in group["params"] if one.grad is not None and one.dtype is dtype])

    def _update(self, group: dict[str, Any], params: list[torch.Tensor]) -> None:
        decay, momentum = group["weight_decay"], group["momentum"]
        # Apex asks the last of them whether this is the first step of all.
        first = bool(params) and "momentum_buffer" not in self.state[params[-1]]
        for param in params:
            state, value, slope = self.state[param], param.float(), param.grad.float()  # type: ignore[union-attr]
            velocity = state.setdefault("momentum_buffer", torch.zeros_like(param))
            if not self.wd_after_momentum:
                slope = slope + decay * value
            if momentum:
                velocity.copy_(slope if first else velocity * momentum + (1 - group["dampening"]) * slope)
                slope = slope + momentum * velocity if group["nesterov"] else velocity.float()
            if self.wd_after_momentum:
                slope = slope + decay * value
            param.copy_(value - group["lr"] * slope)
