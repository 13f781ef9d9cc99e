"""Adam with decoupled decay that takes scaled gradients, clips each group, and writes half weights as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch


class FusedAdam(torch.optim.Optimizer):
    """``use_mt`` and ``amp_scale_adjustment`` are taken, and change nothing here."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        bias_correction: bool = True,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        eps_inside_sqrt: bool = False,
        weight_decay: float = 0.0,
        max_grad_norm: float = 0.0,
        amsgrad: bool = False,
        use_mt: bool = False,
        amp_scale_adjustment: float = 1.0,
    ) -> None:
        if amsgrad:
            raise RuntimeError("FusedAdam does not support the AMSGrad variant.")
        defaults = {
            "lr": lr, "bias_correction": bias_correction, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "max_grad_norm": max_grad_norm,
        }  # fmt: skip
        super().__init__(params, defaults)
        self.eps_mode = 0 if eps_inside_sqrt else 1

    def step(
        self,
        closure: Callable[[], Any] | None = None,
        grads: Any = None,
        output_params: Any = None,
        scale: float = 1.0,
        grad_norms: Any = None,
    ) -> Any:
        """``grads`` and ``output_params``: a list for each group, or one for the only group."""
        loss = None if closure is None else closure()
        groups = self.param_groups
        norms = grad_norms or [None] * len(groups)
        with torch.no_grad():
            for group, mine, halves, norm in zip(groups, self._each(grads), self._each(output_params), norms):
                combined = scale
                if group["max_grad_norm"] > 0:
                    clip = (float(norm) / scale + 1e-6) / group["max_grad_norm"]
                    combined = clip * scale if clip > 1 else scale
                for param, grad, half in zip(group["params"], mine, halves):
                    grad = param.grad if grad is None else grad
                    if grad is not None:
                        self._one(param, grad.float() / combined, group)
                        if half is not None:
                            half.copy_(param)
        return loss

    def _each(self, values: Any) -> Iterator[list[Any]]:
        if values is None:
            yield from ([None] * len(group["params"]) for group in self.param_groups)
            return
        values = list(values)
        yield from values if values and isinstance(values[0], list) else [values]

    def _one(self, param: torch.Tensor, grad: torch.Tensor, group: dict[str, Any]) -> None:
        state, (beta1, beta2), value = self.state[param], group["betas"], param.float()
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(param), torch.zeros_like(param)
        state["step"] += 1
        mean = state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1).float()
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2).float()
        below = (square + group["eps"]).sqrt() if self.eps_mode == 0 else square.sqrt() + group["eps"]
        rate = group["lr"]
        if group["bias_correction"]:
            rate *= (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
        param.copy_(value - rate * (mean / below + group["weight_decay"] * value))
