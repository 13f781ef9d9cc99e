"""NovoGrad: momentum of gradients, each divided by a running norm of its tensor."""

from __future__ import annotations

from typing import Any

import torch

from ._fused import Fused, counted


class FusedNovoGrad(Fused):
    """The norms are kept in the group (``exp_avg_sq``), those of half weights first, then those of float32."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        bias_correction: bool = True,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        reg_inside_moment: bool = False,
        grad_averaging: bool = True,
        norm_type: int = 2,
        init_zero: bool = False,
        set_grad_none: bool = True,
    ) -> None:
        if amsgrad:
            raise RuntimeError("FusedNovoGrad does not support the AMSGrad variant.")
        defaults = {
            "lr": lr, "bias_correction": bias_correction, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "grad_averaging": grad_averaging, "norm_type": norm_type, "init_zero": init_zero,
        }  # fmt: skip
        super().__init__(params, defaults, set_grad_none)
        self.moment_mode = 0 if reg_inside_moment else 1

    def update(self, group: dict[str, Any]) -> None:
        step = counted(group)
        held = self.held(group)
        kinds = [[one for one in held if one.dtype is dtype] for dtype in self.types]
        if "exp_avg_sq" not in group:
            if group["norm_type"] not in (0, 2):
                raise RuntimeError("FusedNovoGrad only support l2/inf norm now.")
            norms = [torch.tensor([_norm(one, group) for one in kind]) for kind in kinds]
            group["exp_avg_sq"] = [torch.zeros_like(one) if group["init_zero"] else one for one in norms]
        for kind, norms in zip(kinds, group["exp_avg_sq"]):
            assert len(kind) == norms.numel(), "other weights have gradients than at the first step"
            for at, param in enumerate(kind):
                norms[at] = _blended(float(norms[at]), _norm(param, group), group)
                self._one(param, float(norms[at]), group, step)

    def _one(self, param: torch.Tensor, norm: float, group: dict[str, Any], step: int) -> None:
        (beta1, beta2), decay = group["betas"], group["weight_decay"]
        share = 1 - beta1 if group["grad_averaging"] else 1.0
        first = 1 - beta1**step if group["bias_correction"] else 1.0
        second = (1 - beta2**step) ** 0.5 if group["bias_correction"] else 1.0
        below = norm / second + group["eps"]
        value, grad = param.float(), param.grad.float()  # type: ignore[union-attr]
        inside = self.moment_mode == 0
        mean = self.state[param].setdefault("exp_avg", torch.zeros_like(param))
        mean.mul_(beta1).add_(grad / below + decay * value if inside else grad, alpha=share)
        change = mean.float() / first
        param.copy_(value - group["lr"] * (change if inside else change / below + decay * value))


def _norm(param: torch.Tensor, group: dict[str, Any]) -> float:
    grad = param.grad.float()  # type: ignore[union-attr]
    return float(grad.abs().max() if group["norm_type"] == 0 else grad.norm())


def _blended(old: float, new: float, group: dict[str, Any]) -> float:
    beta = group["betas"][1]
    if group["norm_type"] == 0:
        return float(beta * old + (1 - beta) * new)
    return float((beta * old**2 + (1 - beta) * new**2) ** 0.5)
