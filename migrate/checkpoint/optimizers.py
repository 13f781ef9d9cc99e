"""Fused optimizers' states and those of torch's optimizers. Moments are the same tensors in both."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any


class Unlike(Exception):
    """Why a state has no counterpart; the message ends a sentence."""


def adam_to_native(state: MutableMapping[str, Any]) -> str:
    """FusedAdam's state, in place. Source: apex/optimizers/fused_adam.py at tag 25.05; torch/optim/adam.py.

    torch fills in the options that are not there. Whether it was Adam or AdamW the file does not say, nor does it
    have to: the class that loads it decides."""
    import torch

    uncorrected = False
    for group in state["param_groups"]:
        if not group["bias_correction"]:
            # The class that is written out for it counts as Apex did.
            group.setdefault("max_grad_norm", 0.0)
            uncorrected = True
            continue
        steps = float(group.pop("step", 0))
        group.pop("bias_correction")
        group.setdefault("amsgrad", False)
        group["fused"] = True  # what the migration writes; a torch without it ignores the entry
        for number in group["params"]:
            if number in state["state"]:
                state["state"][number]["step"] = torch.tensor(steps, dtype=torch.float32)
    if uncorrected:
        return "FusedAdam without bias correction becomes the state of the class that is written out for it"
    return "FusedAdam's state becomes that of torch.optim.Adam and AdamW"


def adagrad_to_native(state: MutableMapping[str, Any]) -> str:
    """FusedAdagrad's state, in place. Source: apex/optimizers/fused_adagrad.py; torch/optim/adagrad.py.

    Without a decay of the learning rate the number of steps does not count."""
    import torch

    for group in state["param_groups"]:
        group.setdefault("lr_decay", 0)
        group.setdefault("initial_accumulator_value", 0)
    for one in state["state"].values():
        one["step"] = torch.tensor(0.0)
    return "FusedAdagrad's state becomes that of torch.optim.Adagrad"


def adam_to_apex(state: MutableMapping[str, Any]) -> str:
    """torch's Adam's state as FusedAdam's, in place. Raises `Unlike` where FusedAdam has no such state."""
    if any(group.get("amsgrad") for group in state["param_groups"]):
        raise Unlike("FusedAdam has no AMSGrad")
    counted = [_steps_of(state, group) for group in state["param_groups"]]
    for group, steps in zip(state["param_groups"], counted, strict=True):
        kept = {name: group[name] for name in group if name not in _TORCH_ONLY}
        group.clear()
        group.update(kept)
        group["bias_correction"] = True
        if steps is not None:
            group["step"] = steps
    for one in state["state"].values():
        one.pop("step")
    return "torch's Adam's state becomes FusedAdam's"


_TORCH_ONLY = frozenset("amsgrad maximize foreach capturable differentiable fused decoupled_weight_decay".split())


def _steps_of(state: Mapping[str, Any], group: Mapping[str, Any]) -> int | None:
    steps = {int(float(state["state"][number]["step"])) for number in group["params"] if number in state["state"]}
    if len(steps) > 1:
        raise Unlike("its parameters made different numbers of steps, and FusedAdam counts for a whole group")
    return next(iter(steps), None)
