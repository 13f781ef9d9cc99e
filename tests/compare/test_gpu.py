"""What only a GPU shows: events, memory, the profiler, every arm's real kernels, Apex's among them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from compare import estimate
from compare.apex import apex_problem
from compare.arms import ARMS, RECIPES
from compare.measure.busy import busy_share, union
from compare.measure.memory import peaks, reset_peaks
from compare.measure.timing import Stopwatch, time_window
from compare.plan import cannot
from compare.process import run_task
from compare.records import Busy, Capacity, Ended, Epoch, InputCost, Memory, Run, Step0, Trace, Window, read
from compare.spec import LOADER, MLP, RESNET50, VIT, Spec, Task
from compare.worker import Request

SPEC = Spec(
    "quick", "cuda", tuple(ARMS), (), (), data="synthetic:512,64", epochs=2, warmup=5, windows=2, window_steps=5
)  # fmt: skip


def test_the_union_of_intervals_counts_nothing_twice() -> None:
    assert union([(0.0, 2.0), (1.0, 3.0), (5.0, 6.0), (5.5, 5.6)]) == 4.0
    assert union([]) == 0.0


@pytest.fixture
def device() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    return torch.device("cuda", 0)


def run(folder: Path, kind: str, arm: str, workload: str = RESNET50, recipe: str = "plain", batch: int = 16) -> Run:
    task = Task(kind, arm, workload=workload, recipe=recipe, batch=batch)  # type: ignore[arg-type]
    path = folder / f"{task.name}.jsonl"
    ended = run_task(Request(replace(SPEC, batch=batch), task, path), lambda *_: None)
    log = path.with_suffix(".log")
    assert ended.status == "ok", (ended.reason, log.read_text()[-3000:] if log.exists() else "")
    return Run(task, tuple(read(path)[0]))


@pytest.mark.gpu
def test_events_time_the_device_and_not_the_host(device: torch.device) -> None:
    matrix = torch.randn(4096, 4096, device=device)
    matrix @ matrix  # the first product loads cuBLAS
    window = time_window(0, 20, lambda left: left @ matrix, itertools.repeat(matrix), device)
    assert window.clock == "cuda-events" and len(window.step_ms) == 20
    assert min(window.step_ms) > 0 and sum(window.step_ms) / 20 > window.host_ms, "the host did not run ahead"
    watch = Stopwatch(device)
    for _ in range(20):
        matrix @ matrix
    assert 1e3 * watch.stop() == pytest.approx(sum(window.step_ms), rel=0.5)


@pytest.mark.gpu
def test_peaks_are_those_since_the_reset_less_the_data(device: torch.device) -> None:
    data = torch.zeros(1 << 20, device=device)
    reset_peaks(device)
    held = torch.zeros(1 << 22, device=device)
    memory = peaks(device, data.numel() * 4)
    assert memory is not None and memory.data == 4 << 20
    assert held.numel() * 4 <= memory.allocated < memory.reserved <= (memory.device_used or 0)


@pytest.mark.gpu
def test_a_device_that_is_kept_busy_is_seen_to_be(device: torch.device) -> None:
    matrix = torch.randn(4096, 4096, device=device)
    matrix @ matrix  # the first product loads cuBLAS
    watch = Stopwatch(device)
    for _ in range(10):
        matrix @ matrix
    busy = busy_share(lambda: matrix @ matrix, device, 100 * watch.stop())
    assert busy.share is not None and busy.share > 0.7, busy
    assert busy.launches is not None and busy.launches >= 1


@pytest.mark.gpu
def test_tensor_cores_are_faster_than_strict_float32(device: torch.device) -> None:
    rates = estimate.rates("cuda")
    assert rates["float16"] > rates["float32"] and rates["bfloat16"] > rates["float32"]


@pytest.mark.gpu
@pytest.mark.parametrize("arm", [arm for arm in ARMS if not ARMS[arm].apex])
def test_every_native_arm_runs_a_speed_task(device: torch.device, arm: str, tmp_path: Path) -> None:
    check_speed(run(tmp_path, "speed", arm))


@pytest.mark.gpu
@pytest.mark.parametrize("arm", ["fp32", "native-fp16"])
@pytest.mark.parametrize("recipe", [recipe for recipe in RECIPES if recipe != "plain"])
def test_every_recipe_runs(device: torch.device, arm: str, recipe: str, tmp_path: Path) -> None:
    assert cannot(arm, recipe, "cuda") is None
    check_speed(run(tmp_path, "speed", arm, recipe=recipe))


@pytest.mark.gpu
@pytest.mark.parametrize("arm", ["fp32", "native-fp16", "native-best"])
def test_the_mlp_runs(device: torch.device, arm: str, tmp_path: Path) -> None:
    check_speed(run(tmp_path, "speed", arm, workload=MLP, batch=512))


@pytest.mark.gpu
@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_runs_the_vision_transformer(device: torch.device, arm: str, tmp_path: Path) -> None:
    if ARMS[arm].apex and (reason := apex_problem()):
        pytest.skip(reason)
    check_speed(run(tmp_path, "speed", arm, workload=VIT))


@pytest.mark.gpu
@pytest.mark.parametrize("arm", ["fp32", "native-fp16", "native-best"])
def test_a_loader_is_part_of_the_steps(device: torch.device, arm: str, tmp_path: Path) -> None:
    done = run(tmp_path, "speed", arm, workload=LOADER)
    assert done.of(Window) and not done.of(InputCost)
    assert all(window.clock == "cuda-events" for window in done.of(Window))


@pytest.mark.gpu
def test_training_lowers_the_loss(device: torch.device, tmp_path: Path) -> None:
    epochs = run(tmp_path, "train", "native-fp16").of(Epoch)
    assert len(epochs) == 2 and epochs[-1].test_accuracy is not None and epochs[-1].loss_scale
    assert all(math.isfinite(loss) for epoch in epochs for loss in epoch.losses)


@pytest.mark.gpu
def test_the_largest_batch_is_found(device: torch.device, tmp_path: Path) -> None:
    """With a limit of its own: a probe above it is out of memory as on a small GPU."""
    workload = "tests.compare.tiny:out_of_memory"
    probes = run(tmp_path, "capacity", "fp32", workload=workload, batch=8).of(Capacity)
    assert max(probe.batch for probe in probes if probe.fits) == 11


@pytest.mark.gpu
@pytest.mark.apex
@pytest.mark.parametrize("arm", ["apex-o1", "apex-o2"])
@pytest.mark.parametrize("recipe", ["plain", "clip", "accumulate"])
def test_apex_runs_with_its_fused_kernels(arm: str, recipe: str, tmp_path: Path) -> None:
    if problem := apex_problem():
        pytest.skip(problem)
    check_speed(run(tmp_path, "speed", arm, recipe=recipe))


@pytest.mark.gpu
@pytest.mark.apex
def test_apex_and_native_start_from_the_same_gradients(tmp_path: Path) -> None:
    if problem := apex_problem():
        pytest.skip(problem)
    samples = []
    for arm in ("fp32", "apex-o1", "native-fp16", "apex-o2"):
        # An untrained ResNet50 amplifies rounding until its gradients in half precision are others altogether.
        step0 = run(tmp_path, "speed", arm, workload=MLP, batch=512).of(Step0)[0]
        assert step0.gradients is not None
        samples.append(torch.tensor(step0.gradients))
    full = samples[0]
    for half in samples[1:]:
        assert float((half - full).norm() / full.norm()) < 0.1


def check_speed(found: Run) -> None:
    windows = found.of(Window)
    assert len(windows) == 2 and all(window.clock == "cuda-events" for window in windows)
    assert all(0 < time < 60_000 for window in windows for time in window.step_ms)
    memory, ended = found.last(Memory), found.last(Ended)
    assert memory is not None and 0 < memory.allocated <= memory.reserved
    assert ended is not None and ended.gpu is not None
    assert found.of(InputCost)[0].batch_ms and found.of(Busy)[0].share is not None, found.of(Busy)
    trace = found.of(Trace)
    assert len(trace) == 10 and all(math.isfinite(step.loss) for step in trace)
    assert any(step.gradient_norm for step in trace), "no step reached the optimizer"
    assert found.of(Step0)[0].gradients
