"""Training runs, and whether their accuracy is the same in two arms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .. import stats
from ..records import UNSUCCESSFUL, Epoch, Run
from ..results import EpochPoint, Equivalence, ScalePoint, TrainingRun, Verdict
from ..spec import Spec
from ..verdict import APEX, NATIVE
from .material import Material
from .runs import reason_of


def training_runs(material: Material, arm: str, replica: int = 0) -> tuple[TrainingRun, ...]:
    runs = sorted(material.of(arm, material.main("train"), replica=replica), key=lambda run: run.task.seed)
    return tuple(_training(run, material.spec) for run in runs)


def _training(run: Run, spec: Spec) -> TrainingRun:
    points: list[EpochPoint] = []
    scales: list[ScalePoint] = []
    steps, seconds, reached = 0, 0.0, None
    epochs = run.of(Epoch)
    for epoch in epochs:
        seconds += epoch.train_s
        points.append(
            EpochPoint(
                epoch=epoch.epoch,
                train_s=seconds,
                losses=tuple(epoch.losses),
                test_accuracy=epoch.test_accuracy,
                gradient_norm=epoch.gradient_norm,
                loss_scale=epoch.loss_scale,
            )
        )
        skipped = set(epoch.skipped)
        scales += [ScalePoint(steps + step, scale, step in skipped) for step, scale in epoch.scales]
        steps += epoch.steps
        target, accuracy = spec.target_accuracy, epoch.test_accuracy
        if reached is None and target is not None and accuracy is not None and accuracy >= target:
            reached = seconds
    whole = run.status == "ok" and [epoch.epoch for epoch in epochs] == list(range(1, spec.epochs + 1))
    return TrainingRun(
        seed=run.task.seed,
        status=run.status,
        reason=reason_of(run) if run.status in UNSUCCESSFUL else None,
        epochs=tuple(points),
        scales=tuple(scales),
        skipped_steps=sum(len(epoch.skipped) for epoch in epochs),
        steps=steps,
        final_accuracy=epochs[-1].test_accuracy if whole and epochs else None,
        time_to_target_s=reached,
    )


def final_accuracies(trainings: Iterable[TrainingRun]) -> dict[int, float]:
    """Final accuracy by seed."""
    finals = {run.seed: run.final_accuracy for run in trainings}
    return {seed: final for seed, final in finals.items() if final is not None and math.isfinite(final)}


def parity_tests(
    material: Material, trainings: Mapping[str, Sequence[TrainingRun]], notices: list[str]
) -> dict[tuple[str, str], Equivalence]:
    """The tests of parity, Holm's correction over all of them; seeds that cannot be paired are said in `notices`."""
    base = material.spec.baseline
    wanted = [(NATIVE, APEX), (NATIVE, base), (APEX, base), *((arm, base) for arm in material.spec.trained)]
    tests: dict[tuple[str, str], Equivalence] = {}
    for arm, baseline in dict.fromkeys(wanted):
        if arm != baseline and trainings.get(arm) and trainings.get(baseline):
            notices += _left_out(arm, baseline, trainings, material.spec)
            test = _equivalence(material, arm, baseline, trainings)
            diverged = any(run.status == "nan" for name in (arm, baseline) for run in trainings[name])
            if test is not None and test.verdict == "equivalent" and diverged:
                # The seeds that are left are those that went well: they cannot show that nothing was lost.
                test = replace(test, verdict="inconclusive")
                notices.append(
                    f"{arm} against {baseline} is called inconclusive, although the seeds that are left lie within the "
                    "margin: where a seed diverged, they are the ones that went well."
                )
            if test is not None:
                tests[arm, baseline] = test
    return together(tests)


def together(tests: Mapping[tuple[str, str], Equivalence]) -> dict[tuple[str, str], Equivalence]:
    """The tests with Holm's correction over all of them. Of several pairs of equal arms one may lie far apart by
    chance: *different* is what the corrected p says."""
    tested = [key for key, test in tests.items() if test.p is not None]
    adjusted = stats.holm([test.p for test in tests.values() if test.p is not None])
    beyond = stats.holm([test.p_beyond for test in tests.values() if test.p_beyond is not None])
    return {**tests, **{key: _adjusted(tests[key], *both) for key, *both in zip(tested, adjusted, beyond, strict=True)}}


def _adjusted(test: Equivalence, p: float, beyond: float) -> Equivalence:
    verdict: Verdict = (
        "inconclusive" if test.verdict == "different" and beyond >= 1 - stats.CONFIDENCE else test.verdict
    )
    return replace(test, p_holm=p, p_beyond=beyond, verdict=verdict)


def _equivalence(
    material: Material, arm: str, baseline: str, trainings: Mapping[str, Sequence[TrainingRun]]
) -> Equivalence | None:
    own, other = final_accuracies(trainings[arm]), final_accuracies(trainings[baseline])
    seeds = sorted(own.keys() & other.keys())
    if not seeds:
        return None
    test = stats.equivalence([own[seed] for seed in seeds], [other[seed] for seed in seeds], material.spec.margin)
    if material.smoke:
        test = replace(
            test, low=None, high=None, p=None, p_beyond=None, verdict="no verdict", power=None, seeds_needed=None
        )
    return Equivalence(arm=arm, baseline=baseline, p_holm=None, **vars(test))


def _left_out(arm: str, baseline: str, trainings: Mapping[str, Sequence[TrainingRun]], spec: Spec) -> Iterable[str]:
    """A sentence for each seed that only one arm has, or none: leaving it out is a choice a reader has to know."""
    for seed in range(spec.seeds):
        why = []
        for name in (arm, baseline):
            run = next((run for run in trainings[name] if run.seed == seed), None)
            if run is None:
                why.append(f"{name} did not run")
            elif run.final_accuracy is None:
                ended = f"ended {run.status}" if run.status != "ok" else "has no accuracy of its last epoch"
                why.append(f"{name} {ended}" + (f": {run.reason}" if run.reason else ""))
        if why:
            yield f"Seed {seed} is left out of the accuracy of {arm} against {baseline} ({'; '.join(why)})."
