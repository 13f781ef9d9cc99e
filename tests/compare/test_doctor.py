"""The table of `python -m compare doctor`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from compare import build_apex, doctor, env, nvidia
from compare.errors import UserError

CPU = {"gpu": None, "driver": None, "driver_cuda": None, "apex": None, "apex_reason": "Apex needs a CUDA device."}
GPU = {
    "gpu": "NVIDIA H100 80GB HBM3",
    "gpu_memory": 80 * 2**30,
    "gpu_count": 2,
    "compute_capability": "9.0",
    "persistence_mode": False,
    "driver": "580.65.06",
    "driver_cuda": "13.0",
    "apex": {"source": "tag 25.05", "commit": build_apex.COMMIT, "version": "0.1"},
    "apex_reason": None,
}

Doctor = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Doctor:
    """Runs the doctor on a machine that is described; what it prints comes back with single blanks."""
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(build_apex, "preflight", lambda *_, **__: (None, ["nvcc was not found: install it."]))

    def run(machine: dict[str, Any] | UserError, **more: Any) -> tuple[int, str]:
        def inspect() -> tuple[str, dict[str, Any]]:
            if isinstance(machine, UserError):
                raise machine
            return ("cuda" if machine["gpu"] else "cpu"), machine

        monkeypatch.setattr(env, "inspect_machine", inspect)
        output = io.StringIO()
        code = doctor.doctor(Console(file=output, width=400), **more)
        return code, re.sub(r"[ \u2502\u2503]+", " ", output.getvalue())

    return run


def test_a_machine_without_a_gpu_can_run_the_smoke_profile(run: Doctor) -> None:
    code, output = run(CPU)
    assert code == doctor.READY
    assert "device note no NVIDIA GPU is visible" in output and "the profile smoke only" in output
    assert "make apex note not looked at" in output and "data ok not in" in output


def test_a_gpu_machine_with_apex(run: Doctor) -> None:
    code, output = run(GPU)
    assert code == doctor.READY and "make compare can run here.\n" in output
    assert "device ok driver 580.65.06 (CUDA up to 13.0); a kernel ran" in output
    assert "gpu ok NVIDIA H100 80GB HBM3, compute capability 9.0, 80 GiB, 2 of them; persistence mode is off" in output
    assert "apex ok tag 25.05, commit 379937e1719b; its fused kernels run" in output
    assert "make apex note nvcc was not found: install it." in output
    assert "data note" in output and "downloads CIFAR-10" in output


def test_an_apex_of_no_use_costs_its_arms_only(run: Doctor) -> None:
    code, output = run(GPU | {"apex": None, "apex_reason": "NVIDIA Apex is not installed: run `make apex`."})
    assert code == doctor.READY
    assert "apex note the Apex arms are unavailable: NVIDIA Apex is not installed: run `make apex`." in output


def test_a_gpu_that_torch_cannot_use_is_missing(run: Doctor) -> None:
    code, output = run(UserError("NVIDIA driver 550.54 sees an H100, but [torch] cannot use it: update it."))
    assert code == doctor.NOT_READY
    assert "device missing NVIDIA driver 550.54 sees an H100, but [torch] cannot use it: update it." in output
    assert "cannot run here" in output


def test_a_package_that_does_not_import_is_missing(run: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_NEEDED", ("numpy", "no_such_package"))
    code, output = run(CPU)
    assert code == doctor.NOT_READY
    assert "no_such_package missing No module named 'no_such_package': pip install '.[compare]'" in output
    assert "numpy ok" in output


def test_an_old_torch_is_missing(run: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.3.1+cu121")
    code, output = run(CPU)
    assert code == doctor.NOT_READY and "torch missing 2.3.1+cu121: 2.4 or newer is needed" in output


def test_the_variable_that_overrides_tf32_is_noted(run: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    code, output = run(CPU)
    assert code == doctor.READY and "TF32 note NVIDIA_TF32_OVERRIDE=0 overrides torch" in output


def test_a_data_folder_that_was_named(run: Doctor, tmp_path: Path) -> None:
    code, output = run(CPU, data=str(tmp_path / "none"))
    assert code == doctor.NOT_READY and f"data missing {tmp_path / 'none'} does not exist" in output
    (tmp_path / "empty").mkdir()
    code, output = run(CPU, data=str(tmp_path / "empty"))
    assert code == doctor.NOT_READY and "neither CIFAR-10's own files nor train/CLASS and test/CLASS" in output
    for name in ("train/cat/1.jpg", "test/cat/1.jpg"):
        (tmp_path / "images" / name).parent.mkdir(parents=True)
        (tmp_path / "images" / name).touch()
    code, output = run(CPU, data=str(tmp_path / "images"))
    assert code == doctor.READY and f"data ok {tmp_path / 'images'}" in output
    assert run(CPU, data="synthetic")[0] == doctor.READY


def test_a_full_disk_is_noted(run: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_DISK", 2**60)
    assert "disk note" in run(CPU)[1]


@pytest.mark.skipif(torch.cuda.is_available() or nvidia.driver() is not None, reason="there is a GPU")
def test_the_doctor_on_this_machine(tmp_path: Path) -> None:
    output = io.StringIO()
    code = doctor.doctor(Console(file=output, width=200), folder=tmp_path)
    assert ("missing" in output.getvalue()) is (code == doctor.NOT_READY)
    assert torch.__version__ in output.getvalue()
