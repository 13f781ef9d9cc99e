"""What a saved dictionary is, by its keys. No torch is needed to ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

SCALER_KEYS = frozenset({"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"})
_ENTRY = re.compile(r"loss_scaler\d+")
_FP16 = frozenset({"loss_scaler", "dynamic_loss_scale", "optimizer_state_dict", "fp32_from_fp16"})
_CONTRIB = frozenset({"dynamic_loss_scale", "cur_scale", "cur_iter", "optimizer_state_dict", "fp32_groups"})


def is_amp(value: Any) -> bool:
    """``amp.state_dict()``: one entry for each loss scaler."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(key, str) and _ENTRY.fullmatch(key) for key in value)
        and all(isinstance(one, Mapping) and {"loss_scale", "unskipped"} <= set(one) for one in value.values())
        and all(_is_number(one[key]) for one in value.values() for key in ("loss_scale", "unskipped"))
    )


def _is_number(value: Any) -> bool:
    """Also one of numpy's, and a tensor of one element."""
    try:
        float(value)
    except (TypeError, ValueError, RuntimeError):
        return False
    return True


def is_scaler(value: Any) -> bool:
    """``GradScaler.state_dict()`` of a scaler that is on."""
    return isinstance(value, Mapping) and set(value) == SCALER_KEYS


def is_fp16_optimizer(value: Any) -> bool:
    """``apex.fp16_utils.FP16_Optimizer.state_dict()``."""
    return isinstance(value, Mapping) and set(value) >= _FP16


def is_contrib_optimizer(value: Any) -> bool:
    """``apex.contrib.optimizers.FP16_Optimizer.state_dict()``."""
    return isinstance(value, Mapping) and set(value) >= _CONTRIB


def is_optimizer(value: Any) -> bool:
    """``state_dict()`` of an optimizer."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("state"), Mapping)
        and isinstance(value.get("param_groups"), list)
        and all(isinstance(group, Mapping) and "params" in group for group in value["param_groups"])
    )


def is_lamb(value: Any) -> bool:
    """FusedLAMB: the class that takes its place keeps the same entries."""
    return is_optimizer(value) and _groups_have(value, "grad_averaging", "max_grad_norm")


def is_novograd(value: Any) -> bool:
    """FusedNovoGrad, which keeps norms of gradients in its groups."""
    return is_optimizer(value) and _groups_have(value, "grad_averaging", "norm_type")


def is_fused_adam(value: Any) -> bool:
    """FusedAdam: the number of steps is the group's, where torch's Adam has one for each parameter."""
    return (
        is_optimizer(value)
        and _groups_have(value, "bias_correction")
        and not _groups_have(value, "grad_averaging")
        and any(_moments(one) for one in value["state"].values())
        and not any("step" in one for one in value["state"].values() if isinstance(one, Mapping))
    )


def is_fused_adagrad(value: Any) -> bool:
    """FusedAdagrad: torch's counts steps, and has two more options."""
    return (
        is_optimizer(value)
        and bool(value["state"])
        and all(isinstance(one, Mapping) and set(one) == {"sum"} for one in value["state"].values())
    )


def is_torch_adam(value: Any) -> bool:
    """torch.optim.Adam or AdamW."""
    return (
        is_optimizer(value)
        and _groups_have(value, "betas", "amsgrad")
        and bool(value["state"])
        and all(_moments(one) and "step" in one for one in value["state"].values())
    )


def _moments(state: Any) -> bool:
    return isinstance(state, Mapping) and {"exp_avg", "exp_avg_sq"} <= set(state)


def _groups_have(value: Mapping[str, Any], *keys: str) -> bool:
    return bool(value["param_groups"]) and all(key in group for group in value["param_groups"] for key in keys)
