"""The switches that an arm demands hold for the whole of its run, or its task fails and says why."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from compare.errors import UserError
from compare.process import run_task
from compare.records import Ended
from compare.spec import Spec, Task
from compare.switches import flags, refuse_misleading, set_flags, tf32_override
from compare.worker import Request

SPEC = Spec("smoke", "cpu", ("fp32",), (), (), batch=8, warmup=1, windows=1, window_steps=2, timeout=600.0)


@pytest.fixture
def switches() -> Iterator[None]:
    """Puts torch's defaults back."""
    benchmark, cudnn = torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32
    matmul = torch.backends.cuda.matmul.allow_tf32
    yield
    torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = benchmark, cudnn
    torch.backends.cuda.matmul.allow_tf32 = matmul


@pytest.mark.parametrize("tf32", [True, False])
@pytest.mark.parametrize("benchmark", [True, False])
def test_the_switches_are_set_and_read_back(tf32: bool, benchmark: bool, switches: None) -> None:
    torch.backends.cudnn.deterministic = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = set_flags(tf32=tf32, benchmark=benchmark)
    assert found == flags()
    assert torch.backends.cuda.matmul.allow_tf32 is torch.backends.cudnn.allow_tf32 is tf32
    assert found["cuda_matmul_allow_tf32"] is found["cudnn_allow_tf32"] is tf32
    assert found["matmul_fp32_precision"] == ("high" if tf32 else "highest")
    assert found["cudnn_benchmark"] is torch.backends.cudnn.benchmark is benchmark
    assert found["cudnn_deterministic"] is torch.backends.cudnn.deterministic is False
    assert found["allow_fp16_reduced_precision_reduction"] is found["allow_bf16_reduced_precision_reduction"] is True


@pytest.mark.parametrize(("value", "words"), [("0", "no arm uses TF32"), ("1", "every float32 arm uses TF32")])
def test_the_variable_that_overrides_torch_is_reported(value: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    assert tf32_override() is None and flags()["nvidia_tf32_override"] is None
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", value)
    assert words in (tf32_override() or "") and flags()["nvidia_tf32_override"] == value


def test_a_switch_that_torch_refuses_to_read_is_called_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise RuntimeError("the older and the newer names were mixed")

    monkeypatch.setattr(torch, "get_float32_matmul_precision", refuse)
    assert flags()["matmul_fp32_precision"] == "mixed"


# ------------------------------------------------------------------ in a task's own process


def ended(folder: Path, work: str) -> Ended:
    task = Task("speed", "fp32", workload=f"tests.compare.tiny:{work}", batch=8)
    return run_task(Request(replace(SPEC, workload=task.workload), task, folder / "run.jsonl"), lambda *_: None)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ("sets_tf32", "cudnn_allow_tf32 is True"),
        ("sets_tf32_by_its_newer_name", "cuda_matmul_fp32_precision is tf32"),
        ("sets_tf32_for_all_of_cudnn", "cudnn_fp32_precision is tf32"),
        ("sets_tf32_everywhere", "fp32_precision is tf32"),
        ("accumulates_in_half", "allow_fp16_accumulation is True"),
        ("sets_determinism", "deterministic_algorithms is True"),
        ("looks_for_anomalies", "anomaly_mode is True"),
    ],
)
def test_a_workload_that_sets_a_switch_when_it_is_built_fails_its_task(tmp_path: Path, work: str, words: str) -> None:
    end = ended(tmp_path, work)
    assert end.status == "failed" and end.reason is not None
    assert "(without TF32) after the workload was built: " in end.reason and words in end.reason


def test_a_workload_that_sets_a_switch_while_it_runs_fails_its_task(tmp_path: Path) -> None:
    end = ended(tmp_path, "sets_a_switch_later")
    assert end.status == "failed" and end.reason is not None
    assert "after the run: cudnn_benchmark is False" in end.reason


def test_a_workload_that_leaves_the_switches_alone_does_not(tmp_path: Path) -> None:
    assert ended(tmp_path, "build").status == "ok"


# ------------------------------------------------------------------ before anything runs


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("CUDA_LAUNCH_BLOCKING", "1", "waits for every kernel"),
        ("CUDA_INJECTION64_PATH", "/opt/nsight/libinjection.so", "profiler or sanitizer"),
        ("TORCH_CUDA_SANITIZER", "true", "every access"),
        ("TORCH_COMPILE_DISABLE", "1", "nothing is then compiled"),
        ("LD_PRELOAD", "/usr/lib/libasan.so.8", "sanitizer or profiler"),
        ("LD_PRELOAD", "/opt/nsight/libToolsInjectionProxy64.so", "sanitizer or profiler"),
        ("NVIDIA_TF32_OVERRIDE", "1", "every float32 arm uses TF32"),
    ],
)
def test_what_makes_times_meaningless_is_refused(
    name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=name) as refused:
        refuse_misleading(["fp32", "native-fp16"])
    assert words in str(refused.value) and str(refused.value).endswith("unset it.")


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_a_variable_that_is_off_is_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", value)
    refuse_misleading(["fp32"])


def test_an_override_that_does_what_the_arms_want_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    refuse_misleading(["fp32", "native-fp16"])
    with pytest.raises(UserError, match="tf32 included"):
        refuse_misleading(["fp32", "tf32"])
