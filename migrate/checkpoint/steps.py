"""What was done at one place of a checkpoint, and what the conversion has been told."""

from __future__ import annotations

from dataclasses import dataclass

GROWTH_INTERVAL = 2000
"""Apex's window, and GradScaler's default: how many clean backwards, or steps, until the scale doubles."""
MOST_SCALE = 2.0**24
"""Apex never goes above it."""


@dataclass(frozen=True)
class Options:
    """What the file itself does not say."""

    static: bool = False  # the loss scale was a constant
    accumulate: int = 1  # backwards to a step
    to_apex: bool = False
    float32: bool = False  # half weights become float32, and FP16_Optimizer an optimizer with a GradScaler
    scaler_key: str = "scaler"
    strip: str | None = None  # a prefix of parameters' names
    losses: int = 1  # entries of amp's state, on the way back


@dataclass(frozen=True)
class Step:
    """One entry: converted, or left with the reason."""

    path: str
    what: str
    converted: bool = True
