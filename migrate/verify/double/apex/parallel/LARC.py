"""A stand-in for Apex's layer-wise learning rates: local rate = trust * |w| / (|g| + decay * |w| + eps)."""

from __future__ import annotations

from typing import Any

import torch


class LARC:
    """Not an optimizer itself; scales the gradients and lets the wrapped optimizer step."""

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        trust_coefficient: float = 0.02,
        clip: bool = True,
        eps: float = 1e-8,
    ) -> None:
        self.optim = optimizer
        self.trust_coefficient = trust_coefficient
        self.clip = clip
        self.eps = eps

    @property
    def param_groups(self) -> Any:
        return self.optim.param_groups

    @param_groups.setter
    def param_groups(self, value: Any) -> None:
        self.optim.param_groups = value

    @property
    def state(self) -> Any:
        return self.optim.state

    def state_dict(self) -> Any:
        return self.optim.state_dict()

    def load_state_dict(self, state_dict: Any) -> None:
        self.optim.load_state_dict(state_dict)

    def zero_grad(self) -> None:
        self.optim.zero_grad()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        self.optim.add_param_group(param_group)

    @torch.no_grad()
    def step(self) -> None:
        decays = [group.get("weight_decay", 0) for group in self.param_groups]
        for group, decay in zip(self.param_groups, decays):
            group["weight_decay"] = 0
            for param in group["params"]:
                if param.grad is None:
                    continue
                weight, grad = torch.norm(param), torch.norm(param.grad)
                if weight == 0 or grad == 0:
                    continue
                rate = self.trust_coefficient * weight / (grad + weight * decay + self.eps)
                if self.clip:
                    rate = min(rate / group["lr"], 1)
                param.grad.add_(param, alpha=decay).mul_(rate)
        self.optim.step()
        for group, decay in zip(self.param_groups, decays):
            group["weight_decay"] = decay
