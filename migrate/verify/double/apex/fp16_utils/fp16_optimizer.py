"""An optimizer with master weights and a loss scale, around another one.

What it prints while it is made is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from apex import observe
from apex.amp._amp_state import maybe_print
from apex.amp.scaler import LossScaler

from .fp16util import clip_grad_norm, master_params_to_model_params


class FP16_Optimizer:
    """Half weights get masters; float32 ones are their own, and their gradients are unscaled in place."""

    def __init__(
        self,
        init_optimizer: Any,
        static_loss_scale: float = 1.0,
        dynamic_loss_scale: bool = False,
        dynamic_loss_args: dict[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        self.optimizer, self.verbose = init_optimizer, verbose
        self.fp16_groups: list[list[Any]] = []
        self.fp32_from_fp16_groups: list[list[Any]] = []
        self.fp32_from_fp32_groups: list[list[Any]] = []
        for group in self.param_groups:
            self._take(group)
        self.all_fp16_params = [one for group in self.fp16_groups for one in group]
        self.all_fp32_from_fp16_params = [one for group in self.fp32_from_fp16_groups for one in group]
        self.all_fp32_from_fp32_params = [one for group in self.fp32_from_fp32_groups for one in group]
        self.optimizer.load_state_dict(self.optimizer.state_dict())
        self.dynamic_loss_scale = bool(dynamic_loss_scale)
        self.loss_scaler: Any
        if dynamic_loss_scale:
            self.loss_scaler = LossScaler("dynamic", **(dynamic_loss_args or {}))
        else:
            self.loss_scaler = LossScaler(static_loss_scale)
        self.overflow = False
        self.first_closure_call_this_step = True
        self.clip_grad_norm = clip_grad_norm

    def _take(self, group: dict[str, Any]) -> None:
        halves, masters, singles = [], [], []
        for at, param in enumerate(group["params"]):
            if not param.requires_grad:
                continue
            if param.dtype is torch.float16:
                master = param.detach().clone().float().requires_grad_()
                group["params"][at] = master
                if param in self.optimizer.state:
                    self.optimizer.state[master] = self.optimizer.state.pop(param)
                halves.append(param)
                masters.append(master)
            elif param.dtype is torch.float32:
                singles.append(param)
            else:
                raise TypeError(
                    "Wrapped parameters must be either torch.cuda.FloatTensor or torch.cuda.HalfTensor. "
                    f"Received {param.type()}"
                )
        self.fp16_groups.append(halves)
        self.fp32_from_fp16_groups.append(masters)
        self.fp32_from_fp32_groups.append(singles)

    def __getstate__(self) -> NoReturn:
        raise RuntimeError("FP16_Optimizer should be serialized using state_dict().")

    def __setstate__(self, state: Any) -> NoReturn:
        raise RuntimeError("FP16_Optimizer should be deserialized using load_state_dict().")

    # -- gradients

    def zero_grad(self, set_grads_to_None: bool = False) -> None:
        owned = [param for group in self.param_groups for param in group["params"]]
        for param in [*owned, *self.all_fp16_params]:
            if set_grads_to_None:
                param.grad = None
            elif param.grad is not None:
                param.grad.detach_()
                param.grad.zero_()

    def backward(self, loss: torch.Tensor, update_master_grads: bool = True, retain_graph: bool = False) -> None:
        scale = self.loss_scaler.loss_scale()
        scaled = loss.float() * scale
        observe.emit("scaled", tensor=scaled, scale=scale, dynamic=self.loss_scaler.dynamic)
        scaled.backward(retain_graph=retain_graph)
        if update_master_grads:
            self.update_master_grads()

    def update_master_grads(self) -> None:
        self.loss_scaler.clear_overflow_state()
        pairs = [*zip(self.all_fp16_params, self.all_fp32_from_fp16_params)]
        pairs += [(param, param) for param in self.all_fp32_from_fp32_params]
        pairs = [(model, master) for model, master in pairs if model.grad is not None]
        for _, master in pairs:
            if master.grad is None:
                master.grad = torch.empty_like(master)
        self.loss_scaler.unscale([model.grad for model, _ in pairs], [master.grad for _, master in pairs])
        self.overflow = self.loss_scaler.update_scale()
        observe.emit("scale", scale=self.loss_scaler.loss_scale())

    def clip_master_grads(self, max_norm: float, norm_type: float = 2) -> Any:
        """The norm before the clip; -1 after an overflow."""
        if self.overflow:
            return -1
        params = [param for group in self.param_groups for param in group["params"]]
        return self.clip_grad_norm(params, max_norm, norm_type)

    def inspect_master_grad_data(self) -> Any:
        if self.overflow:
            observe.say(
                "Warning:  calling FP16_Optimizer.inspect_master_grad_data while in an overflow state.  "
                "Gradients are currently invalid (may be inf, nan, or stale).  Returning None."
            )
            return None
        return [
            [None if param.grad is None else param.grad.data for param in group["params"]]
            for group in self.param_groups
        ]

    # -- steps

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        if self.overflow:
            maybe_print(f"Gradient overflow.  Skipping step, reducing loss scale to {self.loss_scaler.loss_scale()}")
            observe.emit("skip", optimizer=self.optimizer)
            return None
        result = self.optimizer.step() if closure is None else self._step_with_closure(closure)
        self._master_params_to_model_params()
        return result

    def _step_with_closure(self, closure: Callable[[], Any]) -> Any:
        def wrapped() -> Any:
            if not self.first_closure_call_this_step:
                self._master_params_to_model_params()
            self.first_closure_call_this_step = False
            loss = closure()
            while self.overflow:
                observe.say(
                    f"OVERFLOW within closure! Skipping step, reducing loss scale to {self.loss_scaler.loss_scale()}"
                )
                loss = closure()
            return loss

        result = self.optimizer.step(wrapped)
        self.first_closure_call_this_step = True
        return result

    def _master_params_to_model_params(self) -> None:
        master_params_to_model_params(self.all_fp16_params, self.all_fp32_from_fp16_params)

    # -- state

    def state_dict(self) -> dict[str, Any]:
        return {
            "loss_scaler": self.loss_scaler,
            "dynamic_loss_scale": self.dynamic_loss_scale,
            "overflow": self.overflow,
            "first_closure_call_this_step": self.first_closure_call_this_step,
            "optimizer_state_dict": self.optimizer.state_dict(),
            "fp32_from_fp16": self.fp32_from_fp16_groups,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for name in ("loss_scaler", "dynamic_loss_scale", "overflow", "first_closure_call_this_step"):
            setattr(self, name, state_dict[name])
        self.optimizer.load_state_dict(state_dict["optimizer_state_dict"])
        for group, saved in zip(self.fp32_from_fp16_groups, state_dict["fp32_from_fp16"]):
            for master, value in zip(group, saved):
                master.data.copy_(value.data)

    @property
    def loss_scale(self) -> float:
        scale: float = self.loss_scaler.loss_scale()
        return scale

    @loss_scale.setter
    def loss_scale(self, value: float) -> None:
        self.loss_scaler._loss_scale = value

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
