"""The training A/A: what two arms differ by, beside what one arm, trained twice with the same seed, differs from
itself."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from .. import stats
from ..records import Epoch
from ..results import RunToRun, TrainingRun
from ..spec import Spec
from .accuracy import final_accuracies
from .material import Material


def run_to_run(
    material: Material,
    trainings: Mapping[str, Sequence[TrainingRun]],
    again: Mapping[str, Sequence[TrainingRun]],
) -> tuple[RunToRun, ...]:
    """Every arm that was trained twice, beside every other that was trained."""
    found = []
    for arm in _repeated(material.spec):
        first, second = final_accuracies(trainings.get(arm, ())), final_accuracies(again.get(arm, ()))
        within = _differences(second, first)
        losses, repeated = _losses(material, arm, 0), _losses(material, arm, 1)
        for baseline in material.spec.trained:
            between = _differences(first, final_accuracies(trainings.get(baseline, ())))
            if baseline == arm or not (within and between):
                continue
            excess = None if material.smoke else stats.excess(between, within)
            found.append(
                RunToRun(
                    arm,
                    baseline,
                    between,
                    within,
                    excess.ratio if excess else None,
                    excess.low if excess else None,
                    excess.high if excess else None,
                    excess.exceeds if excess else None,
                    _apart(losses, _losses(material, baseline, 0)),
                    _apart(repeated, losses),
                )
            )
    return tuple(found)


def _repeated(spec: Spec) -> tuple[str, ...]:
    return spec.trained_again if spec.again else ()


def _differences(own: Mapping[int, float], other: Mapping[int, float]) -> tuple[float, ...]:
    return tuple(own[seed] - other[seed] for seed in sorted(own.keys() & other.keys()))


def _losses(material: Material, arm: str, replica: int) -> dict[int, list[float]]:
    """The losses of the first steps, by seed."""
    return {
        run.task.seed: epoch.first_losses
        for run in material.of(arm, material.main("train"), replica=replica)
        for epoch in run.of(Epoch)[:1]
    }


def _apart(own: Mapping[int, Sequence[float]], other: Mapping[int, Sequence[float]]) -> tuple[float, ...]:
    """Relative difference at each step that all seeds have, median over the seeds; up to the first that is not
    finite."""
    pairs = [(own[seed], other[seed]) for seed in own.keys() & other.keys() if own[seed] and other[seed]]
    steps = min((min(len(one), len(two)) for one, two in pairs), default=0)
    differences = []
    for step in range(steps):
        values = [abs(one[step] - two[step]) / abs(two[step]) for one, two in pairs if two[step]]
        middle = statistics.median(values) if values else math.nan
        if not math.isfinite(middle):
            break
        differences.append(middle)
    return tuple(differences)
