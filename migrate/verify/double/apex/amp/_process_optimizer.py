"""What an optimizer gets from ``initialize``: a place to put gradients aside, and master weights."""

from __future__ import annotations

from collections.abc import Iterable
from types import MethodType
from typing import Any

import torch

from .scaler import LossScaler

_HALF = "_apex_double_is_half"


def note_half(params: Iterable[torch.Tensor]) -> None:
    """Remember which parameters Apex would hold in half precision; here they stay as they are."""
    for param in params:
        setattr(param, _HALF, True)


def _is_half(param: torch.Tensor) -> bool:
    return bool(getattr(param, _HALF, False)) or param.dtype is torch.float16


def _check_type(param: torch.Tensor) -> None:
    if param.dtype not in (torch.float16, torch.float32):
        raise TypeError(
            "Optimizer's parameters must be either torch.cuda.FloatTensor or torch.cuda.HalfTensor. "
            f"Received {param.type()}"
        )


class AmpOptimizerState:
    """Kept as ``optimizer._amp_stash``.

    ``all_fp16_params[i]`` has its master in ``all_fp32_from_fp16_params[i]``. The others, ``plain``, are
    their own masters, and ``aside[i]`` holds the gradient that was there before the current backward.
    These lists exist from the first use on: with masters, a step before it is an AttributeError, as in Apex.
    """

    all_fp16_params: list[torch.Tensor]
    all_fp32_from_fp16_params: list[torch.Tensor]
    plain: list[torch.Tensor]
    aside: list[torch.Tensor | None]

    def __init__(self, optimizer: Any, masters: bool) -> None:
        self._optimizer = optimizer
        self._masters = masters
        self.lazy_init_called = False
        self.already_patched = False
        self.params_have_scaled_gradients = False

    def take(self, params: list[torch.Tensor]) -> list[torch.Tensor]:
        """Register a group's parameters; the list the optimizer is to step instead."""
        stepped = []
        for param in params:
            if self._masters and not param.requires_grad:
                stepped.append(param)
                continue
            _check_type(param)
            if self._masters and _is_half(param):
                master = param.detach().clone().float().requires_grad_()
                self.all_fp16_params.append(param)
                self.all_fp32_from_fp16_params.append(master)
                stepped.append(master)
            else:
                self.plain.append(param)
                self.aside.append(None)
                stepped.append(param)
        return stepped

    def lazy_init(self) -> None:
        """Masters are made at the first use, from what is in the optimizer then."""
        optimizer = self._optimizer
        self.all_fp16_params = []
        self.plain = []
        self.aside = []
        if self._masters:
            self.all_fp32_from_fp16_params = []
        for group in optimizer.param_groups:
            for index, (param, stepped) in enumerate(zip(group["params"], self.take(group["params"]))):
                if stepped is not param:
                    group["params"][index] = stepped
                    if param in optimizer.state:
                        optimizer.state[stepped] = optimizer.state.pop(param)
        if self._masters:
            for param in self.plain:
                param.grad = None
            optimizer.load_state_dict(optimizer.state_dict())

    def drop_master_grads(self) -> None:
        for master in getattr(self, "all_fp32_from_fp16_params", ()):
            master.grad = None

    def put_aside(self) -> None:
        """Before a backward: new gradients shall not mix with unscaled ones."""
        for param in self.all_fp16_params if self._masters else ():
            param.grad = None
        for index, param in enumerate(self.plain):
            self.aside[index] = param.grad
            param.grad = None

    def unscale(self, scaler: LossScaler) -> None:
        """After a backward: unscale, and add what was put aside."""
        if self._masters:
            self._unscale_masters(scaler)
        if scaler.loss_scale() == 1.0 and not scaler.dynamic:
            # As Apex does it: what was put aside is lost here.
            self.aside = [None] * len(self.plain)
            return
        fresh: list[torch.Tensor] = []
        mixed: list[torch.Tensor] = []
        earlier: list[torch.Tensor] = []
        for param, stashed in zip(self.plain, self.aside):
            if param.grad is None:
                if stashed is not None:
                    param.grad = stashed
            elif stashed is None:
                fresh.append(param.grad)
            else:
                mixed.append(param.grad)
                earlier.append(stashed)
        scaler.unscale(fresh, fresh)
        scaler.unscale_with_stashed(mixed, earlier, mixed)
        self.aside = [None] * len(self.plain)

    def _unscale_masters(self, scaler: LossScaler) -> None:
        for param, master in zip(self.all_fp16_params, self.all_fp32_from_fp16_params):
            if param.grad is None:
                continue
            if master.grad is None:
                master.grad = torch.empty_like(master)
                scaler.unscale([param.grad], [master.grad])
            else:
                scaler.unscale_with_stashed([param.grad], [master.grad], [master.grad])

    def masters_to_model(self) -> None:
        with torch.no_grad():
            for param, master in zip(self.all_fp16_params, self.all_fp32_from_fp16_params):
                param.copy_(master)


def process(optimizer: Any, masters: bool) -> None:
    """Patch one optimizer in place."""
    if hasattr(optimizer, "_amp_stash"):
        raise RuntimeError("A given optimizer should only be passed through amp.initialize once.")
    stash = optimizer._amp_stash = AmpOptimizerState(optimizer, masters)

    def lazy_init(self: Any) -> None:
        if not stash.lazy_init_called:
            self._lazy_init_maybe_master_weights()
            stash.lazy_init_called = True

    def prepare(self: Any) -> None:
        self._amp_lazy_init()
        stash.put_aside()

    def post(self: Any, scaler: LossScaler) -> None:
        self._amp_lazy_init()
        stash.unscale(scaler)

    optimizer._lazy_init_maybe_master_weights = MethodType(lambda self: stash.lazy_init(), optimizer)
    optimizer._amp_lazy_init = MethodType(lazy_init, optimizer)
    optimizer._prepare_amp_backward = MethodType(prepare, optimizer)
    optimizer._post_amp_backward = MethodType(post, optimizer)
    _patch_add_param_group(optimizer, stash)
    if masters:
        _patch_for_masters(optimizer, stash)


def _patch_add_param_group(optimizer: Any, stash: AmpOptimizerState) -> None:
    add = optimizer.add_param_group

    def add_param_group(self: Any, new_group: dict[str, Any]) -> None:
        self._amp_lazy_init()
        assert isinstance(new_group, dict), "param group must be a dict"
        params = new_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections")
        new_group["params"] = stash.take([params] if isinstance(params, torch.Tensor) else list(params))
        add(new_group)

    optimizer.add_param_group = MethodType(add_param_group, optimizer)


def _patch_for_masters(optimizer: Any, stash: AmpOptimizerState) -> None:
    step = optimizer.step

    def new_step(self: Any, closure: Any = None) -> Any:
        if closure is not None:
            raise RuntimeError("Currently, Amp does not support closure use with optimizers.")
        result = step()
        stash.masters_to_model()
        stash.drop_master_grads()
        return result

    def zero_grad(self: Any) -> None:
        self._amp_lazy_init()
        for param in [*stash.all_fp16_params, *stash.plain]:
            if param.grad is not None:
                param.grad.detach_()
                param.grad.zero_()
        stash.drop_master_grads()

    optimizer.step = MethodType(new_step, optimizer)
    optimizer.zero_grad = MethodType(zero_grad, optimizer)
