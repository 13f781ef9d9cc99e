"""What one process measured."""

from __future__ import annotations

import math
import statistics

from ..arms import RECIPES
from ..records import Ended, Run, Started, Window


def reason_of(run: Run) -> str:
    ended = run.last(Ended)
    return (ended.reason if ended else None) or "no reason was recorded"


def timed(run: Run) -> bool:
    if run.status != "ok":
        return False
    times = [time for window in run.of(Window) for time in window.step_ms]
    return bool(times) and math.isfinite(total := math.fsum(times)) and total > 0 and statistics.median(times) > 0


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
    """Samples per second of one process (of all of them, where a task has several): all samples of the timed windows
    over all of their time, stalls included, as a training feels them.

    `processes` is what was asked for, where the record of what ran cannot be read.
    """
    times = [time for window in run.of(Window) for time in window.step_ms]
    return _samples(run, processes) * len(times) / math.fsum(times)


def median_speed_of(run: Run, processes: int) -> float:
    """The same at the median step: what it would be without stalls."""
    return _samples(run, processes) / statistics.median(step_times(run))


def _samples(run: Run, processes: int) -> float:
    """A thousand times the samples of a step: step times are in milliseconds."""
    started = run.last(Started)
    return 1000.0 * run.task.batch * (started.world if started else processes)
