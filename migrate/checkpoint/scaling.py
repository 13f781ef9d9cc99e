"""The loss scale: Apex's entries and a GradScaler's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from .steps import GROWTH_INTERVAL, MOST_SCALE, Options


def to_native(state: Mapping[str, Any], options: Options) -> tuple[dict[str, Any], str]:
    """The state that `GradScaler.load_state_dict` takes, and what has to be known of it.

    Of several loss scalers the smallest scale is taken: it is safe for all losses. Apex counts backwards, a GradScaler
    steps; both compare with ``==``, so the count stays below the interval."""
    entry = min(state.values(), key=lambda one: float(one["loss_scale"]))
    scale, clean = float(entry["loss_scale"]), int(entry["unskipped"])
    said = f"amp's state becomes a GradScaler's: scale {scale:g}"
    if len(state) > 1:
        said += f", the smallest of {len(state)} loss scalers"
    factor = 1.0 if options.static else 2.0
    if options.static:
        said += ", static"
    native = scaler(scale, clean // options.accumulate, factor)
    return native, said


def scaler(scale: float, clean: int, factor: float = 2.0) -> dict[str, Any]:
    """A GradScaler's state. Source: torch/amp/grad_scaler.py, `state_dict`."""
    return {
        "scale": scale,
        "growth_factor": factor,
        "backoff_factor": 1.0 / factor,
        "growth_interval": GROWTH_INTERVAL,
        "_growth_tracker": max(0, min(clean, GROWTH_INTERVAL - 1)),
    }


def to_apex(state: Mapping[str, Any], options: Options) -> tuple[OrderedDict[str, Any], str]:
    """``amp.state_dict()`` of a GradScaler's state: an entry for each loss."""
    scale = min(float(state["scale"]), MOST_SCALE)
    clean = min(int(state["_growth_tracker"]) * options.accumulate, GROWTH_INTERVAL - 1)
    entries = [(f"loss_scaler{number}", {"loss_scale": scale, "unskipped": clean}) for number in range(options.losses)]
    said = f"a GradScaler's state becomes amp's: loss scale {scale:g}"
    if scale != float(state["scale"]):
        said += " (Apex's largest)"
    return OrderedDict(entries), said
