"""Speed and memory of the session's arms, and how far two of them are apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from .. import stats
from ..records import Busy, InputCost, Memory, Run, Window
from ..results import Control, Equivalence, Interval, MemoryUse, Pair, ProcessSpeed, StepTimes, TrainingRun
from ..spec import Task
from ..verdict import APEX, NATIVE
from ..workloads.known import loads
from .epochs import training_ratios
from .material import Material
from .runs import median_speed_of, speed_of, step_times, timed

LAUNCH_BOUND_BELOW = 0.9
"""Share of a step in which a kernel runs, below which the device waits for the host."""
MOST_SAMPLES = 2000
"""Step times kept per arm for figures."""


def mean_speed(speeds: Mapping[int, float]) -> Interval | None:
    return stats.geometric_mean_interval(list(speeds.values())) if speeds else None


def speed_ratio(arm: Mapping[int, float], baseline: Mapping[int, float]) -> Interval | None:
    """Ratio of speeds over the blocks that both have."""
    blocks = sorted(arm.keys() & baseline.keys())
    if not blocks:
        return None
    return stats.ratio_interval([arm[block] for block in blocks], [baseline[block] for block in blocks])


def step_distribution(runs: Sequence[Run]) -> StepTimes | None:
    times = [time for run in runs for time in step_times(run)]
    if not times:
        return None
    windows = [window for run in runs for window in run.of(Window)]
    shares = [busy.share for run in runs for busy in run.of(Busy) if busy.share is not None]
    inputs = [time for run in runs for cost in run.of(InputCost) for time in cost.batch_ms]
    median = statistics.median(times)
    busy_share = statistics.median(shares) if shares else None
    return StepTimes(
        median_ms=median,
        q1_ms=stats.quantile(times, 0.25),
        q3_ms=stats.quantile(times, 0.75),
        p95_ms=stats.quantile(times, 0.95),
        samples_ms=_thinned(times),
        host_ms=statistics.median(window.host_ms for window in windows),
        busy_share=busy_share,
        # With a loader in the step the device waits for images, whatever is launched.
        launch_bound=None if busy_share is None or loads(runs[0].task.workload) else busy_share < LAUNCH_BOUND_BELOW,
        input_share=statistics.median(inputs) / median if inputs else None,
        clock=windows[0].clock,
    )


def _thinned(times: list[float]) -> tuple[float, ...]:
    """At most `MOST_SAMPLES` of them, evenly spaced, so that every window and process keeps its share."""
    if len(times) <= MOST_SAMPLES:
        return tuple(times)
    return tuple(times[index * len(times) // MOST_SAMPLES] for index in range(MOST_SAMPLES))


def memory_use(runs: Iterable[Run]) -> MemoryUse | None:
    found = [record for run in runs if run.status == "ok" for record in run.of(Memory)]
    if not found:
        return None
    used = [record.device_used for record in found if record.device_used is not None]
    return MemoryUse(
        allocated=max(record.allocated for record in found),
        reserved=max(record.reserved for record in found),
        device_used=max(used) if used else None,
    )


def processes_of(material: Material, arm: str) -> tuple[ProcessSpeed, ...]:
    """The speed of each process of the arm, in the order of the blocks."""
    runs = sorted(material.of(arm, material.main(), replica=None), key=lambda run: (run.task.block, run.task.replica))
    count = material.spec.world
    return tuple(
        ProcessSpeed(run.task.block, run.task.replica, speed_of(run, count), median_speed_of(run, count))
        for run in runs
        if timed(run)
    )


def controls_of(material: Material) -> tuple[Control, ...]:
    """What the two runs of an arm in the same block differ by, for all that was timed in blocks.

    What fails judges its own batch size, recipe or workload alone: so the level is that of the controls of each.
    """
    timed_tasks = {replace(run.task, arm="", seed=0, block=0, replica=0, settling=False) for run in material.runs}
    tasks = sorted((task for task in timed_tasks if task.kind == "speed"), key=lambda task: task.name)
    main = material.main()
    found: list[Control] = []
    for task in (main, *(task for task in tasks if task != main)):
        pairs = {}
        for arm in material.spec.repeated:
            first, second = (material.speeds(arm, task, replica=replica) for replica in (0, 1))
            if blocks := sorted(first.keys() & second.keys()):
                pairs[arm] = ([first[block] for block in blocks], [second[block] for block in blocks])
        holds = [None] * len(pairs) if material.smoke else stats.controls(list(pairs.values()))
        for (arm, (once, again)), agrees in zip(pairs.items(), holds, strict=True):
            ratio, spread = stats.ratio_interval(again, once), stats.log_spread(again, once)
            found.append(Control(arm, task.workload, task.recipe, task.batch, ratio, spread, agrees))
    return tuple(found)


def failed(controls: Iterable[Control], task: Task) -> bool:
    """Whether a control of what the task measures failed."""
    about = (task.workload, task.recipe, task.batch)
    return any(one.holds is False for one in controls if (one.workload, one.recipe, one.batch) == about)


def control_notices(material: Material, controls: Sequence[Control]) -> Iterator[str]:
    """A sentence for each A/A control that failed: then no difference of its speeds is judged."""
    for control in controls:
        if control.holds is False:
            where = f"{control.workload}, {control.recipe}, batch {control.batch}"
            main = (control.workload, control.recipe, control.batch) == (
                material.spec.workload,
                material.spec.recipe,
                material.spec.batch,
            )
            what = "of this session" if main else f"on {where}"
            yield (
                f"Check failed: two runs of {control.arm} in the same block differ by a factor of "
                f"{control.ratio.value:.4f} over {control.ratio.n} blocks ({where}), where equal code must not differ: "
                f"something beside the arms changed the speed. No difference of speed {what} is judged."
            )


def pairs_of(
    material: Material,
    controls: Sequence[Control],
    tests: Mapping[tuple[str, str], Equivalence],
    trainings: Mapping[str, Sequence[TrainingRun]],
) -> tuple[Pair, ...]:
    """Every arm beside the baseline and beside Apex O1, native AMP beside TF32 too; those of which nothing is known
    are left out."""
    arms, main = material.spec.arms, material.main()
    wanted = [(arm, baseline) for baseline in (material.spec.baseline, APEX) if baseline in arms for arm in arms]
    if NATIVE in arms and "tf32" in arms:
        wanted.append((NATIVE, "tf32"))
    judged = not material.smoke and not failed(controls, main)
    pairs = []
    for arm, baseline in dict.fromkeys([*wanted, *tests]):
        if arm == baseline:
            continue
        own, other = material.speeds(arm, main), material.speeds(baseline, main)
        speed = speed_ratio(own, other)
        used, theirs = (memory_use(material.of(name, main, replica=None)) for name in (arm, baseline))
        memory = used.allocated / theirs.allocated if used and theirs and theirs.allocated else None
        test = tests.get((arm, baseline))
        epochs, to_target = training_ratios(trainings.get(arm, ()), trainings.get(baseline, ()))
        if (speed, memory, test) != (None, None, None):
            pairs.append(
                Pair(
                    arm,
                    baseline,
                    speed,
                    differs(speed) if judged else None,
                    None if material.smoke else _detectable(own, other),
                    memory,
                    test,
                    None if material.smoke else epochs,
                    None if material.smoke else to_target,
                )
            )
    return tuple(pairs)


def differs(ratio: Interval | None) -> bool | None:
    """Whether the interval excludes 1; None where there is none."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    return ratio.low > 1 or ratio.high < 1


def _detectable(own: Mapping[int, float], other: Mapping[int, float]) -> float | None:
    """The smallest ratio that these blocks could have shown, by the upper bound of their spread."""
    blocks = sorted(own.keys() & other.keys())
    spread = stats.log_spread([own[block] for block in blocks], [other[block] for block in blocks]) if blocks else None
    return None if spread is None else stats.detectable(stats.spread_bound(spread, len(blocks)), len(blocks))
