"""The largest batch that fits, searched for with one fresh process a probe.

A process that ran out of memory once is no fair witness: its allocator is fragmented, and Apex does not
clean up after an exception inside `scale_loss`.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.queues import Queue
from pathlib import Path

import torch

from ..measure.memory import out_of_memory, peaks
from ..measure.timing import synchronize
from ..records import Capacity
from ..spec import Spec, Task
from .prepared import Emit, Place, Progress, prepare

STEPS = 3
"""Steps that have to fit: the second is the first to find the optimizer's state in memory."""
LARGEST = 1 << 17
RESOLUTION = 16
"""The search ends when the gap is below a sixteenth of what fits."""


class ProbeFailed(Exception):
    """A probe ended otherwise than by fitting or running out of memory."""


def run(spec: Spec, task: Task, place: Place, cache: Path | None, emit: Emit, progress: Progress) -> None:
    """Record each probe. Raises ProbeFailed."""
    tried = 0

    def fits(batch: int) -> bool:
        nonlocal tried
        progress(tried, 0, f"does a batch of {batch} fit?")
        tried += 1
        found = _probe(spec, replace(task, batch=batch), place, cache)
        emit(found)
        return found.fits

    largest(task.batch, fits)


def largest(start: int, fits: Callable[[int], bool], limit: int = LARGEST) -> int:
    """The largest batch for which `fits`, to a sixteenth; 0 if not even 1 does. It doubles, then halves the gap."""
    good, bad = 0, limit + 1
    batch = start
    while good < limit and bad > limit and batch <= limit:
        good, bad = (batch, bad) if fits(batch) else (good, batch)
        batch *= 2
    while bad - good > max(1, good // RESOLUTION):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def _probe(spec: Spec, task: Task, place: Place, cache: Path | None) -> Capacity:
    context = multiprocessing.get_context("spawn")
    answers: Queue[Capacity | str] = context.Queue()
    process = context.Process(target=_try, args=(spec, task, place, cache, answers))
    process.start()
    while True:
        try:
            answer = answers.get(timeout=1.0)
            break
        except queue.Empty as error:
            if not process.is_alive():
                raise ProbeFailed(f"the probe with a batch of {task.batch} died (exit {process.exitcode})") from error
    process.join()
    if isinstance(answer, str):
        raise ProbeFailed(f"the probe with a batch of {task.batch} failed: {answer}")
    return answer


def _try(spec: Spec, task: Task, place: Place, cache: Path | None, answers: Queue[Capacity | str]) -> None:
    """In its own process: a few steps with a batch of this size, made by repeating what a small one holds."""
    threading.Thread(target=_end_with_the_search, daemon=True).start()
    try:
        small = min(task.batch, spec.batch)
        prepared = prepare(spec, replace(task, batch=small), place, cache)
        prepared.arm.model.train()
        images, labels = next(iter(prepared.job.batches.epoch(1)))
        copies = -(-task.batch // small)
        batch = (
            torch.cat([images] * copies)[: task.batch].contiguous(),
            torch.cat([labels] * copies)[: task.batch].contiguous(),
        )
        for _ in range(STEPS * prepared.recipe.accumulate):
            prepared.step(batch)
        synchronize(prepared.device)
        memory = peaks(prepared.device, prepared.data_bytes)
        prepared.job.close()
        answers.put(Capacity(task.batch, True, memory.allocated if memory else None))
    except Exception as error:
        answers.put(Capacity(task.batch, False) if out_of_memory(error) else f"{type(error).__name__}: {error}")


def _end_with_the_search() -> None:
    """A probe does not outlive the process that asked, whatever ends that one: it would hold the GPU's memory."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(70)
