"""What the NVIDIA driver says about the GPUs, without torch: `nvidia-smi`, or `/proc` where it is missing.

Nothing here raises for a machine without a GPU, and nothing here starts CUDA.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROC = Path("/proc/driver/nvidia")
DEVICES = Path("/dev")
_WSL = "/usr/lib/wsl/lib/nvidia-smi"
_SECONDS = 20.0  # a driver without persistence mode needs several to wake up

Runner = Callable[[Sequence[str]], "subprocess.CompletedProcess[str] | None"]

_FACTS = (
    "index",
    "uuid",
    "name",
    "driver_version",
    "memory.total",
    "compute_cap",
    "persistence_mode",
    "power.limit",
    "mig.mode.current",
    "clocks.max.sm",
    "clocks.max.memory",
    "clocks.applications.graphics",
    "clocks.applications.memory",
)
_STATE = (
    "index",
    "uuid",
    "clocks.sm",
    "clocks.mem",
    "temperature.gpu",
    "power.draw",
    "utilization.gpu",
    "pstate",
    "clocks_throttle_reasons.active",
)
# Newer drivers know the left name as the right one.
_RENAMED = {"clocks_throttle_reasons.active": "clocks_event_reasons.active"}

# nvml.h, nvmlClocksEventReasons*
_THROTTLE = {
    0x001: "idle",
    0x002: "application clocks",
    0x004: "power cap",
    0x008: "hardware slowdown",
    0x010: "sync boost",
    0x020: "thermal (software)",
    0x040: "thermal (hardware)",
    0x080: "power brake",
    0x100: "display clocks",
}


@dataclass(frozen=True)
class Gpu:
    """One GPU as the driver describes it; None is what it does not say."""

    name: str
    memory: int | None = None
    """Bytes."""
    compute_capability: str | None = None
    """`9.0`, say."""
    persistence_mode: bool | None = None
    power_limit_w: float | None = None
    mig: bool | None = None
    max_sm_mhz: int | None = None
    max_memory_mhz: int | None = None
    application_sm_mhz: int | None = None
    application_memory_mhz: int | None = None


@dataclass(frozen=True)
class Driver:
    """The driver and the GPUs it sees, at least one."""

    version: str | None
    cuda: str | None
    """The newest CUDA it supports, `12.4` say."""
    gpus: tuple[Gpu, ...]
    problem: str | None = None
    """What `nvidia-smi` complained about, where there is a GPU and it fails."""


def run_command(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """The finished process with its output as text, None if it cannot be started or hangs."""
    try:
        return subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def driver(run: Runner = run_command, proc: Path = PROC, devices: Path = DEVICES) -> Driver | None:
    """The driver and its GPUs; None where there is no driver, or none of its GPUs can be reached from here."""
    problem: str | None = None
    smi = _smi()
    if smi is not None:
        finished = run([smi])
        rows = _query(run, smi, _FACTS) if finished is not None and finished.returncode == 0 else []
        if finished is not None and rows:
            version = re.search(r"CUDA (?:UMD )?Version\s*:\s*(\d+\.\d+)", finished.stdout)
            return Driver(
                version=_text(rows[0].get("driver_version")),
                cuda=version.group(1) if version else None,
                gpus=tuple(_gpu(row) for row in rows),
            )
        said = (finished.stdout + finished.stderr).strip() if finished is not None else "nvidia-smi does not answer"
        if "No devices were found" in said:
            return None
        problem = " ".join(said.split()) or "nvidia-smi fails without a message"
    return _from_proc(proc, devices, problem)


def gpu_state(run: Runner = run_command) -> dict[str, Any] | None:
    """The present state of the GPU that torch is using, or would use first; None without one. Never raises.

    Keys: `sm_mhz`, `memory_mhz`, `temperature_c`, `power_w`, `utilization_percent`, `pstate`, and `throttle`,
    the list of reasons why the clock is below its maximum. A value that the driver does not give is None.
    """
    smi = _smi()
    rows = _query(run, smi, _STATE) if smi is not None else []
    if not rows:
        return None
    return _state(rows[chosen_row(rows)])


@dataclass(frozen=True)
class Stream:
    """Commands whose lines tell, each second, the state of the GPU that torch uses and who computes on it."""

    state: list[str]
    fields: tuple[str, ...]
    """What stands in a line of `state`, in this order."""
    computing: list[str]
    """A line for each process on the GPU; its process number is the first number in it."""
    uuid: str | None

    def read(self, line: str) -> dict[str, Any] | None:
        """The state in a line, as `gpu_state` gives it; None for a line that is none."""
        cells = [cell.strip() for cell in line.split(",")]
        return _state(dict(zip(self.fields, cells, strict=True))) if len(cells) == len(self.fields) else None


def stream(run: Runner = run_command, milliseconds: int = 1000, visible: str | None = None) -> Stream | None:
    """How to watch a GPU: `visible`, else the one that torch is using, or would use first; None without one. One
    process that goes on costs the machine less than one a second."""
    smi = _smi()
    asked, rows = _ask(run, smi, _STATE) if smi is not None else ({}, [])
    if smi is None or not rows:
        return None
    row = rows[chosen_row(rows, visible)]
    gpu = ["-i", row["uuid"]] if row.get("uuid") else []
    every = ["--format=csv,noheader,nounits", "-lms", str(milliseconds)]
    return Stream(
        [smi, *gpu, f"--query-gpu={','.join(asked.values())}", *every],
        tuple(asked),
        [smi, *gpu, "--query-compute-apps=pid", "--format=csv,noheader,nounits"],
        row.get("uuid"),
    )


def _state(row: dict[str, str]) -> dict[str, Any]:
    return {
        "sm_mhz": _integer(row.get("clocks.sm")),
        "memory_mhz": _integer(row.get("clocks.mem")),
        "temperature_c": _integer(row.get("temperature.gpu")),
        "power_w": _number(row.get("power.draw")),
        "utilization_percent": _integer(row.get("utilization.gpu")),
        "pstate": _text(row.get("pstate")),
        "throttle": _reasons(row.get("clocks_throttle_reasons.active")),
    }


def first_gpu(run: Runner = run_command) -> Gpu | None:
    """The GPU that torch uses as its first."""
    smi = _smi()
    rows = _query(run, smi, _FACTS) if smi is not None else []
    return _gpu(rows[chosen_row(rows)]) if rows else None


def chosen_row(rows: Sequence[dict[str, str]], visible: str | None = None) -> int:
    """Which row of `nvidia-smi` is the GPU that is `visible`, else that torch is using, or would use first.

    By its UUID where torch is already running on it, else by `CUDA_VISIBLE_DEVICES`. A bare index is
    taken as `nvidia-smi` counts, which is CUDA's own order on a machine with one kind of GPU.
    """
    wanted = visible or _uuid_in_use() or os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    for number, row in enumerate(rows):
        if wanted and (row.get("uuid", "").startswith(wanted) or row.get("index") == wanted):
            return number
    return 0


def _uuid_in_use() -> str | None:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    try:
        uuid = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", None)
    except RuntimeError:  # after an error on the device every call of CUDA fails
        return None
    return f"GPU-{str(uuid).removeprefix('GPU-')}" if uuid is not None else None


def _smi() -> str | None:
    return shutil.which("nvidia-smi") or (_WSL if os.access(_WSL, os.X_OK) else None)


def _query(run: Runner, smi: str, fields: Sequence[str]) -> list[dict[str, str]]:
    """One row a GPU."""
    return _ask(run, smi, fields)[1]


def _ask(run: Runner, smi: str, fields: Sequence[str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """What can be asked for, by the name it has here and the one `nvidia-smi` knows it by, and one row a GPU.

    A field that this `nvidia-smi` does not know is asked for under its other name, then left out.
    """
    asked = {field: field for field in fields}
    for _ in range(2 * len(fields)):
        command = [smi, f"--query-gpu={','.join(asked.values())}", "--format=csv,noheader,nounits"]
        finished = run(command)
        if finished is None:
            return {}, []
        if finished.returncode == 0:
            return asked, [
                dict(zip(asked, (cell.strip() for cell in line.split(",")), strict=True))
                for line in finished.stdout.splitlines()
                if line.count(",") == len(asked) - 1
            ]
        unknown = re.search(r'Field "([^"]+)" is not a valid field', finished.stdout + finished.stderr)
        field = next((key for key, name in asked.items() if unknown and name == unknown.group(1)), None)
        if field is None:
            return {}, []
        if asked[field] == field and field in _RENAMED:
            asked[field] = _RENAMED[field]
        else:
            del asked[field]
    return {}, []


def _from_proc(proc: Path, devices: Path, problem: str | None) -> Driver | None:
    """The driver without `nvidia-smi`; the device must be there too, since containers see the host's /proc."""
    try:
        text = (proc / "version").read_text(errors="replace")
        present = [entry for entry in os.listdir(devices) if re.fullmatch(r"nvidia\d+", entry)]
    except OSError:
        return None
    if not present:
        return None
    version = re.search(r"\s(\d{3,}\.\d+(?:\.\d+)*)\s", text)
    names = []
    for information in sorted(proc.glob("gpus/*/information")):
        model = re.search(r"^Model:\s*(.+?)\s*$", information.read_text(errors="replace"), re.MULTILINE)
        names.append(model.group(1) if model else "NVIDIA GPU")
    gpus = tuple(Gpu(name) for name in names or ["NVIDIA GPU"] * len(present))
    return Driver(version=version.group(1) if version else None, cuda=None, gpus=gpus, problem=problem)


def _gpu(row: dict[str, str]) -> Gpu:
    mebibytes = _integer(row.get("memory.total"))
    return Gpu(
        name=_text(row.get("name")) or "NVIDIA GPU",
        memory=mebibytes * 2**20 if mebibytes is not None else None,
        compute_capability=_text(row.get("compute_cap")),
        persistence_mode=_switch(row.get("persistence_mode")),
        power_limit_w=_number(row.get("power.limit")),
        mig=_switch(row.get("mig.mode.current")),
        max_sm_mhz=_integer(row.get("clocks.max.sm")),
        max_memory_mhz=_integer(row.get("clocks.max.memory")),
        application_sm_mhz=_integer(row.get("clocks.applications.graphics")),
        application_memory_mhz=_integer(row.get("clocks.applications.memory")),
    )


def _text(cell: str | None) -> str | None:
    """The cell, None for `[N/A]`, `[Not Supported]`, `[Requested functionality has been deprecated]` and their like."""
    return None if not cell or cell.startswith("[") or cell.upper() == "N/A" else cell


def _number(cell: str | None) -> float | None:
    found = re.match(r"-?\d+(\.\d+)?", _text(cell) or "")
    return float(found.group(0)) if found else None


def _integer(cell: str | None) -> int | None:
    number = _number(cell)
    return None if number is None else round(number)


def _switch(cell: str | None) -> bool | None:
    text = _text(cell)
    return None if text is None else text.lower() == "enabled"


def _reasons(cell: str | None) -> list[str] | None:
    try:
        mask = int(_text(cell) or "", 16)
    except ValueError:
        return None
    return [name for bit, name in _THROTTLE.items() if mask & bit]
