"""Adam, with decoupled weight decay unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ._fused import Fused, counted


class FusedAdam(Fused):
    """``capturable`` and ``master_weights`` are taken, and change nothing here."""

    types = (torch.float16, torch.bfloat16, torch.float32)

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        bias_correction: bool = True,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        adam_w_mode: bool = True,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        set_grad_none: bool = True,
        capturable: bool = False,
        master_weights: bool = False,
    ) -> None:
        if amsgrad:
            raise RuntimeError("FusedAdam does not support the AMSGrad variant.")
        if master_weights and not capturable:
            raise RuntimeError("Master weights is currently only supported with the capturable version.")
        defaults = {
            "lr": lr, "bias_correction": bias_correction, "betas": betas, "eps": eps, "weight_decay": weight_decay
        }  # fmt: skip
        super().__init__(params, defaults, set_grad_none)
        self.adam_w_mode = int(adam_w_mode)

    def step(
        self,
        closure: Callable[[], Any] | None = None,
        grads: Any = None,
        output_params: Any = None,
        scale: Any = None,
        grad_norms: Any = None,
        grad_scaler: Any = None,
    ) -> Any:
        if any(value is not None for value in (grads, output_params, scale, grad_norms)):
            raise RuntimeError(
                "FusedAdam has been updated.  Simply initialize it identically to torch.optim.Adam, "
                "and call step() with no arguments."
            )
        return super().step(closure)

    def update(self, group: dict[str, Any]) -> None:
        if not group["params"]:
            return
        step, (beta1, beta2), decay = counted(group), group["betas"], group["weight_decay"]
        first = 1 - beta1**step if group["bias_correction"] else 1.0
        second = 1 - beta2**step if group["bias_correction"] else 1.0
        for param in self.held(group):
            state, value, grad = self.state[param], param.float(), param.grad.float()  # type: ignore[union-attr]
            if not state:
                state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(value), torch.zeros_like(value)
            if not self.adam_w_mode:
                grad = grad + decay * value
            mean = state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
            square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            change = (mean / first) / ((square / second).sqrt() + group["eps"])
            if self.adam_w_mode:
                change = change + decay * value
            param.copy_(value - group["lr"] * change)
