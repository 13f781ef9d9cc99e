"""The figures: each module draws one from the results alone, without global state of matplotlib."""

from __future__ import annotations

from . import (
    accuracy,
    equivalence,
    first_losses,
    loss,
    loss_scale,
    machine,
    memory,
    step_time,
    sweep,
    throughput,
    time_to_accuracy,
)
from .canvas import Plate, reading, render

__all__ = ["PLATES", "Plate", "reading", "render"]

PLATES: tuple[Plate, ...] = (
    throughput.PLATE,
    step_time.PLATE,
    memory.PLATE,
    equivalence.PLATE,
    accuracy.PLATE,
    loss.PLATE,
    first_losses.PLATE,
    time_to_accuracy.PLATE,
    loss_scale.PLATE,
    sweep.PLATE,
    machine.PLATE,
)
"""In the report's order."""
