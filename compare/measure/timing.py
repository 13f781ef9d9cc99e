"""Step times. In a timed window nothing runs but steps and the marks between them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import torch

from ..records import Window

B = TypeVar("B")


def synchronize(device: torch.device) -> None:
    """Wait until the device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def time_window(
    index: int, steps: int, step: Callable[[B], object], batches: Iterator[B], device: torch.device
) -> Window:
    """Run `steps` steps over the next batches and time each, the drawing of its batch included.

    On CUDA each step is the time between two events on the stream, recorded without waiting; on a CPU it is
    the host's clock. `host_ms` is the mean time after which the host came back from a step it had issued, the wait for
    its batch included.
    """
    if device.type == "cuda":
        return _cuda_window(index, steps, step, batches, device)
    started = time.time()
    marks = [time.perf_counter()]
    for _ in range(steps):
        step(next(batches))
        marks.append(time.perf_counter())
    times = [1e3 * (after - before) for before, after in itertools.pairwise(marks)]
    return Window(index, times, sum(times) / steps, "host", started, time.time())


def _cuda_window(
    index: int, steps: int, step: Callable[[B], object], batches: Iterator[B], device: torch.device
) -> Window:
    # Made beforehand: the first use of an event allocates.
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    synchronize(device)
    started, begun = time.time(), time.perf_counter()
    marks[0].record()
    for mark in marks[1:]:
        step(next(batches))
        mark.record()
    issued = time.perf_counter()
    synchronize(device)
    times = [before.elapsed_time(after) for before, after in itertools.pairwise(marks)]
    return Window(index, times, 1e3 * (issued - begun) / steps, "cuda-events", started, time.time())


class Stopwatch:
    """Time between two points of a stream of work, in seconds; reading it waits for the device."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        synchronize(device)
        self._start = self._mark()

    def stop(self) -> float:
        end = self._mark()
        synchronize(self.device)
        if isinstance(end, torch.cuda.Event) and isinstance(self._start, torch.cuda.Event):
            return float(self._start.elapsed_time(end)) / 1e3
        assert isinstance(end, float) and isinstance(self._start, float)
        return end - self._start

    def _mark(self) -> torch.cuda.Event | float:
        if self.device.type != "cuda":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event
