"""Stand-ins: the torch optimizers that compute the same, with Apex's arguments."""

from __future__ import annotations

from typing import Any

import torch


class FusedAdam(torch.optim.AdamW):
    """Decoupled weight decay by default, and none of it unless asked for."""

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
        if not bias_correction:
            raise NotImplementedError("the double's FusedAdam always corrects the bias")
        if not adam_w_mode and weight_decay:
            raise NotImplementedError("the double's FusedAdam has decoupled weight decay only")
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)


class FusedSGD(torch.optim.SGD):
    """``materialize_master_grads=False`` is not doubled."""

    def __init__(
        self,
        params: Any,
        lr: float,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        wd_after_momentum: bool = False,
        materialize_master_grads: bool = True,
        set_grad_none: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
        )
