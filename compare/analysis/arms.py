"""All that is known of one arm."""

from __future__ import annotations

from collections.abc import Sequence

from .. import stats
from ..arms import ARMS
from ..records import Started
from ..results import Accuracy, ArmResult, ArmStatus, TrainingRun
from ..verdict import APEX
from .accuracy import final_accuracies
from .epochs import sustained
from .machine import joules
from .material import Material
from .runs import reason_of, timed
from .sizes import largest_batch
from .speed import mean_speed, memory_use, processes_of, step_distribution
from .step0 import TRAINED, step0_differences


def arm_result(material: Material, arm: str, trainings: Sequence[TrainingRun]) -> ArmResult:
    main = material.main()
    steps = step_distribution([run for run in material.of(arm, main, replica=None) if timed(run)])
    info = ARMS.get(arm)
    status, reason = _status(material, arm)
    finals = final_accuracies(trainings)
    started = [record for run in material.runs if run.task.arm == arm for record in run.of(Started)]
    last = started[-1] if started else None
    return ArmResult(
        name=arm,
        title=info.title if info else arm,
        precision=info.precision if info else "unknown",
        status=status,
        reason=reason,
        images_per_s=mean_speed(material.speeds(arm, main)),
        processes=processes_of(material, arm),
        sustained=sustained(material, arm, steps),
        steps=steps,
        memory=memory_use(material.of(arm, main, replica=None)),
        joules_per_image=joules(material, arm),
        accuracy=Accuracy(stats.mean_interval(list(finals.values())), tuple(finals.values())) if finals else None,
        training=tuple(trainings),
        step0=step0_differences(material, arm, (material.spec.baseline, APEX, arm)),
        after=step0_differences(material, arm, (material.spec.baseline, APEX, arm), TRAINED),
        largest_batch=largest_batch(material, arm),
        arm_file=last.arm_file if last else None,
        arm_source=last.arm_source if last else None,
        arm_sha256=last.arm_sha256 if last else None,
    )


def _status(material: Material, arm: str) -> tuple[ArmStatus, str | None]:
    """Failed if no run of a kind that was asked for ended well, though one of them has ended."""
    spec = material.spec
    kinds = ["speed"] if spec.blocks else []
    kinds += ["train"] if arm in spec.trained and spec.seeds else []
    kinds += ["capacity"] if spec.capacity else []
    runs = {kind: material.of(arm, material.main(kind)) for kind in kinds}
    done = [kind for kind in kinds if any(run.status == "ok" for run in runs[kind])]
    if not done and arm in material.unavailable:
        return "unavailable", material.unavailable[arm]
    for kind in kinds:
        if kind not in done:
            first = next((run for run in runs[kind] if run.status != "incomplete"), None)
            if first is not None and first.status == "unavailable" and not done:
                return "unavailable", reason_of(first)
            if first is not None:
                return "failed", f"{kind}: {first.status}, {reason_of(first)}"
    if kinds and not done:
        if any(name.removesuffix("-again").endswith(f"-{arm}") for name in material.not_run):
            return "unavailable", "The budget left no time for it."
        if not material.finished:
            return "unavailable", "None of its tasks has run to its end yet."
        return "failed", "none of its tasks has run to its end"
    return "ok", None
