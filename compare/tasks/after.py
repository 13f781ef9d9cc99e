"""The first step again, from the weights that a training ended with.

An untrained network amplifies rounding from layer to layer; a trained one is what people run. Each arm begins with
the same weights, those of the baseline's training, in a process of its own.
"""

from __future__ import annotations

from pathlib import Path

from .checkpoint import put_away
from .first_step import first_step
from .prepared import Emit, Prepared, Progress


def keep_weights(prepared: Prepared, path: Path) -> None:
    """Keep what this training ended with, if the session makes first steps from it.

    A disk that is full costs those steps alone: they then say that there are no weights.
    """
    spec, task = prepared.spec, prepared.task
    if prepared.place.rank or task.replica or task.arm != spec.weights_from or task.seed >= spec.after:
        return
    put_away({name: value.cpu() for name, value in prepared.job.model.state_dict().items()}, path)


def run(prepared: Prepared, emit: Emit, progress: Progress) -> None:
    """Record the first step; `prepare` has put the trained weights into the model."""
    progress(0, 1, "first step")
    prepared.arm.model.train()
    emit(first_step(prepared, next(iter(prepared.job.batches.epoch(1)))))
