"""The driver, the device, torch's switches and the recorded environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from compare import env, nvidia
from compare.errors import UserError
from compare.nvidia import Driver, Gpu, driver, gpu_state
from tests.compare.doubles import H100, HEADER, fake_smi

KERNEL_TEXT = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version: 12\n"
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one empty folder, and no variable that picks a GPU."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(nvidia, "_WSL", str(folder / "none"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return folder


@pytest.fixture
def kernel(tmp_path: Path) -> tuple[Path, Path]:
    """The driver's folders in /proc and /dev as on a machine with one GPU."""
    proc, devices = tmp_path / "proc", tmp_path / "dev"
    (proc / "gpus" / "0000:01:00.0").mkdir(parents=True)
    (proc / "version").write_text(KERNEL_TEXT)
    (proc / "gpus" / "0000:01:00.0" / "information").write_text("Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ: 33\n")
    devices.mkdir()
    (devices / "nvidia0").touch()
    return proc, devices


# ------------------------------------------------------------------ the driver


def test_driver_is_read_from_nvidia_smi(path: Path) -> None:
    fake_smi(path)
    seen = driver()
    assert seen == Driver(
        "550.54.15",
        "12.4",
        (Gpu("NVIDIA H100 80GB HBM3", 81559 * 2**20, "9.0", True, 700.0, False, 1980, 2619, None, 2619),),
    )


def test_no_nvidia_smi_and_no_kernel_module_is_no_driver(path: Path, tmp_path: Path) -> None:
    assert driver(proc=tmp_path / "none", devices=tmp_path / "none") is None


def test_a_field_that_nvidia_smi_does_not_know_is_left_out(path: Path) -> None:
    fake_smi(path, [{key: value for key, value in H100.items() if key not in ("compute_cap", "mig.mode.current")}])
    seen = driver()
    assert seen is not None
    assert (seen.gpus[0].compute_capability, seen.gpus[0].mig, seen.gpus[0].max_sm_mhz) == (None, None, 1980)


def test_the_newer_spelling_of_the_cuda_version(path: Path) -> None:
    fake_smi(path, header=HEADER.replace("CUDA Version: 12.4", "CUDA UMD Version: 13.1"))
    seen = driver()
    assert seen is not None and seen.cuda == "13.1"


def test_without_nvidia_smi_the_kernel_module_answers(path: Path, kernel: tuple[Path, Path]) -> None:
    assert driver(proc=kernel[0], devices=kernel[1]) == Driver("550.54.15", None, (Gpu("NVIDIA A100-SXM4-40GB"),))


def test_a_container_without_the_device_has_no_gpu(path: Path, kernel: tuple[Path, Path]) -> None:
    (kernel[1] / "nvidia0").unlink()
    (kernel[1] / "nvidiactl").touch()
    assert driver(proc=kernel[0], devices=kernel[1]) is None


def test_a_failing_nvidia_smi_is_a_problem_where_there_is_a_gpu(path: Path, kernel: tuple[Path, Path]) -> None:
    fake_smi(path, code=18, complaint="Failed to initialize NVML: Driver/library version mismatch")
    seen = driver(proc=kernel[0], devices=kernel[1])
    assert seen is not None and seen.problem == "Failed to initialize NVML: Driver/library version mismatch"
    assert driver(proc=kernel[0] / "none", devices=kernel[1]) is None


def test_no_devices_were_found(path: Path, kernel: tuple[Path, Path]) -> None:
    fake_smi(path, code=6, complaint="No devices were found")
    assert driver(proc=kernel[0], devices=kernel[1]) is None


def test_an_nvidia_smi_that_hangs_is_a_problem(path: Path, kernel: tuple[Path, Path]) -> None:
    fake_smi(path)
    seen = driver(run=lambda command: None, proc=kernel[0], devices=kernel[1])
    assert seen is not None and seen.problem == "nvidia-smi does not answer"


# ------------------------------------------------------------------ its state


def test_state_of_the_gpu(path: Path) -> None:
    fake_smi(path)
    assert gpu_state() == {
        "sm_mhz": 345,
        "memory_mhz": 2619,
        "temperature_c": 31,
        "power_w": 71.53,
        "utilization_percent": 0,
        "pstate": "P0",
        "throttle": ["idle", "power cap"],
    }


def test_state_under_the_older_name_and_with_gaps(path: Path) -> None:
    older = {key: value for key, value in H100.items() if key != "clocks_event_reasons.active"}
    fake_smi(path, [older | {"clocks_throttle_reasons.active": "0x0", "power.draw": "[N/A]"}])
    state = gpu_state()
    assert state is not None and state["throttle"] == [] and state["power_w"] is None


def test_state_is_none_without_a_gpu_and_never_raises(path: Path) -> None:
    assert gpu_state() is None
    fake_smi(path, code=9, complaint="NVIDIA-SMI has failed")
    assert gpu_state() is None
    fake_smi(path, [dict.fromkeys(H100, "x")])
    state = gpu_state()
    assert state is not None and state["sm_mhz"] is None and state["throttle"] is None


@pytest.mark.parametrize(
    ("visible", "clock"), [(None, 345), ("1", 1980), ("GPU-2222", 1980), ("1,0", 1980), ("0", 345)]
)
def test_state_is_that_of_the_gpu_torch_uses(
    path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, clock: int
) -> None:
    fake_smi(path, [H100, H100 | {"index": "1", "uuid": "GPU-22222222-aaaa", "clocks.sm": "1980"}])
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(nvidia, "_uuid_in_use", lambda: None)
    state = gpu_state()
    assert state is not None and state["sm_mhz"] == clock


# ------------------------------------------------------------------ the device

OLD = Driver("550.54.15", "12.4", (Gpu("NVIDIA H100", compute_capability="9.0"),))
NEW = Driver("580.65.06", "13.0", (Gpu("Tesla V100", compute_capability="7.0"), Gpu("Tesla V100")))


@pytest.mark.parametrize(
    ("seen", "cuda", "arches", "said", "expected"),
    [
        (
            OLD,
            "13.0",
            [],
            None,
            "update the driver to 580.65.06 or newer, or install a torch wheel built for CUDA 12.x or older",
        ),
        (OLD, None, [], None, "install a torch wheel for CUDA 12.x or older"),
        (NEW, "13.0", ["sm_75", "sm_90", "compute_90"], "no kernel image", "this GPU has compute capability 7.0"),
        (OLD, "12.8", ["sm_90"], "out of memory", "torch says “out of memory”"),
        (OLD, "12.8", [], None, "torch does not say why"),
        (
            Driver("550.54.15", None, (Gpu("A100"),), "NVML: version mismatch"),
            "12.4",
            [],
            None,
            "nvidia-smi says “NVML: version mismatch”",
        ),
        (None, "12.4", [], "unknown error", "torch says “unknown error”"),
    ],
)
def test_a_gpu_that_torch_cannot_use(
    seen: Driver | None,
    cuda: str | None,
    arches: list[str],
    said: str | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    sentence = env.unusable(seen, "2.11.0", cuda, arches, said)
    assert expected in sentence
    assert "torch 2.11.0" in sentence and (f"CUDA {cuda}" if cuda else "no CUDA") in sentence
    if seen is not None:
        assert f"driver {seen.version}" in sentence
        assert seen.cuda is None or f"CUDA up to {seen.cuda}" in sentence
    assert "\n" not in sentence and sentence.endswith(".")


@pytest.mark.parametrize(("value", "hides"), [("", True), ("-1", True), ("1", True), ("0", False), ("GPU-1111", False)])
def test_cuda_visible_devices_that_hides_the_gpu(value: str, hides: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert ("hides it; unset that variable" in env.unusable(OLD, "2.11.0", "12.4", [])) is hides


@pytest.mark.parametrize(
    ("arches", "capability", "covered"),
    [
        (["sm_80", "sm_90"], "8.6", True),
        (["sm_80", "sm_90"], "9.0", True),
        (["sm_86"], "8.0", False),
        (["sm_75", "compute_75"], "12.0", True),
        (["sm_75", "sm_80"], "7.0", False),
        (["sm_100", "sm_120"], "12.1", True),
        (["sm_90a"], "9.0", True),
    ],
)
def test_whether_a_build_covers_a_gpu(arches: list[str], capability: str, covered: bool) -> None:
    assert env._covers(arches, capability) is covered


def test_a_hidden_gpu_ends_with_both_versions_and_never_falls_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a real process; the driver is a double, torch is not."""
    fake_smi(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(UserError) as caught:
        env.inspect_machine()
    problem = str(caught.value)
    assert "550.54.15" in problem and "CUDA up to 12.4" in problem and torch.__version__ in problem
    if torch.version.cuda:
        assert torch.version.cuda in problem and "CUDA_VISIBLE_DEVICES='' hides it" in problem


def test_inspect_machine_says_how_its_process_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashing = tmp_path / "python"
    crashing.write_text("#!/bin/sh\necho 'Illegal instruction' >&2\nexit 132\n")
    crashing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(crashing))
    with pytest.raises(UserError, match="exit code 132: Illegal instruction"):
        env.inspect_machine()


@pytest.mark.skipif(torch.cuda.is_available() or driver() is not None, reason="there is a GPU")
def test_without_a_gpu_the_device_is_the_cpu_and_everything_else_is_recorded() -> None:
    device, found = env.inspect_machine()
    assert device == "cpu"
    assert found["gpu"] is None and found["driver"] is None and found["gpu_state"] is None and found["apex_reason"]
    assert found["torch"] == torch.__version__ and found["cuda"] == torch.version.cuda
    assert found["cores"] >= 1 and found["memory"] > 2**28
    for key in ("cudnn", "apex", "python", "torchvision", "numpy", "triton", "cpu", "os", "compute_capability"):
        assert key in found
    assert {"gpu_memory", "gpu_count", "max_sm_mhz", "application_sm_mhz", "persistence_mode"} <= found.keys()
    assert {"power_limit_w", "mig", "project", "variables", "torch_threads"} <= found.keys()


def test_the_environment_names_neither_the_machine_nor_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = env.environment()
    text = json.dumps(found)
    assert found["variables"]["OMP_NUM_THREADS"] == "3"
    assert str(Path.home()) not in text and "hostname" not in text and "uuid" not in text


def test_the_projects_commit_and_whether_files_differ(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        named = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *named, *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    (tmp_path / "compare").mkdir()
    (tmp_path / "compare" / "a.py").write_text("1\n")
    assert env._project(tmp_path)["commit"] is None
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "one")
    assert env._project(tmp_path) | {"version": None} == {
        "version": None,
        "commit": git("rev-parse", "HEAD"),
        "dirty": False,
    }
    (tmp_path / "elsewhere").touch()
    assert env._project(tmp_path)["dirty"] is False
    (tmp_path / "compare" / "b.py").touch()
    assert env._project(tmp_path)["dirty"] is True


# ------------------------------------------------------------------ on a real GPU

no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch can use no CUDA device here")


@pytest.mark.gpu
@no_gpu
def test_the_device_is_cuda_where_a_kernel_runs() -> None:
    assert env.choose_device() == "cuda" and env.kernel_failure() is None
    device, found = env.inspect_machine()
    assert device == "cuda" and found["gpu"] == torch.cuda.get_device_name(0)
    assert found["compute_capability"] == "{}.{}".format(*torch.cuda.get_device_capability(0))
    assert found["gpu_memory"] == torch.cuda.get_device_properties(0).total_memory


@pytest.mark.gpu
@no_gpu
@pytest.mark.skipif(nvidia._smi() is None, reason="nvidia-smi is not installed here")
def test_the_state_of_a_real_gpu() -> None:
    torch.zeros(1, device="cuda")
    state, seen = gpu_state(), driver()
    assert state is not None and 0 < state["sm_mhz"] < 5000 and 0 < state["temperature_c"] < 120
    assert seen is not None and seen.cuda is not None
    assert nvidia.first_gpu() is not None
