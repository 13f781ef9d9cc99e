"""Speed over whole epochs of training, and time to the target accuracy: what a user waits for."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from .. import stats
from ..format import listed, plural
from ..records import Epoch, Run, Started
from ..results import Interval, StepTimes, TrainingRun
from .material import Material

SUSTAINED = 0.05
"""Share by which training may be slower or faster than the timed windows before it is said: the windows' speed is then
not what a training gets."""


def training_ratios(
    own: Sequence[TrainingRun], other: Sequence[TrainingRun]
) -> tuple[Interval | None, Interval | None]:
    """Ratio of speeds over the epochs from the second on, and of times to the target, over the seeds that both have.

    The first epoch holds what happens once: compilation, cuDNN's search, a GPU that is still cold.
    """
    return (
        _ratio({run.seed: _later_epochs(run) for run in other}, {run.seed: _later_epochs(run) for run in own}),
        _ratio({run.seed: run.time_to_target_s for run in other}, {run.seed: run.time_to_target_s for run in own}),
    )


def _ratio(numerators: dict[int, float | None], denominators: dict[int, float | None]) -> Interval | None:
    both = [
        (above, below)
        for seed in sorted(numerators.keys() & denominators.keys())
        if _positive(above := numerators[seed]) and _positive(below := denominators[seed])
    ]
    return stats.ratio_interval([above for above, _ in both], [below for _, below in both]) if both else None


def _positive(seconds: float | None) -> TypeGuard[float]:
    """Whether it is a time: an absurd record's is none, and no reason for an error."""
    return seconds is not None and math.isfinite(seconds) and seconds > 0


def _later_epochs(run: TrainingRun) -> float | None:
    """Seconds of the epochs after the first; None unless the run was whole and has some."""
    if run.final_accuracy is None or len(run.epochs) < 2:
        return None
    return run.epochs[-1].train_s - run.epochs[0].train_s


def target_notices(trainings: Mapping[str, Sequence[TrainingRun]], target: float | None) -> Iterator[str]:
    """A sentence for each arm some of whose trainings never reached the target: its time to it is of the others."""
    for arm, runs in trainings.items():
        whole = [run for run in runs if run.final_accuracy is not None]
        late = [str(run.seed) for run in whole if run.time_to_target_s is None]
        if target is not None and late and len(late) < len(whole):
            yield (
                f"{arm} did not reach {target:g} % with {plural(len(late), 'seed')} of {len(whole)} ({listed(late)}): "
                "its time to that accuracy is of those that did, which favours it."
            )


def sustained(material: Material, arm: str, steps: StepTimes | None) -> float | None:
    """Speed of the arm's training epochs over that of its timed windows; 1 where the windows tell what a training gets.

    A training draws its batches in between: their cost, measured beside the windows, is allowed for.
    """
    windows = list(material.speeds(arm, material.main()).values())
    epochs = [speed for run in material.of(arm, material.main("train")) for speed in _epoch_speeds(run, material)]
    if material.smoke or not windows or not epochs or steps is None:
        return None
    allowed = 1 + (steps.input_share or 0.0)
    return statistics.median(epochs) * allowed / statistics.geometric_mean(windows)


def _epoch_speeds(run: Run, material: Material) -> Iterator[float]:
    """Samples per second of a run's epochs after the first."""
    started = run.last(Started)
    world = started.world if started else material.spec.world
    for epoch in run.of(Epoch)[1:]:
        if math.isfinite(epoch.train_s) and epoch.train_s > 0:
            yield epoch.steps * run.task.batch * world / epoch.train_s


def sustained_notices(arms: Sequence[tuple[str, float | None]]) -> Iterator[str]:
    """A sentence for each arm whose windows do not tell what its training gets."""
    for arm, ratio in arms:
        if ratio is not None and abs(ratio - 1) > SUSTAINED:
            yield (
                f"Check failed: {arm} trains at {ratio:.2f} of the speed of its timed windows (the drawing of batches "
                "allowed for): the windows are not what a training gets."
            )
