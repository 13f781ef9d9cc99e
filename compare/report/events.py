"""TensorBoard event files of the training runs: `tensorboard/<arm>/seed<k>`.

They are written record by record with the package `tensorboard` alone, without torch, so that equal
results give equal bytes: the usual writers put the host's name and the present time in them. The wall
time of an event is the session's start plus the training time, so that TensorBoard's relative axis
shows training time.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from datetime import datetime

from ..records import Epoch, Session
from ..results import Results, TrainingRun

FILE = "events.out.tfevents.0.apex2native"

Rates = Mapping[tuple[str, int], Mapping[int, float]]
"""Learning rate by (arm, seed) and epoch."""
_Scalar = tuple[str, int, float, float]


def event_files(results: Results, rates: Rates) -> dict[str, bytes]:
    """The files by their path in the report's folder. Raises ImportError without the package `tensorboard`."""
    return {
        f"tensorboard/{arm.name}/seed{run.seed}/{FILE}": _encoded(
            list(_scalars(run, rates.get((arm.name, run.seed), {}))), _start(results)
        )
        for arm in results.arms
        for run in arm.training
    }


def learning_rates(session: Session) -> Rates:
    """What the training tasks recorded, which the results leave out."""
    return {
        (run.task.arm, run.task.seed): {epoch.epoch: epoch.learning_rate for epoch in run.of(Epoch)}
        for run in session.runs
        if run.task.kind == "train"
    }


def _scalars(run: TrainingRun, rates: Mapping[int, float]) -> Iterator[_Scalar]:
    """Tag, step, seconds of training and value. An epoch's values stand at its last step."""
    per_epoch = max(1, run.steps // max(1, len(run.epochs)))
    before = 0.0
    for epoch in run.epochs:
        for index, loss in enumerate(epoch.losses, 1):
            part = index / len(epoch.losses)
            yield (
                "train/loss",
                round((epoch.epoch - 1 + part) * per_epoch),
                before + part * (epoch.train_s - before),
                loss,
            )
        values = {
            "test/accuracy": epoch.test_accuracy,
            "train/gradient norm": epoch.gradient_norm,
            "train/learning rate": rates.get(epoch.epoch),
        }
        for tag, value in values.items():
            if value is not None:
                yield tag, epoch.epoch * per_epoch, epoch.train_s, value
        before = epoch.train_s
    pace = before / max(1, run.steps)
    for point in run.scales:
        yield "train/loss scale", point.step, point.step * pace, point.loss_scale


def _encoded(scalars: list[_Scalar], start: float) -> bytes:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    buffer = io.BytesIO()
    writer = RecordWriter(buffer)
    writer.write(Event(wall_time=start, file_version="brain.Event:2").SerializeToString())
    for tag, step, seconds, value in scalars:
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.write(Event(wall_time=start + seconds, step=step, summary=summary).SerializeToString())
    writer.flush()
    return buffer.getvalue()


def _start(results: Results) -> float:
    try:
        return datetime.fromisoformat(results.started.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
