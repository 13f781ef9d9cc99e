"""LAMB: Adam whose steps are as long as the weights, behind a clip of the norm of all gradients."""

from __future__ import annotations

from typing import Any

import torch

from ._fused import Fused, counted


class FusedLAMB(Fused):
    """After a step the gradients hold the change that was made, as with Apex."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        bias_correction: bool = True,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        adam_w_mode: bool = True,
        grad_averaging: bool = True,
        set_grad_none: bool = True,
        max_grad_norm: float = 1.0,
        use_nvlamb: bool = False,
    ) -> None:
        if amsgrad:
            raise RuntimeError("FusedLAMB does not support the AMSGrad variant.")
        defaults = {
            "lr": lr, "bias_correction": bias_correction, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "grad_averaging": grad_averaging, "max_grad_norm": max_grad_norm,
        }  # fmt: skip
        super().__init__(params, defaults, set_grad_none)
        self.adam_w_mode = int(adam_w_mode)
        self.use_nvlamb = use_nvlamb
        self._clip = 1.0

    def begin(self) -> None:
        """The norm over all groups, and the limit that the optimizer was made with: groups have none of their own."""
        norms = [param.grad.float().norm() for group in self.param_groups for param in self.held(group)]  # type: ignore[union-attr]
        norm, most = float(torch.stack(norms).norm()) if norms else 0.0, self.defaults["max_grad_norm"]
        self._clip = 1.0
        if norm > most:
            self._clip = norm / most if most else float("inf")

    def update(self, group: dict[str, Any]) -> None:
        step, (beta1, beta2), decay = counted(group), group["betas"], group["weight_decay"]
        share = 1 - beta1 if group["grad_averaging"] else 1.0
        first = 1 - beta1**step if group["bias_correction"] else 1.0
        second = 1 - beta2**step if group["bias_correction"] else 1.0
        for param in self.held(group):
            assert param.grad is not None
            state, value, grad = self.state[param], param.float(), param.grad.float() / self._clip
            if not state:
                state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(param), torch.zeros_like(param)
            if not self.adam_w_mode:
                grad = grad + decay * value
            mean = state["exp_avg"].mul_(beta1).add_(grad, alpha=share).float()
            square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2).float()
            change = (mean / first) / ((square / second).sqrt() + group["eps"])
            if self.adam_w_mode:
                change = change + decay * value
            param.grad.copy_(change)
            param.copy_(value - group["lr"] * self._ratio(value, change, decay) * change)

    def _ratio(self, value: torch.Tensor, change: torch.Tensor, decay: float) -> float:
        if not (self.use_nvlamb or decay):
            return 1.0
        weight, size = float(value.norm()), float(change.norm())
        return weight / size if weight and size else 1.0
