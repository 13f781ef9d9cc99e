"""``FP16_Optimizer``, its float32 masters, and half weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from .scaling import scaler


def fp16_to_written(state: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The state of apex.fp16_utils' FP16_Optimizer as the class takes it that is written out in its place."""
    scale, clean = _scale_of(state)
    return {
        "loss_scale": scale,
        "clean": clean,
        "optimizer_state_dict": state["optimizer_state_dict"],
        "fp32_from_fp16": state["fp32_from_fp16"],
    }, f"FP16_Optimizer's state becomes that of the class that is written out for it: loss scale {scale:g}"


def _scale_of(state: Mapping[str, Any]) -> tuple[float, int]:
    """Scale and clean steps. An older Apex had scalers of its own for this, which count another way."""
    held = vars(state["loss_scaler"]) if hasattr(state["loss_scaler"], "__dict__") else dict(state["loss_scaler"])
    if "_loss_scale" in held:
        return float(held["_loss_scale"]), int(held.get("_unskipped", 0))
    clean = int(held.get("cur_iter", 0)) - int(held.get("last_overflow_iter", -1)) - 1
    return float(held["cur_scale"]), max(0, clean)


def scale_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """A GradScaler's state from that of either FP16_Optimizer."""
    if "cur_scale" in state:
        clean = int(state["cur_iter"]) - int(state.get("last_overflow_iter", -1)) - 1
        return scaler(float(state["cur_scale"]), clean, 2.0 if state["dynamic_loss_scale"] else 1.0)
    scale, clean = _scale_of(state)
    return scaler(scale, clean, 2.0 if state["dynamic_loss_scale"] else 1.0)


def masters_of(state: Mapping[str, Any]) -> list[Any]:
    """The float32 masters, in the order of the optimizer's half parameters."""
    groups = state.get("fp32_from_fp16", state.get("fp32_groups", ()))
    return [one for group in groups for one in (group if isinstance(group, (list, tuple)) else [group])]


def weights_of(value: Any) -> bool:
    """Whether this is a model's state with half weights."""
    import torch

    return (
        isinstance(value, Mapping)
        and any(_is_half(one) for one in value.values())
        and all(isinstance(one, torch.Tensor) for one in value.values())
    )


def _is_half(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.dtype is torch.float16


def to_float32(weights: MutableMapping[str, Any], masters: Iterable[Any]) -> str:
    """Half weights become float32, in place: their masters where these can be told, else their own values.

    A master belongs to a weight if it rounds to it; weights and masters stand in the same order."""
    import torch

    left = [one for one in masters if isinstance(one, torch.Tensor)]
    found = total = 0
    for name in [name for name, one in weights.items() if _is_half(one)]:
        total += 1
        weight = weights[name]
        at = next((at for at, one in enumerate(left) if _rounds_to(one, weight)), None)
        if at is None:
            weights[name] = weight.float()
        else:
            weights[name] = left.pop(at).detach().float().clone()
            found += 1
    more = f", {found} of them from their masters" if found else ""
    return f"{total} half tensors become float32{more}"


def _rounds_to(master: Any, weight: Any) -> bool:
    import torch

    return bool(master.shape == weight.shape and torch.equal(master.detach().half(), weight))


def all_masters(found: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    """The masters of every FP16_Optimizer of a checkpoint."""
    for state in found:
        yield from masters_of(state)
