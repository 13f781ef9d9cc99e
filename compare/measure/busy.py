"""How much of a step the device computed, from torch's profiler: below one it waited for the host."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile

from ..records import Busy
from .timing import Stopwatch


def busy_share(step: Callable[[], object], device: torch.device, step_ms: float, steps: int = 12) -> Busy:
    """Time in which at least one kernel ran, over the mean step time `step_ms` measured without the profiler.

    The profiler slows the host, not the kernels: so their time is taken from it and the step's is not.
    """
    if device.type != "cuda":
        return Busy(None, "there is no device beside the host")
    try:
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            watch = Stopwatch(device)
            for _ in range(steps):
                step()
            watch.stop()
        # Annotations (the optimizer's step, a compiled graph) lie on the device's timeline too and span its pauses.
        spans = sorted(
            (event.time_range.start, event.time_range.end)
            for event in profiler.events()
            if event.device_type.name == "CUDA" and not getattr(event, "is_user_annotation", False)
        )
    except RuntimeError as error:
        return Busy(None, f"the profiler failed ({str(error).splitlines()[0]})")
    if not spans:
        return Busy(None, "the profiler saw no kernel")
    return Busy(min(1.0, union(spans) / 1e3 / steps / step_ms), launches=round(len(spans) / steps))


def union(spans: list[tuple[float, float]]) -> float:
    """Length of the union of intervals that are sorted by their start."""
    covered, until = 0.0, float("-inf")
    for start, end in spans:
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered
