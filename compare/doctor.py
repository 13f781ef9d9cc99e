"""What this machine has and lacks for a comparison: `python -m compare doctor`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from . import home
from .errors import UserError
from .request import DEFAULT_DATA
from .spec import Device

State = Literal["ok", "note", "missing"]

READY, NOT_READY = 0, 2
_STYLES: dict[State, str] = {"ok": "green", "note": "yellow", "missing": "bold red"}
_NEEDED = ("torchvision", "numpy", "matplotlib", "scipy", "jinja2", "tensorboard")
_OLDEST_PYTHON = (3, 10)
_DISK = 5 * 2**30
_INSTALL = "pip install '.[compare]'"


@dataclass(frozen=True)
class Check:
    """One line of the table. `missing` stands in the way of `make compare`; `note` costs a part of it."""

    name: str
    state: State
    text: str


def doctor(console: Console, *, data: str | None = None, folder: Path | None = None) -> int:
    """Print the table of checks; 0 if `make compare` can run here (also without a GPU), else 2.

    `data` is the folder of images to look at (the default one where it is None), `folder` the one whose disk
    is looked at (the current one).
    """
    table = Table("check", "state", "what", show_edge=False, pad_edge=False)
    device: Device | None = None
    lacking = 0
    for check in checks(data, folder or Path.cwd()):
        table.add_row(check.name, f"[{_STYLES[check.state]}]{check.state}[/]", _escaped(check.text))
        lacking += check.state == "missing"
        if check.name == "device" and check.state != "missing":
            device = "cuda" if check.state == "ok" else "cpu"
    console.print(table)
    console.print()
    if lacking:
        what = "what is" if lacking == 1 else f"the {lacking} things that are"
        console.print(f"make compare cannot run here before {what} missing above can be had.", soft_wrap=True)
        return NOT_READY
    if device == "cuda":
        console.print("make compare can run here.")
    else:
        sentence = "make compare can run here, without a GPU: the profile smoke only, whose figures mean nothing."
        console.print(sentence, soft_wrap=True)
    return READY


def checks(data: str | None, folder: Path) -> Iterator[Check]:
    """All checks, each made when it is asked for."""
    yield _python()
    torch = _torch()
    yield torch
    machine: dict[str, Any] = {}
    if torch.state == "ok":
        yield _device(machine)
    if machine.get("gpu"):
        yield _gpu(machine)
    yield from map(_package, _NEEDED)
    if machine:
        yield _apex(machine)
    if machine and not machine["gpu"]:
        yield Check("make apex", "note", "not looked at: Apex is of no use without a GPU")
    else:
        yield from _build_of_apex(folder)
    yield _compiler()
    yield _override()
    yield _data(data, gpu=bool(machine.get("gpu")))
    yield _disk(folder)
    yield Check("browser", "ok", "none is needed: the report is one HTML file")


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return Check("python", "missing", f"{version}: 3.10 or newer is needed")
    return Check("python", "ok", f"{version} ({sys.executable})")


def _torch() -> Check:
    try:
        import torch
    except ImportError as error:
        return Check("torch", "missing", f"{error}: {_INSTALL}")
    parts = [int(part) for part in torch.__version__.partition("+")[0].split(".")[:2]]
    built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
    if parts < [2, 4]:
        return Check("torch", "missing", f"{torch.__version__}: 2.4 or newer is needed")
    return Check("torch", "ok", f"{torch.__version__}, {built}")


def _device(machine: dict[str, Any]) -> Check:
    """The driver, torch and a first kernel together; fills `machine` with the environment."""
    from .env import inspect_machine

    try:
        device, environment = inspect_machine()
    except UserError as error:
        return Check("device", "missing", str(error))
    machine.update(environment)
    if device == "cpu":
        return Check("device", "note", "no NVIDIA GPU is visible to the driver: CPU, profile smoke only")
    newest = f" (CUDA up to {environment['driver_cuda']})" if environment["driver_cuda"] else ""
    return Check("device", "ok", f"driver {environment['driver']}{newest}; a kernel ran with the right result")


def _gpu(machine: dict[str, Any]) -> Check:
    memory = machine["gpu_memory"]
    text = f"{machine['gpu']}, compute capability {machine['compute_capability']}"
    text += f", {memory / 2**30:.0f} GiB" if memory else ""
    text += f", {machine['gpu_count']} of them" if machine["gpu_count"] > 1 else ""
    if machine["persistence_mode"] is False:
        text += "; persistence mode is off"
    return Check("gpu", "ok", text)


def _package(name: str) -> Check:
    try:
        import_module(name)
        return Check(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Check(name, "ok", "installed, version unknown")
    except ImportError as error:
        return Check(name, "missing", f"{error}: {_INSTALL}")
    except (OSError, RuntimeError) as error:  # torchvision beside another torch than its own
        return Check(name, "missing", f"it does not load ({str(error).partition(chr(10))[0]}): {_INSTALL}")


def _apex(machine: dict[str, Any]) -> Check:
    if machine["apex_reason"]:
        return Check("apex", "note", f"the Apex arms are unavailable: {machine['apex_reason']}")
    found = machine["apex"] or {}
    commit = f", commit {found['commit'][:12]}" if found.get("commit") else ""
    return Check("apex", "ok", f"{found.get('source') or found.get('version')}{commit}; its fused kernels run")


def _build_of_apex(folder: Path) -> Iterator[Check]:
    """Whether `make apex` could build; asked of the same checks that it makes."""
    from .build_apex import find_source, preflight

    try:
        source = find_source(None)
        plan, problems = preflight(source, folder, allow_minor=False)
    except UserError as error:
        yield Check("make apex", "note", str(error))
        return
    for problem in problems:
        yield Check("make apex", "note", problem)
    if plan is not None and not problems:
        yield Check("make apex", "ok", f"nvcc {plan.toolkit.version} in {plan.toolkit.home}, for {plan.arches}")


def _compiler() -> Check:
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        return Check("C compiler", "note", "none: the arms with torch.compile are unavailable; install gcc")
    return Check("C compiler", "ok", found)


def _override() -> Check:
    from .switches import tf32_override

    sentence = tf32_override()
    return Check("TF32", "note" if sentence else "ok", sentence or "nothing overrides torch's switches")


def _data(data: str | None, gpu: bool) -> Check:
    if data == "synthetic":
        return Check("data", "ok", "made up: accuracy means nothing")
    folder = Path(data or DEFAULT_DATA).expanduser().absolute()
    if not folder.exists():
        if data is not None:
            return Check("data", "missing", f"{folder} does not exist")
        needed = "make compare downloads CIFAR-10 (170 MB)" if gpu else "smoke makes its own"
        return Check("data", "ok" if not gpu else "note", f"not in {folder}: {needed}")
    try:
        finders: list[Callable[[Path], object]] = [
            import_module(f"{home.PACKAGE}.data.{module}").find for module in ("cifar10", "image_folder")
        ]
        found = any(find(folder) is not None for find in finders)
    except (UserError, ImportError, OSError) as error:
        return Check("data", "missing", str(error))
    if not found:
        return Check("data", "missing", f"{folder} holds neither CIFAR-10's own files nor train/CLASS and test/CLASS")
    return Check("data", "ok", str(folder))


def _disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    text = f"{free / 2**30:.0f} GiB free in {folder}"
    if free < _DISK:
        return Check("disk", "note", f"{text}: data, reports and a build of Apex may need {_DISK / 2**30:.0f} GiB")
    return Check("disk", "ok", text)


def _escaped(text: str) -> str:
    return text.replace("[", "\\[")
