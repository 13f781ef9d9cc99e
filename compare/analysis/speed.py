"""Speed and memory of the session's arms, and how far two of them are apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from .. import stats
from ..records import Busy, InputCost, Memory, Run, Window
from ..results import Equivalence, Floor, Interval, MemoryUse, Pair, StepTimes
from ..verdict import APEX, NATIVE
from .material import Material
from .runs import step_times

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
        launch_bound=None if busy_share is None else busy_share < LAUNCH_BOUND_BELOW,
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


def noise_floors(material: Material) -> tuple[Floor, ...]:
    """What the two runs of an arm in the same block differ by."""
    floors = []
    for arm in material.spec.repeated:
        first = material.speeds(arm, material.main())
        second = material.speeds(arm, material.main(), replica=1)
        ratio = speed_ratio(second, first)
        if ratio is not None:
            each = [second[block] / first[block] for block in first.keys() & second.keys()]
            floors.append(Floor(arm, ratio, max(max(one, 1 / one) for one in each)))
    return tuple(floors)


def pairs_of(
    material: Material, floors: Sequence[Floor], tests: Mapping[tuple[str, str], Equivalence]
) -> tuple[Pair, ...]:
    """Every arm beside the baseline and beside Apex O1, native AMP beside TF32 too; those of which nothing is known
    are left out."""
    arms, main = material.spec.arms, material.main()
    wanted = [(arm, baseline) for baseline in (material.spec.baseline, APEX) if baseline in arms for arm in arms]
    if NATIVE in arms and "tf32" in arms:
        wanted.append((NATIVE, "tf32"))
    pairs = []
    for arm, baseline in dict.fromkeys([*wanted, *tests]):
        if arm == baseline:
            continue
        speed = speed_ratio(material.speeds(arm, main), material.speeds(baseline, main))
        own, other = (memory_use(material.of(name, main, replica=None)) for name in (arm, baseline))
        memory = own.allocated / other.allocated if own and other and other.allocated else None
        test = tests.get((arm, baseline))
        if (speed, memory, test) != (None, None, None):
            beyond = None if material.smoke else _beyond_noise(speed, floors)
            pairs.append(Pair(arm, baseline, speed, beyond, memory, test))
    return tuple(pairs)


def _beyond_noise(ratio: Interval | None, floors: Sequence[Floor]) -> bool | None:
    """Whether the interval excludes 1 and the ratio is beyond every A/A pair; None where one of them is missing."""
    if ratio is None or ratio.low is None or ratio.high is None or not floors:
        return None
    excludes = ratio.low > 1 or ratio.high < 1
    return excludes and max(ratio.value, 1 / ratio.value) > max(floor.largest for floor in floors)
