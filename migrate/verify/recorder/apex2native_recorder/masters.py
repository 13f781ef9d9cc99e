"""FP16_Optimizer: it scales and skips by itself, as Apex's did and as the class does that apex2native writes out."""

from __future__ import annotations

import functools
import sys
from typing import Any

from .record import Recorder
from .scaling import skipped

_NAME = "FP16_Optimizer"
_DEPTH = 6  # frames between its `backward` and that of torch


def scale_around(recorder: Recorder) -> float | None:
    """The loss scale of the FP16_Optimizer whose `backward` we are in, None outside of one."""
    frame: Any = sys._getframe(1)
    for _ in range(_DEPTH):
        if frame is None:
            return None
        if frame.f_code.co_name == "backward":
            optimizer = frame.f_locals.get("self")
            if type(optimizer).__name__ == _NAME:
                return _listen(recorder, optimizer)
        frame = frame.f_back
    return None


def _listen(recorder: Recorder, optimizer: Any) -> float | None:
    scale = getattr(optimizer, "loss_scale", getattr(optimizer, "cur_scale", None))
    if not isinstance(scale, (int, float)):
        return None
    recorder.scale, recorder.dynamic = float(scale), bool(getattr(optimizer, "dynamic_loss_scale", False))
    kind: Any = type(optimizer)
    if not getattr(kind.step, "told_of", False):
        kind.step = _told(recorder, kind.step)
    return float(scale)


def _told(recorder: Recorder, step: Any) -> Any:
    """A step that makes no step of the optimizer within was skipped."""

    @functools.wraps(step)
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = recorder.steps
        result = step(self, *args, **kwargs)
        if recorder.steps == before:
            skipped(recorder, self, "apex")
        return result

    told.told_of = True  # type: ignore[attr-defined]
    return told
