"""Training runs as curves: the mean and the band over the seeds, and the runs that did not come to their end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..results import ArmResult, EpochPoint, Results, TrainingRun

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Band:
    """Mean, lowest and highest value over the seeds that were trained to the end."""

    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    runs: int


@dataclass(frozen=True)
class Curves:
    """One arm's runs."""

    arm: str
    band: Band | None
    stopped: tuple[tuple[TrainingRun, Points], ...]
    """Runs that ended early, each with its finite points. They are no part of the band."""


def curves(results: Results, points: Callable[[TrainingRun], Points]) -> list[Curves]:
    """The curves of every arm that has a point to show, in the report's order."""
    found = []
    for arm in results.arms:
        drawn = _of(arm, results.spec.epochs, points)
        if drawn.band is not None or any(run for _, run in drawn.stopped):
            found.append(drawn)
    return found


def loss_points(run: TrainingRun) -> Points:
    """Training loss against the epoch, as far as it is finite; each stands at the end of its part of the epoch."""
    found: list[tuple[float, float]] = []
    for epoch in run.epochs:
        for index, loss in enumerate(epoch.losses, 1):
            if not math.isfinite(loss):
                return tuple(found)
            found.append((epoch.epoch - 1 + index / len(epoch.losses), loss))
    return tuple(found)


def accuracy_points(run: TrainingRun) -> Points:
    """Test accuracy against the epoch."""
    return tuple((float(epoch.epoch), accuracy) for epoch, accuracy in _measured(run.epochs))


def accuracy_by_time(run: TrainingRun) -> Points:
    """Test accuracy against the training time in seconds."""
    return tuple((epoch.train_s, accuracy) for epoch, accuracy in _measured(run.epochs))


def came_to_end(run: TrainingRun, epochs: int) -> bool:
    """Whether every epoch was trained, with a finite loss throughout."""
    return (
        run.status == "ok"
        and len(run.epochs) >= epochs
        and all(math.isfinite(loss) for epoch in run.epochs for loss in epoch.losses)
    )


def _measured(epochs: Sequence[EpochPoint]) -> list[tuple[EpochPoint, float]]:
    found = [(epoch, epoch.test_accuracy) for epoch in epochs]
    return [(epoch, value) for epoch, value in found if value is not None and math.isfinite(value)]


def _of(arm: ArmResult, epochs: int, points: Callable[[TrainingRun], Points]) -> Curves:
    whole = [points(run) for run in arm.training if came_to_end(run, epochs)]
    stopped = tuple((run, points(run)) for run in arm.training if not came_to_end(run, epochs))
    return Curves(arm.name, _band([run for run in whole if run]), stopped)


def _band(runs: Sequence[Points]) -> Band | None:
    """Point by point; the horizontal place is the runs' mean, since training times differ a little."""
    if not runs:
        return None
    columns = list(zip(*runs, strict=False))
    values = [[point[1] for point in column] for column in columns]
    return Band(
        x=tuple(sum(point[0] for point in column) / len(column) for column in columns),
        mean=tuple(sum(column) / len(column) for column in values),
        low=tuple(min(column) for column in values),
        high=tuple(max(column) for column in values),
        runs=len(runs),
    )
