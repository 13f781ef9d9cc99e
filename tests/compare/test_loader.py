"""Batches from a real loader: equal in every arm, timed with the steps, and nothing of them outlives the task."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from compare import estimate, plan
from compare.cores import MOST_WORKERS, loader_workers
from compare.data import load
from compare.data.batches import MEAN, STD
from compare.data.jpeg import encoded
from compare.data.loader import LoadedBatches
from compare.errors import UserError
from compare.home import SCRATCH
from compare.process import run_task
from compare.profiles import profile
from compare.records import InputCost, Record, Started, Step0, Trace, Window, read
from compare.spec import LOADER, RESNET50, Spec, Task
from compare.tasks import speed
from compare.tasks.prepared import Place, prepare
from compare.worker import Request
from compare.workloads import Setting, load_workload

CPU = torch.device("cpu")
IMAGES = load("synthetic:64,20")
SPEC = Spec(
    "smoke",
    "cpu",
    ("fp32", "native-bf16"),
    (),
    (),
    workload=LOADER,
    stem="imagenet",
    data="synthetic:64,20",
    batch=4,
    warmup=1,
    windows=2,
    window_steps=3,
)
TASK = Task("speed", "fp32", workload=LOADER, batch=4)


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of temporary files. After each test no worker is left, and nothing in it."""
    tmp_path_factory.getbasetemp()  # pytest's own is made at its first use, and not in this one
    with tempfile.TemporaryDirectory(prefix="l-") as folder:  # the path of a socket in it has to be short
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)
        assert multiprocessing.active_children() == []
        assert list(Path(folder).iterdir()) == []


@pytest.fixture
def made() -> Iterator[LoadedBatches]:
    batches = loader()
    yield batches
    batches.close()


def loader(seed: int = 1, batch: int = 8, **more: int) -> LoadedBatches:
    return LoadedBatches(IMAGES, batch, seed, CPU, **{"workers": 1, **more})  # type: ignore[arg-type]


def all_of(batches: LoadedBatches, epoch: int = 1) -> tuple[Tensor, Tensor]:
    parts = list(batches.epoch(epoch))
    return torch.cat([images for images, _ in parts]), torch.cat([labels for _, labels in parts])


# ------------------------------------------------------------------ files and batches


def test_a_file_is_the_image_but_for_what_jpeg_loses() -> None:
    # Smooth ones: JPEG keeps those, and noise is what it is there to lose.
    row = torch.arange(32, dtype=torch.float32)
    smooth = torch.stack([(row[:, None] * a + row * b + 20).expand(3, 32, 32) for a, b in ((3, 2), (1, 5), (0, 0))])
    files = encoded(smooth.to(torch.uint8))
    assert len(files) == 3
    for index, image in enumerate(smooth):
        decoded = files.decoded(index)
        assert decoded.shape == (3, 32, 32) and decoded.dtype == torch.uint8
        assert float((decoded.float() - image).abs().mean()) < 2


def test_an_epoch_holds_every_image_once_augmented_and_normalised(made: LoadedBatches) -> None:
    images, labels = all_of(made)
    assert images.shape == (64, 3, 32, 32) and images.dtype == torch.float32
    assert labels.bincount().tolist() == IMAGES.train_labels.bincount().tolist()
    assert made.steps_per_epoch == 8 and (made.train_samples, made.test_samples) == (64, 20)
    assert made.description == (
        "synthetic images (64 training, 20 test, 10 classes), as JPEG (quality 95) in memory, 1 loader workers"
    )
    again, _ = all_of(made, 2)
    assert not torch.equal(images, again), "another epoch has another order"


def test_what_chance_decides_hangs_on_seed_and_epoch_alone(made: LoadedBatches) -> None:
    first = all_of(made)
    torch.rand(3)  # whatever state this process's generator is in
    state = torch.get_rng_state()
    other = loader(workers=2)
    assert all(torch.equal(one, two) for one, two in zip(first, all_of(other), strict=True)), "the workers count"
    assert all(torch.equal(one, two) for one, two in zip(first, all_of(made), strict=True)), "an epoch is not repeated"
    assert torch.equal(state, torch.get_rng_state())
    assert other.order_digest() == made.order_digest() != loader(seed=2).order_digest()
    other.close()


def test_the_processes_of_a_task_share_an_epoch(made: LoadedBatches) -> None:
    whole, labels = all_of(made)
    halves = [loader(batch=4, rank=rank, world=2) for rank in (0, 1)]
    for rank, half in enumerate(halves):
        own, its = all_of(half)
        assert torch.equal(own, whole[rank::2]) and torch.equal(its, labels[rank::2])
        assert half.order_digest() == made.order_digest()
        half.close()


def test_an_epoch_can_be_left_for_the_next(made: LoadedBatches) -> None:
    whole = all_of(made, 2)
    list(itertools.islice(made.epoch(1), 2))
    assert all(torch.equal(one, two) for one, two in zip(whole, all_of(made, 2), strict=True))


def test_an_epoch_can_be_cut_short() -> None:
    short = loader(steps=2)
    assert short.steps_per_epoch == 2 and len(list(short.epoch(1))) == 2
    short.close()


def test_the_test_images_come_in_their_order_and_whole(made: LoadedBatches) -> None:
    parts = list(made.test(8))
    assert [len(labels) for _, labels in parts] == [8, 8, 4]
    assert torch.equal(torch.cat([labels for _, labels in parts]), IMAGES.test_labels)
    mean, std = (torch.tensor(value).view(3, 1, 1) for value in (MEAN, STD))
    exact = (IMAGES.test_images.float() / 255 - mean) / std
    apart = torch.nn.functional.avg_pool2d(torch.cat([images for images, _ in parts]) - exact, 8)
    assert float(apart.abs().mean()) < 0.05, "their colours are the same, whatever JPEG loses of their noise"


def test_too_few_images_are_refused_in_a_sentence() -> None:
    with pytest.raises(UserError, match="The data have 64 training images, fewer than the 65 of one batch"):
        loader(batch=65)


def test_a_worker_a_core_and_eight_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    for count, processes, workers in ((2, 1, 2), (64, 1, MOST_WORKERS), (16, 4, 4), (2, 8, 1)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, count=count: set(range(count)))
        assert loader_workers(processes) == workers
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    shared = LoadedBatches(IMAGES, 8, 1, CPU, world=2)
    assert shared.workers == 3 and shared.ahead == 6
    shared.close()


# ------------------------------------------------------------------ the task


@pytest.fixture
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})


@pytest.mark.usefixtures("one_worker")
def test_windows_draw_their_batches_and_begin_with_none_in_advance(monkeypatch: pytest.MonkeyPatch) -> None:
    what = prepare(replace(SPEC, warmup=12), TASK, Place(CPU))
    drawn: list[int] = []
    whole = what.job.batches.epoch

    def counted(number: int) -> Iterator[tuple[Tensor, Tensor]]:
        for batch in whole(number):
            drawn.append(number)
            yield batch

    monkeypatch.setattr(what.job.batches, "epoch", counted)
    records: list[Record] = []
    speed.run(what, records.append, lambda *_: None)
    assert what.job.ahead == 2
    # The first step and the traces take a batch each, a window those made in advance and its own three.
    assert len(drawn) == 1 + 12 + 2 * (what.job.ahead + 3) + 2
    assert drawn == sorted(drawn) and drawn[-1] == 2, "an epoch follows another"
    assert not [record for record in records if isinstance(record, InputCost)], "it is part of the step"
    assert [len(record.step_ms) for record in records if isinstance(record, Window)] == [3, 3]
    assert [type(record) for record in records].count(Step0) == 1 and isinstance(records[-1], Trace)
    what.job.close()


@pytest.mark.usefixtures("one_worker")
def test_weights_are_those_without_a_loader_and_equal_in_all_arms() -> None:
    setting = Setting(CPU, batch=8, seed=1, data=SPEC.data, stem="imagenet")
    assert load_workload(RESNET50)(setting).ahead == 0
    started = []
    for arm, workload in (("fp32", LOADER), ("native-bf16", LOADER), ("fp32", RESNET50)):
        what = prepare(SPEC, replace(TASK, arm=arm, workload=workload), Place(CPU))
        started.append(what.started)
        what.job.close()
    assert len({one.initial_weights for one in started}) == 1
    assert started[0].order == started[1].order != started[2].order


def test_a_task_runs_to_its_end_in_a_process_of_its_own(tmp_path: Path) -> None:
    request = Request(SPEC, TASK, tmp_path / "runs" / "one.jsonl")
    assert run_task(request, lambda *_: None, 600.0).status == "ok"
    records, _ = read(request.records)
    (started,) = [record for record in records if isinstance(record, Started)]
    assert started.data.endswith(f"in memory, {loader_workers()} loader workers")
    assert sum(isinstance(record, Window) for record in records) == 2
    assert holders(request.records) == []
    assert not request.records.with_suffix(".log").exists()


def test_workers_end_with_a_task_that_is_ended(tmp_path: Path, temporary: Path) -> None:
    """By force, in the middle of its windows: the runner leaves neither a process nor a file."""
    spec = replace(SPEC, windows=1000)
    request = Request(spec, TASK, tmp_path / "runs" / "one.jsonl")
    stop = threading.Event()
    seen: list[object] = []

    def progress(done: int, total: int, note: str) -> None:
        if note.startswith("window 2 "):
            seen.extend([*holders(request.records), *temporary.glob("amp-compare-*/pymp-*")])
            stop.set()

    with pytest.raises(KeyboardInterrupt):
        run_task(request, progress, 600.0, stop=stop)
    assert len(seen) == 1 + 2 * loader_workers(), "the task's process, its workers and their folders"
    until = time.monotonic() + 300
    while (left := holders(request.records)) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []
    records, _ = read(request.records)
    assert not any(type(record).__name__ == "Ended" for record in records), "it is to run again"


def holders(path: Path) -> list[int]:
    """The processes that hold a file open: a task's own, and the workers it was forked into."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == str(path):
                found.add(int(link.parts[2]))
        except OSError:  # it ended meanwhile, or closed the file
            continue
    return sorted(found - {os.getpid()})


# ------------------------------------------------------------------ what is planned and said


def test_full_measures_it_in_every_arm_with_the_plain_recipe_alone() -> None:
    spec = profile("full", "cuda")
    tasks = [task for task in plan.tasks(spec, spec.arms) if task.workload == LOADER]
    assert {(task.kind, task.recipe, task.batch) for task in tasks} == {("speed", "plain", spec.batch)}
    assert {task.arm for task in tasks} == set(spec.arms) and {task.block for task in tasks} == {0, 1, 2}
    own = replace(spec, workload=LOADER)
    assert {"clip", "accumulate"} <= {task.recipe for task in plan.tasks(own, own.arms) if task.workload == LOADER}


def test_an_estimate_waits_for_the_loader_where_it_is_the_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    rate = {"float32": 50e12, "tf32": 300e12, "float16": 600e12, "bfloat16": 600e12}
    spec = profile("quick", "cuda")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})

    def seconds(workload: str, arm: str) -> float:
        return estimate.seconds(Task("train", arm, workload=workload), spec, rate)  # type: ignore[arg-type]

    assert seconds(LOADER, "native-fp16") > 1.2 * seconds(RESNET50, "native-fp16")
    assert SCRATCH not in os.environ, "the tests run outside of any task"
