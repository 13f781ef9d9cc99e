"""Speed at other batch sizes, on other workloads and with other recipes; the largest batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..records import Capacity, Run
from ..results import Control, Interval, OtherSpeed, SweepPoint
from ..spec import Task
from .material import Material
from .runs import reason_of, timed
from .speed import differs, failed, mean_speed, memory_use, speed_ratio


def batch_sweep(material: Material, controls: Sequence[Control]) -> tuple[SweepPoint, ...]:
    """By arm and batch; the session's own batch is one of the points where there are others."""
    points = []
    for arm in material.spec.arms if material.spec.sweep else ():
        for batch in sorted({*material.spec.sweep, material.spec.batch}):
            task = replace(material.main(), batch=batch)
            runs = material.of(arm, task)
            if runs:
                memory = memory_use(material.of(arm, task, replica=None))
                ratio, differs = _to_baseline(material, arm, task, controls)
                points.append(
                    SweepPoint(
                        arm,
                        batch,
                        mean_speed(material.speeds(arm, task)),
                        memory.allocated if memory else None,
                        ratio,
                        differs,
                        _why_not(runs),
                    )
                )
    return tuple(points)


def other_speeds(material: Material, controls: Sequence[Control]) -> tuple[OtherSpeed, ...]:
    """Other workloads and recipes, in the order of the specification, then of the arms."""
    spec = material.spec
    found = {
        (run.task.workload, run.task.recipe, run.task.batch)
        for run in material.runs
        if run.task.kind == "speed" and (run.task.workload, run.task.recipe) != (spec.workload, spec.recipe)
    }
    workloads, recipes = [spec.workload, *spec.extra_workloads], [spec.recipe, *spec.extra_recipes]

    def rank(key: tuple[str, str, int]) -> tuple[object, ...]:
        workload, recipe, _ = key
        known = workloads.index(workload) if workload in workloads else len(workloads)
        return (known, recipes.index(recipe) if recipe in recipes else len(recipes), *key)

    others = []
    for workload, recipe, batch in sorted(found, key=rank):
        task = Task("speed", "", workload=workload, recipe=recipe, batch=batch)
        for arm in spec.arms:
            runs = material.of(arm, task)
            if runs:
                memory = memory_use(runs)
                ratio, differs = _to_baseline(material, arm, task, controls)
                others.append(
                    OtherSpeed(
                        workload,
                        recipe,
                        arm,
                        mean_speed(material.speeds(arm, task)),
                        memory.allocated if memory else None,
                        ratio,
                        differs,
                        _why_not(runs),
                    )
                )
    return tuple(others)


def _to_baseline(
    material: Material, arm: str, task: Task, controls: Sequence[Control]
) -> tuple[Interval | None, bool | None]:
    """The arm's speed over the baseline's, block by block, and whether they differ: not judged where a control
    failed."""
    baseline = material.spec.baseline
    ratio = speed_ratio(material.speeds(arm, task), material.speeds(baseline, task))
    return ratio, None if material.smoke or failed(controls, task) or arm == baseline else differs(ratio)


def _why_not(runs: Sequence[Run]) -> str | None:
    """Why there is no number, None if there is one."""
    if any(timed(run) for run in runs):
        return None
    first = next((run for run in runs if run.status != "incomplete"), None)
    if first is None:
        return "it has not run to its end"
    return reason_of(first) if first.status != "ok" else "no step was timed"


def largest_batch(material: Material, arm: str) -> int | None:
    fits = [
        probe.batch
        for run in material.of(arm, material.main("capacity"))
        if run.status == "ok"
        for probe in run.of(Capacity)
        if probe.fits
    ]
    return max(fits, default=None)
