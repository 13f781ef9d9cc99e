"""Master weights for every weight, and a loss scale that the wrapped optimizer divides by. What it prints is left out.

The wrapped optimizer has to take scaled gradients, as the FusedAdam beside it does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from apex import observe


class FP16_Optimizer:
    def __init__(
        self,
        init_optimizer: Any,
        static_loss_scale: float = 1.0,
        dynamic_loss_scale: bool = False,
        dynamic_loss_args: dict[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        self.optimizer, self.verbose = init_optimizer, verbose
        self.fp16_groups: list[list[torch.Tensor]] = []
        self.fp32_groups: list[list[torch.Tensor]] = []
        for group in self.param_groups:
            self.fp16_groups.append(list(group["params"]))
            group["params"] = [param.clone().float().detach() for param in group["params"]]
            self.fp32_groups.append(group["params"])
        if dynamic_loss_scale and dynamic_loss_args is not None:
            raise SystemError("Do not support dynamic loss scale args for now.")
        self.dynamic_loss_scale = bool(dynamic_loss_scale)
        self.cur_scale: float = 2**16 if dynamic_loss_scale else static_loss_scale
        self.cur_iter, self.last_overflow_iter = 0, -1
        self.scale_factor, self.scale_window = 2, 1000

    def zero_grad(self, set_grads_to_None: bool = True) -> None:
        for param in [one for group in self.fp16_groups for one in group]:
            if set_grads_to_None:
                param.grad = None
            elif param.grad is not None:
                param.grad.detach_()
                param.grad.zero_()

    def backward(self, loss: torch.Tensor) -> None:
        scaled = loss.float() * self.cur_scale
        observe.emit("scaled", tensor=scaled, scale=float(self.cur_scale), dynamic=self.dynamic_loss_scale)
        scaled.backward()

    def step(self, closure: Callable[[], Any] | None = None) -> None:
        """An overflow is skipped also where the scale is static."""
        grads = [[param.grad for param in group] for group in self.fp16_groups]
        norms = [_norm([one for one in group if one is not None]) for group in grads]
        skip = not all(bool(torch.isfinite(norm)) for norm in norms)
        if skip:
            observe.emit("skip", optimizer=self.optimizer)
        else:
            self.optimizer.step(grads=grads, output_params=self.fp16_groups, scale=self.cur_scale, grad_norms=norms)
        self._update_scale(skip)

    def _update_scale(self, skip: bool) -> None:
        if skip and (self.verbose or not self.dynamic_loss_scale):
            kind = "dynamic" if self.dynamic_loss_scale else "static"
            observe.say(f"\nGrad overflow on iteration {self.cur_iter}\nUsing {kind} loss scale of {self.cur_scale}")
        if self.dynamic_loss_scale and skip:
            self.cur_scale = max(self.cur_scale / self.scale_factor, 1)
            self.last_overflow_iter = self.cur_iter
        elif self.dynamic_loss_scale and (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
            self.cur_scale *= self.scale_factor
        self.cur_iter += 1
        observe.emit("scale", scale=float(self.cur_scale))

    def state_dict(self) -> dict[str, Any]:
        names = ["dynamic_loss_scale", "cur_scale", "cur_iter"]
        names += ["last_overflow_iter", "scale_factor", "scale_window"] if self.dynamic_loss_scale else []
        state = {name: getattr(self, name) for name in names}
        return {**state, "optimizer_state_dict": self.optimizer.state_dict(), "fp32_groups": self.fp32_groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for name, value in state_dict.items():
            if name not in ("optimizer_state_dict", "fp32_groups"):
                setattr(self, name, value)
        self.optimizer.load_state_dict(state_dict["optimizer_state_dict"])
        for group, saved in zip(self.fp32_groups, state_dict["fp32_groups"]):
            for master, value in zip(group, saved):
                master.data.copy_(value.data)

    @property
    def state(self) -> Any:
        return self.optimizer.state

    @state.setter
    def state(self, value: Any) -> None:
        self.optimizer.state = value

    @property
    def param_groups(self) -> Any:
        return self.optimizer.param_groups

    @param_groups.setter
    def param_groups(self, value: Any) -> None:
        self.optimizer.param_groups = value


def _norm(grads: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack([grad.float().norm() for grad in grads]).norm() if grads else torch.zeros(())
