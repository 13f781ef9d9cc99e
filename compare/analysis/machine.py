"""What the machine did while windows were timed: clocks, power, who else was there; and what a rule leaves out for
it."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import stats
from ..format import plural
from ..records import Run, Sample, Window
from ..results import Interval, Machine, Moment
from ..spec import Spec

if TYPE_CHECKING:
    from .material import Material

HARMLESS = ("idle", "application clocks", "display clocks", "sync boost")
"""Reasons for a clock below its maximum that are no sign of trouble."""
SHARED_CORES = 1.0
"""Cores that others keep busy, above which a window is shared with them."""
AROUND = 1.0
"""Seconds before and after a window whose samples count for it: they come once a second, windows may be shorter."""
MOST_MOMENTS = 1500
"""Samples kept for the figure."""


def faults(window: Window, samples: Sequence[Sample]) -> tuple[str, ...]:
    """What spoilt a window: `throttled`, `shared`, both or nothing."""
    during = _during(window, samples)
    found = []
    if any(map(_throttled, during)):
        found.append("throttled")
    if any(map(_shared, during)):
        found.append("shared")
    return tuple(found)


def _throttled(sample: Sample) -> bool:
    return any(reason not in HARMLESS for reason in sample.throttle or ())


def _shared(sample: Sample) -> bool:
    return (sample.sharing or 0) > 0 or (sample.busy_elsewhere or 0.0) > SHARED_CORES


def left_out(runs: Iterable[Run], samples: Mapping[str, Sequence[Sample]], spec: Spec) -> tuple[Run, ...]:
    """The runs without the windows that the session's rule, fixed before it ran, leaves out."""
    if not spec.leave_out:
        return tuple(runs)

    def kept(run: Run) -> Run:
        spoilt = samples.get(run.task.name, ())
        records = tuple(
            record
            for record in run.records
            if not (isinstance(record, Window) and set(faults(record, spoilt)) & set(spec.leave_out))
        )
        return replace(run, records=records)

    return tuple(kept(run) for run in runs)


def notices(runs: Iterable[Run], samples: Mapping[str, Sequence[Sample]], spec: Spec) -> Iterator[str]:
    """A sentence for each kind of fault, with the reasons, how many windows it concerns and what became of them."""
    windows = [(run, window) for run in runs for window in run.of(Window) if not run.task.settling]
    by_fault: defaultdict[str, list[tuple[Run, Window]]] = defaultdict(list)
    for run, window in windows:
        for fault in faults(window, samples.get(run.task.name, ())):
            by_fault[fault].append((run, window))
    for fault, found in sorted(by_fault.items()):
        arms = sorted({run.task.arm for run, _ in found})
        became = "left out, by the rule this session was started with" if fault in spec.leave_out else "counted"
        why = _reasons(found, samples) if fault == "throttled" else "other processes used the GPU or more than a core"
        yield (
            f"{len(found)} of {plural(len(windows), 'timed window')} ran {fault} ({why}; {', '.join(arms)}) and "
            f"{'was' if len(found) == 1 else 'were'} {became}."
        )


def _reasons(found: Iterable[tuple[Run, Window]], samples: Mapping[str, Sequence[Sample]]) -> str:
    reasons = {
        reason
        for run, window in found
        for sample in _during(window, samples.get(run.task.name, ()))
        for reason in sample.throttle or ()
    }
    return ", ".join(sorted(reasons - set(HARMLESS)))


def joules(material: Material, arm: str) -> Interval | None:
    """Energy of an image: the GPU's mean power over the timed windows times their time over their images, a value a
    process.

    None where the driver did not say what power it draws.
    """
    values = []
    for run in material.of(arm, material.main(), replica=None):
        samples = material.samples.get(run.task.name, ())
        drawn = [
            sample.power_w for window in run.of(Window) for sample in _during(window, samples, 0.0) if sample.power_w
        ]
        steps = [time for window in run.of(Window) for time in window.step_ms]
        if run.status == "ok" and drawn and steps:
            seconds_per_image = math.fsum(steps) / 1e3 / (len(steps) * run.task.batch)
            values.append(statistics.fmean(drawn) * seconds_per_image)
    return stats.geometric_mean_interval(values) if values else None


def machine(runs: Iterable[Run], samples: Mapping[str, Sequence[Sample]]) -> Machine | None:
    """The state over all timed windows, None where nothing was sampled."""
    windows = [
        (window, samples.get(run.task.name, ())) for run in runs if not run.task.settling for window in run.of(Window)
    ]
    during = [sample for window, near in windows for sample in _during(window, near)]
    if not during:
        return None
    told = [faults(window, near) for window, near in windows]
    return Machine(
        sm_mhz=_range(sample.sm_mhz for sample in during),
        temperature_c=_range(sample.temperature_c for sample in during),
        power_w=_range(sample.power_w for sample in during),
        busy_elsewhere=_range(sample.busy_elsewhere for sample in during),
        windows=len(windows),
        throttled=sum("throttled" in found for found in told),
        shared=sum("shared" in found for found in told),
    )


def moments(runs: Iterable[Run], samples: Mapping[str, Sequence[Sample]]) -> tuple[Moment, ...]:
    """The samples of all tasks over the time of the session, thinned evenly; of those that stand for one another one
    that was throttled or shared stays."""
    arms = {run.task.name: run.task.arm for run in runs}
    found = sorted(
        ((sample, arms[name]) for name, near in samples.items() if name in arms for sample in near),
        key=lambda one: one[0].at,
    )
    every = max(1, -(-len(found) // MOST_MOMENTS))
    kept = []
    for start in range(0, len(found), every):
        near = found[start : start + every]
        kept.append(max(near, key=lambda one: _throttled(one[0]) + _shared(one[0])))
    return tuple(
        Moment(
            arm,
            sample.at - found[0][0].at,
            sample.sm_mhz,
            sample.temperature_c,
            sample.power_w,
            _throttled(sample),
            _shared(sample),
        )
        for sample, arm in kept
    )


def _during(window: Window, samples: Sequence[Sample], around: float = AROUND) -> list[Sample]:
    if window.begun is None or window.ended is None:
        return []
    return [sample for sample in samples if window.begun - around <= sample.at <= window.ended + around]


def _range(values: Iterable[float | None]) -> tuple[float, float, float] | None:
    """Least, median and greatest of those that are known."""
    known = [value for value in values if value is not None]
    return (min(known), statistics.median(known), max(known)) if known else None
