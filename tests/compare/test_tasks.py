"""What a task's process does, run here on a small network and a real GradScaler on the CPU."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
import torch

from compare.arms import ARMS, Recipe
from compare.measure.memory import out_of_memory
from compare.process import run_task
from compare.records import Busy, Capacity, Epoch, InputCost, Record, Resumed, Step0, Trace, Window, encode, read
from compare.spec import Spec, Task
from compare.tasks import after, capacity, checkpoint, prepared, speed, train
from compare.tasks.checkpoint import Checkpoint
from compare.tasks.prepared import NotFinite, Place, Prepared, prepare
from compare.worker import Request

SPEC = Spec(
    "smoke", "cpu", ("fp32", "native-fp16"), ("fp32",), (), epochs=3, warmup=2, windows=2, window_steps=3, batch=8
)
PLACE = Place(torch.device("cpu"))
WORK = "tests.compare.tiny:"
R = TypeVar("R")


def ready(arm: str = "fp32", work: str = "build", recipe: str = "plain", seed: int = 0) -> Prepared:
    return prepare(SPEC, Task("speed", arm, seed=seed, workload=WORK + work, recipe=recipe, batch=8), PLACE)


def recorded(kind: type[R], records: list[Record]) -> list[R]:
    return [record for record in records if isinstance(record, kind)]


def run(what: Prepared, task: object = speed) -> list[Record]:
    records: list[Record] = []
    task.run(what, records.append, lambda done, total, note: None)  # type: ignore[attr-defined]
    return records


def test_a_speed_task_records_its_windows_and_what_goes_with_them() -> None:
    records = run(ready())
    windows = recorded(Window, records)
    assert [window.index for window in windows] == [0, 1]
    assert all(len(window.step_ms) == 3 and min(window.step_ms) > 0 for window in windows)
    assert all(window.clock == "host" for window in windows)
    assert recorded(Step0, records)[0].attempts == 1
    assert recorded(Busy, records)[0].share is None and recorded(Busy, records)[0].reason
    assert recorded(InputCost, records)[0].batch_ms
    assert len(recorded(Trace, records)) == 2 and not any(trace.skipped for trace in recorded(Trace, records))


def test_a_warm_up_without_a_time_takes_the_steps_asked_for_and_no_more() -> None:
    what = ready()
    run(what)
    # One first step, two of warm-up, two windows of three, two that are traced.
    assert what.counter.taken == 1 + 2 + 2 * 3 + 2


def test_a_warm_up_with_a_time_goes_on_until_it_has_passed() -> None:
    """Clocks settle in seconds, however many steps that is."""
    what = ready()
    what = replace(what, spec=replace(SPEC, warmup_s=0.5))
    run(what)
    assert what.counter.taken > 1 + 2 + 2 * 3 + 2 + 20, "half a second is many steps of so small a network"


def test_what_the_search_for_algorithms_left_reserved_is_given_back_before_the_windows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    timed = speed.time_window
    monkeypatch.setattr(speed, "release", lambda device: order.append("release"))
    monkeypatch.setattr(speed, "reset_peaks", lambda device: order.append("reset"))
    monkeypatch.setattr(speed, "time_window", lambda *words: order.append("window") or timed(*words))
    run(ready())
    assert order == ["release", "reset", "window", "window"]


@pytest.mark.parametrize(
    ("arm", "change", "kept"),
    [
        ("fp32", {}, True),
        ("native-bf16", {}, False),
        ("fp32", {"replica": 1}, False),
        ("fp32", {"seed": 1}, False),
    ],
)
def test_trained_weights_are_kept_of_the_baseline_and_the_first_seeds(
    tmp_path: Path, arm: str, change: dict[str, int], kept: bool
) -> None:
    """All arms begin their first step from the same weights, which favour neither side."""
    spec = replace(SPEC, trained=("native-bf16", "fp32"), after=1)
    task = replace(Task("train", arm, workload=WORK + "build", batch=8), **change)  # type: ignore[arg-type]
    what = prepare(spec, task, PLACE)
    after.keep_weights(what, tmp_path / "weights.pt")
    assert (tmp_path / "weights.pt").exists() is kept


def test_arms_of_one_seed_start_equal_and_others_differ() -> None:
    fp32, fp16, other = ready("fp32").started, ready("native-fp16").started, ready("fp32", seed=1).started
    assert (fp32.initial_weights, fp32.order) == (fp16.initial_weights, fp16.order)
    assert fp32.initial_weights != other.initial_weights and fp32.order != other.order
    assert fp32.arm_sha256 != fp16.arm_sha256 and "class NativeAmp" in fp16.arm_source


def test_step_0_samples_the_same_gradients_in_every_arm() -> None:
    samples = {}
    for arm in ("fp32", "native-fp16", "native-bf16"):
        step0 = recorded(Step0, run(ready(arm)))[0]
        assert step0.gradients is not None
        samples[arm] = torch.tensor(step0.gradients)
    exact = samples["fp32"]
    for arm, tolerance in (("native-fp16", 0.01), ("native-bf16", 0.05)):
        difference = float((samples[arm] - exact).norm() / exact.norm())
        assert 0 < difference < tolerance, arm


def test_a_first_loss_scale_that_overflows_is_tried_again() -> None:
    step0 = recorded(Step0, run(ready("native-fp16", "overflows")))[0]
    assert step0.attempts > 1 and step0.gradients is not None
    assert all(math.isfinite(value) for value in step0.gradients)


def test_training_records_every_epoch_and_the_first_ones_losses() -> None:
    epochs = recorded(Epoch, run(ready(), train))
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3]
    assert [len(epoch.first_losses) for epoch in epochs] == [8, 0, 0]
    assert epochs[0].losses == pytest.approx(epochs[0].first_losses)
    last = epochs[-1]
    assert last.test_accuracy is not None and last.test_accuracy > 90.0, "three clouds far apart were not learnt"
    assert last.losses[-1] < epochs[0].losses[0]
    assert last.steps == 8 and last.train_s > 0 and last.eval_s is not None and last.eval_s > 0
    assert last.gradient_norm is not None and last.gradient_norm > 0


def test_skipped_steps_are_counted_with_the_scales_they_left() -> None:
    epochs = recorded(Epoch, run(ready("native-fp16", "overflows"), train))
    first = epochs[0]
    assert first.skipped and first.skipped == list(range(len(first.skipped))), "the overflows come first"
    assert [scale for step, scale in first.scales if step in first.skipped] == [
        65536.0 / 2 ** (count + 1) for count in range(len(first.skipped))
    ]
    assert epochs[-1].skipped == []


def test_fp32_has_no_scale_and_skips_nothing() -> None:
    for epoch in recorded(Epoch, run(ready(), train)):
        assert epoch.loss_scale is None and epoch.scales == [] and epoch.skipped == []


def test_accumulation_steps_once_in_four_batches_and_skips_are_told_from_that() -> None:
    what = ready("native-fp16", recipe="accumulate")
    epochs = recorded(Epoch, run(what, train))
    assert what.counter.taken == 3 * 8 // 4
    assert all(epoch.skipped == [] for epoch in epochs)


def test_clipping_bounds_the_gradient_the_optimizer_sees() -> None:
    assert all(trace.gradient_norm is not None for trace in recorded(Trace, run(ready("native-fp16"))))
    for arm in ("fp32", "native-fp16"):
        for trace in recorded(Trace, run(ready(arm, recipe="clip"))):
            assert trace.gradient_norm is not None and trace.gradient_norm <= 1.0 + 1e-4


def test_the_gradient_penalty_runs_where_there_is_a_class_for_it() -> None:
    for arm in ("fp32", "native-fp16", "native-bf16"):
        assert math.isfinite(recorded(Trace, run(ready(arm, recipe="gradient-penalty")))[-1].loss)


def test_a_loss_that_is_not_finite_ends_the_task() -> None:
    with pytest.raises(NotFinite, match="after the timed steps"):
        run(ready(work="diverges"))
    records: list[Record] = []
    with pytest.raises(NotFinite, match="epoch 1"):
        train.run(ready(work="diverges"), records.append, lambda done, total, note: None)
    assert len(recorded(Epoch, records)) == 1, "the epoch that went wrong is recorded too"


def test_an_epoch_can_be_cut_short() -> None:
    short = Spec(**{**SPEC.__dict__, "epoch_steps": 2})
    what = prepare(short, Task("train", "fp32", workload=WORK + "build", batch=8), PLACE)
    epoch = recorded(Epoch, run(what, train))[0]
    assert epoch.steps == 2 and len(epoch.losses) == 2


@pytest.mark.parametrize("length", [1, 2, 9, 10, 11, 390, 391])
def test_the_parts_of_an_epoch_are_all_of_it_in_order(length: int) -> None:
    losses = [float(number) for number in range(length)]
    parts = train._parts(losses)
    assert [loss for part in parts for loss in part] == losses
    assert len(parts) == min(10, length) and max(map(len, parts)) - min(map(len, parts)) <= 1


def test_no_arm_replaces_the_optimizer_whose_steps_are_counted() -> None:
    for arm in ("fp32", "native-fp16", "native-bf16"):
        what = ready(arm)
        for batch in what.job.batches.epoch(1):
            what.step(batch)
        assert what.counter.taken == 8, arm


# ---------------------------------------------------------------- largest batch


@pytest.mark.parametrize("true", [0, 1, 2, 7, 127, 128, 129, 1000, 5000])
@pytest.mark.parametrize("start", [1, 128])
def test_the_search_finds_the_largest_batch_to_a_sixteenth(true: int, start: int) -> None:
    tried: list[int] = []

    def fits(batch: int) -> bool:
        tried.append(batch)
        return batch <= true

    found = capacity.largest(start, fits)
    assert found <= true and true - found <= max(0, true // 16)
    assert len(tried) == len(set(tried)) < 30


def test_the_search_stops_at_the_limit() -> None:
    assert capacity.largest(128, lambda batch: True, limit=1000) in range(512, 1001)


def test_each_probe_is_a_process_of_its_own() -> None:
    records: list[Record] = []
    task = Task("capacity", "fp32", workload=WORK + "out_of_memory", batch=8)
    capacity.run(SPEC, task, PLACE, None, records.append, lambda done, total, note: None)
    probes = recorded(Capacity, records)
    assert {probe.batch: probe.fits for probe in probes} == {8: True, 16: False, 12: False, 10: True, 11: True}


def test_a_probe_that_fails_otherwise_is_no_answer() -> None:
    task = Task("capacity", "fp32", workload=WORK + "crashes", batch=8)
    with pytest.raises(capacity.ProbeFailed, match="built in"):
        capacity.run(SPEC, task, PLACE, None, lambda record: None, lambda done, total, note: None)


@pytest.mark.parametrize(
    ("error", "ran_out"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB."), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("Triton Error [CUDA]: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("FIND was unable to find an engine to execute this computation"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_running_out_of_memory_is_known_by_whoever_says_it(error: Exception, ran_out: bool) -> None:
    assert out_of_memory(error) is ran_out


def test_arms_and_recipes_are_known_by_their_own_names() -> None:
    assert all(name == info.name for name, info in ARMS.items())
    assert Recipe("plain") == prepared.RECIPES["plain"]


def test_the_cache_is_handed_to_the_workload(tmp_path: Path) -> None:
    seen = prepare(SPEC, Task("speed", "fp32", workload=WORK + "build", batch=8), PLACE, tmp_path)
    assert seen.job.batches.setting.cache == tmp_path  # type: ignore[attr-defined]


# ------------------------------------------------------------------ going on after an interruption


class Interrupted(Exception):
    """In the place of a kill."""


@pytest.mark.parametrize("arm", ["fp32", "native-fp16", "native-bf16"])
@pytest.mark.parametrize("recipe", ["plain", "accumulate"])
def test_a_training_that_was_interrupted_ends_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: str, recipe: str
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    whole = recorded(Epoch, run(ready(arm, "overflows", recipe), train))
    path = tmp_path / "checkpoints" / "task.pt"
    kept: list[Record] = []

    def stop(record: Record) -> None:
        kept.append(record)
        if len(recorded(Epoch, kept)) == 3:
            raise Interrupted

    with pytest.raises(Interrupted):
        train.run(ready(arm, "overflows", recipe), stop, lambda *_: None, Checkpoint(path))
    resumed: list[Record] = []
    train.run(ready(arm, "overflows", recipe), resumed.append, lambda *_: None, Checkpoint(path))
    assert [record.epochs for record in recorded(Resumed, resumed)] == [2]
    epochs = recorded(Epoch, resumed)
    assert [timeless(epoch) for epoch in epochs] == [timeless(epoch) for epoch in whole]
    assert not list(path.parent.glob("*.tmp"))


def timeless(epoch: Epoch) -> str:
    return encode(replace(epoch, train_s=0.0, eval_s=0.0))


def test_the_next_process_of_a_task_goes_on_and_leaves_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed process left is found by the one that the runner starts."""
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    task = Task("train", "native-fp16", workload=WORK + "build", batch=8)
    request = Request(SPEC, task, tmp_path / "runs" / f"{task.name}.jsonl")

    def stop(record: Record) -> None:
        if isinstance(record, Epoch) and record.epoch == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        train.run(prepare(SPEC, task, PLACE), stop, lambda *_: None, Checkpoint(request.checkpoint))
    assert run_task(request, lambda *_: None).status == "ok"
    records, _ = read(request.records)
    assert [record.epochs for record in recorded(Resumed, records)] == [1]
    whole = recorded(Epoch, run(prepare(SPEC, task, PLACE), train))
    assert [timeless(epoch) for epoch in recorded(Epoch, records)] == [timeless(epoch) for epoch in whole]
    assert not list((tmp_path / "checkpoints").iterdir())


def test_a_checkpoint_of_another_training_or_a_cut_one_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    path = tmp_path / "task.pt"
    train.run(ready("fp32"), lambda _: None, lambda *_: None, Checkpoint(path))
    assert len(Checkpoint(path).restore(ready("fp32"))) == 3
    assert Checkpoint(path).restore(ready("fp32", seed=1)) == []
    assert Checkpoint(path).restore(ready("native-fp16")) == []
    path.write_bytes(path.read_bytes()[:100])
    assert Checkpoint(path).restore(ready("fp32")) == []


def test_checkpoints_are_seldom_and_never_amid_an_accumulated_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train.run(ready("fp32"), lambda _: None, lambda *_: None, Checkpoint(tmp_path / "seldom.pt"))
    assert not (tmp_path / "seldom.pt").exists(), "three short epochs are no minute"
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    prepared = ready("fp32", recipe="accumulate")
    Checkpoint(tmp_path / "amid.pt").save(prepared, [_epoch_of(steps=prepared.recipe.accumulate + 1)])
    assert not (tmp_path / "amid.pt").exists()


def _epoch_of(steps: int) -> Epoch:
    return Epoch(1, steps, 1.0, None, [1.0], None, None, 0.1, None, None)


def test_a_disk_that_is_full_costs_the_checkpoint_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    (tmp_path / "checkpoints").write_text("a file where the folder should be")
    epochs = recorded(Epoch, run_with(Checkpoint(tmp_path / "checkpoints" / "task.pt")))
    assert len(epochs) == 3


def run_with(where: Checkpoint) -> list[Record]:
    records: list[Record] = []
    train.run(ready(), records.append, lambda *_: None, where)
    return records
