"""What one process measured."""

from __future__ import annotations

import math
import statistics

from ..arms import RECIPES
from ..records import Ended, Run, Started, Window

UNSUCCESSFUL = ("oom", "nan", "failed", "timeout")


def reason_of(run: Run) -> str:
    ended = run.last(Ended)
    return (ended.reason if ended else None) or "no reason was recorded"


def timed(run: Run) -> bool:
    if run.status != "ok":
        return False
    times = step_times(run)
    return bool(times) and math.isfinite(median := statistics.median(times)) and median > 0


def step_times(run: Run) -> list[float]:
    """Milliseconds of each timed step.

    With accumulation only some steps move the optimizer: those that belong together count with their mean.
    """
    together = RECIPES[run.task.recipe].accumulate if run.task.recipe in RECIPES else 1
    times: list[float] = []
    for window in run.of(Window):
        size = together if len(window.step_ms) >= together else 1
        whole = len(window.step_ms) - len(window.step_ms) % size
        times += [sum(window.step_ms[at : at + size]) / size for at in range(0, whole, size)]
    return times


def speed_of(run: Run, processes: int) -> float:
    """Samples per second of one process (of all of them, where a task has several), at its median step.

    `processes` is what was asked for, where the record of what ran cannot be read.
    """
    started = run.last(Started)
    world = started.world if started else processes
    return 1000.0 * run.task.batch * world / statistics.median(step_times(run))
