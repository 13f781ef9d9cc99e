"""Training to the end: loss, accuracy, loss scale and time of each epoch, for one arm and one seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..measure.gradients import GradientProbe
from ..measure.timing import Stopwatch
from ..records import Epoch, Resumed
from .checkpoint import Checkpoint
from .prepared import Emit, NotFinite, Prepared, Progress, in_any, wait_for_all

PARTS = 10
"""Parts of an epoch whose mean loss is recorded."""
FIRST = 100
"""Steps from the start whose losses are recorded one by one: in them two arms part, or do not."""
REPORT_EVERY = 20
"""Steps between two messages of progress."""


def run(prepared: Prepared, emit: Emit, progress: Progress, checkpoint: Checkpoint | None = None) -> None:
    """Train for the session's epochs, from the last checkpoint on if there is one.

    Raises NotFinite once most losses of an epoch's last part are not finite.
    """
    checkpoint = checkpoint or Checkpoint(None)
    epochs = checkpoint.restore(prepared)
    for epoch in epochs:
        emit(epoch)
    if epochs:
        emit(Resumed(len(epochs)))
    for number in range(len(epochs), prepared.spec.epochs):
        wait_for_all(prepared.place)
        trained = _train(prepared, number, progress)
        losses = torch.stack(trained.losses).float().tolist()
        epochs.append(_epoch(prepared, number, trained, losses))
        emit(epochs[-1])
        last = _parts(losses)[-1]
        if in_any(prepared.place, 2 * sum(math.isfinite(loss) for loss in last) < len(last)):
            loss = str(last[-1]) if not math.isfinite(last[-1]) else "not finite in another process"
            raise NotFinite(f"the loss was {loss} at the end of epoch {number + 1}")
        checkpoint.save(prepared, epochs)


@dataclass
class _Trained:
    """What training one epoch gave; losses stay on the device until it is over."""

    losses: list[Tensor] = field(default_factory=list)
    seconds: float = 0.0
    rate: float = 0.0
    gradient_norm: float | None = None
    scales: list[tuple[int, float]] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)


def _train(prepared: Prepared, number: int, progress: Progress) -> _Trained:
    """One epoch. Its first batch is observed; the others are timed as one, drawing and augmenting included."""
    trained = _Trained()
    arm, epochs = prepared.arm, prepared.spec.epochs
    arm.model.train()
    batches = enumerate(_cut(prepared, number))
    steps = _steps(prepared)
    with GradientProbe(prepared.job.optimizer) as probe:
        _step(prepared, number, *next(batches), trained)
    trained.gradient_norm = probe.norm
    _note_scale(prepared, 0, trained)
    watch = Stopwatch(prepared.device)
    for step, batch in batches:
        _step(prepared, number, step, batch, trained)
        if step % REPORT_EVERY == 0:
            progress(number * steps + step, epochs * steps, f"epoch {number + 1} of {epochs}")
    timed = len(trained.losses) - 1
    if timed:
        trained.seconds = watch.stop() * len(trained.losses) / timed
        _note_scale(prepared, len(trained.losses) - 1, trained)
    return trained


def _step(prepared: Prepared, epoch: int, step: int, batch: tuple[Tensor, Tensor], trained: _Trained) -> None:
    """One batch, and whether the optimizer skipped the step it completed."""
    overall = epoch * _steps(prepared) + step
    trained.rate = prepared.job.learning_rate(overall)
    prepared.set_rate(trained.rate)
    taken = prepared.counter.taken
    trained.losses.append(prepared.step(batch))
    due = (overall + 1) % prepared.recipe.accumulate == 0
    if due and prepared.counter.taken == taken:
        trained.skipped.append(step)
        _note_scale(prepared, step, trained)


def _note_scale(prepared: Prepared, step: int, trained: _Trained) -> None:
    scale = prepared.arm.loss_scale()
    if scale is not None and (step, scale) not in trained.scales:
        trained.scales.append((step, scale))


def _epoch(prepared: Prepared, number: int, trained: _Trained, losses: list[float]) -> Epoch:
    """The record of an epoch, with the test accuracy after it."""
    accuracy = test_loss = eval_s = None
    if prepared.job.classifies:
        watch = Stopwatch(prepared.device)
        right, test_loss = _evaluate(prepared)
        eval_s = watch.stop()
        accuracy = 100.0 * float(right.float().mean())
    return Epoch(
        epoch=number + 1,
        steps=len(losses),
        train_s=trained.seconds,
        eval_s=eval_s,
        losses=[sum(part) / len(part) for part in _parts(losses)],
        test_accuracy=accuracy,
        test_loss=test_loss,
        learning_rate=trained.rate,
        gradient_norm=trained.gradient_norm,
        loss_scale=prepared.arm.loss_scale(),
        skipped=trained.skipped,
        scales=trained.scales,
        first_losses=losses[:FIRST] if number == 0 else [],
    )


def _evaluate(prepared: Prepared) -> tuple[Tensor, float]:
    """Which test images were right (bool, on the CPU, in the order of the data), and their mean loss.

    Under several processes each evaluates all of them: the wrapped model's forward is a joint operation.
    """
    prepared.arm.model.eval()
    right, losses, count = [], [], 0
    # On a GPU a batch of 500 keeps it busy and fits wherever training does; a session cut short tests as little.
    size = max(prepared.task.batch, 500) if prepared.device.type == "cuda" else prepared.task.batch
    for images, labels in itertools.islice(prepared.job.batches.test(size), prepared.spec.epoch_steps):
        logits = prepared.arm.evaluate(images).float()
        right.append(logits.argmax(1) == labels)
        losses.append(prepared.job.criterion(logits, labels).detach() * len(labels))
        count += len(labels)
    return torch.cat(right).cpu(), float(torch.stack(losses).sum()) / count


def _steps(prepared: Prepared) -> int:
    """Steps of one epoch."""
    whole = prepared.job.batches.steps_per_epoch
    return whole if prepared.spec.epoch_steps is None else min(whole, prepared.spec.epoch_steps)


def _cut(prepared: Prepared, number: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The epoch's batches, cut short where the session says so."""
    return itertools.islice(prepared.job.batches.epoch(number + 1), _steps(prepared))


def _parts(losses: list[float]) -> list[list[float]]:
    """The losses in at most `PARTS` successive parts of nearly equal length."""
    count = min(PARTS, len(losses))
    ends = [round(index * len(losses) / count) for index in range(count + 1)]
    return [losses[start:end] for start, end in itertools.pairwise(ends)]
