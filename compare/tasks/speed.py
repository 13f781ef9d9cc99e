"""Step time, memory and what goes with them, for one arm in its own process."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator

from torch import Tensor

from ..measure.busy import busy_share
from ..measure.gradients import GradientProbe
from ..measure.memory import peaks, release, reset_peaks
from ..measure.timing import Stopwatch, synchronize, time_window
from ..records import InputCost, Trace
from .first_step import first_step
from .prepared import Emit, Prepared, Progress, check_finite, in_any, wait_for_all

DISTINCT_BATCHES = 8
"""Batches drawn and augmented before anything is timed, and used in turn."""
TRACED_STEPS = {"cuda": 10, "cpu": 2}
CHECK_EVERY = 10
"""Steps of the warm-up between two looks at the clock."""
GENTLE = 0.1
"""Share of the peak learning rate in speed tasks: a few batches are repeated, and the loss shall stay finite."""


def run(prepared: Prepared, emit: Emit, progress: Progress) -> None:
    """Step 0, warm-up, timed windows, then what may not be timed. Raises NotFinite."""
    spec, arm, device = prepared.spec, prepared.arm, prepared.device
    total = spec.warmup + spec.windows * spec.window_steps
    arm.model.train()
    prepared.set_rate(GENTLE * prepared.peak_rate)
    batches = _batches(prepared)
    first = next(batches)
    emit(first_step(prepared, first))
    _warm_up(prepared, batches, lambda number: progress(min(number, spec.warmup), total, "warm-up"))
    # cuDNN's search for algorithms left memory reserved that no step needs; a few steps then take what they do need.
    release(device)
    for _ in range(CHECK_EVERY if device.type == "cuda" else 0):
        prepared.step(next(batches))
    reset_peaks(device)
    for index in range(spec.windows):
        wait_for_all(prepared.place)
        for _ in range(prepared.job.ahead):
            # While nothing ran the loader worked ahead: with what lies ready the window would seem faster than it is.
            prepared.step(next(batches))
        progress(spec.warmup + index * spec.window_steps, total, f"window {index + 1} of {spec.windows}")
        window = time_window(index, spec.window_steps, prepared.step, batches, device)
        emit(window)
    memory = peaks(device, prepared.data_bytes)
    if memory is not None:
        emit(memory)
    progress(total, total, "observing")
    if not prepared.job.ahead:
        emit(_input_cost(prepared))
    # The mean, as a profiled stretch holds whole steps: with accumulation only one batch in four has the optimizer.
    step_ms = statistics.fmean(window.step_ms)
    emit(busy_share(lambda: prepared.step(first), device, step_ms))
    for number in range(TRACED_STEPS[device.type]):
        emit(trace := _trace(prepared, number, next(batches)))
    check_finite(trace.loss, "after the timed steps")


def _batches(prepared: Prepared) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches without end: a few that were drawn beforehand, in turn; a loader's, one epoch after another."""
    made = prepared.job.batches
    if prepared.job.ahead:
        return itertools.chain.from_iterable(map(made.epoch, itertools.count(1)))
    return itertools.cycle(list(itertools.islice(made.epoch(1), DISTINCT_BATCHES)))


def _warm_up(prepared: Prepared, batches: Iterator[tuple[Tensor, Tensor]], tell: Callable[[int], None]) -> None:
    """Steps until there were enough of them and they took long enough: clocks settle by time, not by steps."""
    spec, begun = prepared.spec, time.monotonic()
    for number in itertools.count():
        if number % CHECK_EVERY == 0 or number == spec.warmup:
            tell(number)
            synchronize(prepared.device)
            # Where several processes train one model all leave at the same step, or the rest waits for ever.
            short = number < spec.warmup or time.monotonic() - begun < spec.warmup_s
            if not in_any(prepared.place, short):
                return
        prepared.step(next(batches))


def _input_cost(prepared: Prepared) -> InputCost:
    """Time to draw and augment a batch, after a first one."""
    drawn = iter(prepared.job.batches.epoch(2))
    next(drawn, None)
    times = []
    for _ in range(20):
        watch = Stopwatch(prepared.device)
        if next(drawn, None) is None:
            break
        times.append(1e3 * watch.stop())
    return InputCost(times)


def _trace(prepared: Prepared, number: int, batch: tuple[Tensor, Tensor]) -> Trace:
    """One full step (all batches it accumulates), observed."""
    before = prepared.counter.taken
    with GradientProbe(prepared.job.optimizer) as probe:
        for _ in range(prepared.recipe.accumulate):
            loss = prepared.step(batch)
    return Trace(
        step=number,
        loss=float(loss),
        gradient_norm=probe.norm,
        loss_scale=prepared.arm.loss_scale(),
        skipped=prepared.counter.taken == before,
    )
