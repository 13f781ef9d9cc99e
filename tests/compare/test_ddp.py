"""One task as two processes under torchrun, with DistributedDataParallel over gloo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from compare.process import run_task
from compare.records import Ended, Epoch, Run, Started, Step0, Window, read
from compare.spec import Spec, Task
from compare.worker import Request
from tests.compare.test_runner import SPEC, WORK

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")


def run(folder: Path, spec: Spec, kind: str, batch: int, arm: str = "fp32", work: str = "build") -> Run:
    task = Task(kind, arm, workload=WORK + work, batch=batch)  # type: ignore[arg-type]
    path = folder / f"{spec.processes}-{task.name}.jsonl"
    run_task(Request(spec, task, path), lambda *_: None)
    return Run(task, tuple(read(path)[0]))


def test_two_processes_make_the_step_of_one_with_twice_the_batch(tmp_path: Path) -> None:
    """The ranks share out the same order, so the averaged gradients are those of the joint batch."""
    alone, together = run(tmp_path, SPEC, "speed", 16), run(tmp_path, replace(SPEC, processes=2), "speed", 8)
    assert [found.last(Ended).status for found in (alone, together)] == ["ok", "ok"]  # type: ignore[union-attr]
    one, two = alone.of(Step0)[0], together.of(Step0)[0]
    assert one.gradients is not None and two.gradients is not None
    assert two.gradients == pytest.approx(one.gradients, abs=1e-6)
    started = together.of(Started)
    assert [record.world for record in started] == [2], "both processes wrote, or none"
    assert started[0].initial_weights == alone.of(Started)[0].initial_weights
    assert len(together.of(Window)) == len(alone.of(Window))


def test_an_arm_with_a_loss_scale_trains_and_tests_all_images(tmp_path: Path) -> None:
    spec = replace(SPEC, processes=2, epochs=2)
    found = run(tmp_path, spec, "train", 8, arm="native-fp16")
    ended = found.last(Ended)
    assert ended is not None and ended.status == "ok", ended
    epochs = found.of(Epoch)
    assert [epoch.steps for epoch in epochs] == [4, 4]
    assert epochs[0].first_losses and not epochs[-1].first_losses
    assert epochs[-1].loss_scale == 65536.0


def test_a_fault_in_all_processes_is_one_recorded_end(tmp_path: Path) -> None:
    ended = run(tmp_path, replace(SPEC, processes=2), "speed", 8, work="crashes").of(Ended)
    assert [record.status for record in ended] == ["failed"]
    assert "built in" in str(ended[0].reason)


def test_a_loss_that_is_not_finite_in_one_process_ends_all(tmp_path: Path) -> None:
    spec = replace(SPEC, processes=2, epochs=3)
    ended = run(tmp_path, spec, "train", 8, work="diverges_in_the_second_process").of(Ended)
    assert [record.status for record in ended] == ["nan"]
