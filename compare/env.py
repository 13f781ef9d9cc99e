"""What a session ran on, and which device it uses.

`torch` is imported inside of the functions: `compare.env` itself loads without it. `choose_device` and
`environment` start CUDA in their process, which then holds memory on the GPU (and the GPU itself, where
its compute mode is exclusive): a process that starts others calls `inspect_machine` instead.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import warnings
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import home
from .apex import apex_problem, apex_version
from .errors import UserError
from .nvidia import Driver, driver, first_gpu, gpu_state
from .spec import Device
from .switches import VARIABLES, flags

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "Driver",
    "choose_device",
    "driver",
    "environment",
    "gpu_state",
    "inspect_machine",
]

# The oldest Linux driver of each CUDA major: docs.nvidia.com/deploy/cuda-compatibility, "minor version compatibility".
_OLDEST_DRIVER = {11: "450.80.02", 12: "525.60.13", 13: "580.65.06"}
_ROOT = Path(__file__).resolve().parent.parent


# ------------------------------------------------------------------ the device


def choose_device() -> Device:
    """`cuda` where torch can really compute on a GPU, `cpu` where the driver sees none.

    Raises UserError where the driver sees a GPU that torch cannot use: it never falls back to the CPU.
    """
    torch = _torch()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        available = torch.cuda.is_available()
        failure = kernel_failure() if available else None
    if available and failure is None:
        return "cuda"
    seen = driver()
    if seen is None and not available:
        return "cpu"
    said = failure or next((_line(str(warning.message)) for warning in caught), None)
    arches = torch.cuda.get_arch_list() if available else []
    raise UserError(unusable(seen, torch.__version__, torch.version.cuda, arches, said))


def kernel_failure() -> str | None:
    """Runs a small kernel on the GPU: None if its result is right, else what went wrong."""
    torch = _torch()
    try:
        total = (torch.arange(1024, device="cuda", dtype=torch.float32) * 2).sum().item()
    except (RuntimeError, AssertionError) as error:  # torch raises AssertionError where it was built without CUDA
        return _line(str(error))
    return None if total == 1023 * 1024 else f"a first kernel computed {total} where {1023 * 1024} is right"


def unusable(seen: Driver | None, torch: str, cuda: str | None, arches: list[str], said: str | None = None) -> str:
    """The sentence for a GPU that torch cannot use: both versions, the reason, and what to do.

    `torch` and `cuda` are the versions of torch and of the CUDA it was built for (None: without), `arches`
    the GPU architectures in its build (`sm_90`), `said` what torch complained about.
    """
    gpu = seen.gpus[0] if seen else None
    capability = gpu.compute_capability if gpu else None
    if seen is None:
        head = "torch finds a GPU through a driver that does not answer"
    else:
        version = f"NVIDIA driver {seen.version or '(version unknown)'}"
        supports = f" (CUDA up to {seen.cuda})" if seen.cuda else ""
        head = f"{version}{supports} sees {_several(seen)}"
    built = f"CUDA {cuda}" if cuda else "no CUDA"
    head += f", but torch {torch} (built for {built}) cannot use it: "
    if seen is not None and seen.problem:
        return f"{head}nvidia-smi says “{seen.problem}”; repair the driver (after its update, restart the machine)."
    # Within a major version, newer minor ones run on older drivers.
    newest = f"CUDA {_major(seen.cuda)}.x" if seen and seen.cuda else "this driver's CUDA"
    if cuda is None:
        return f"{head}install a torch wheel for {newest} or older (pytorch.org/get-started)."
    hidden = _hidden(len(seen.gpus) if seen else 1)
    if hidden:
        return f"{head}{hidden}."
    if seen and seen.cuda and _major(seen.cuda) < _major(cuda):
        oldest = _OLDEST_DRIVER.get(_major(cuda))
        update = f"update the driver to {oldest} or newer" if oldest else "update the driver"
        return f"{head}the driver is too old for it; {update}, or install a torch wheel built for {newest} or older."
    if arches and capability and not _covers(arches, capability):
        return (
            f"{head}its build has kernels for {', '.join(arches)} and this GPU has compute capability {capability}; "
            "install a torch wheel that covers it."
        )
    reason = f"torch says “{said}”; " if said else "torch does not say why; "
    return f"{head}{reason}check that torch and the driver fit and that this user may open /dev/nvidia*."


def _hidden(count: int) -> str | None:
    """Why `CUDA_VISIBLE_DEVICES` leaves no GPU, None if it does not."""
    value = os.environ.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return None
    first = value.split(",")[0].strip()
    beyond = first.lstrip("-").isdigit() and not 0 <= int(first) < count
    return f"CUDA_VISIBLE_DEVICES={value!r} hides it; unset that variable" if not first or beyond else None


def _covers(arches: list[str], capability: str) -> bool:
    """Whether a build for these architectures runs on that GPU: binary of the same major, or PTX of an older one."""
    major, _, minor = capability.partition(".")
    for arch in arches:
        kind, _, number = arch.partition("_")
        digits = "".join(character for character in number if character.isdigit())
        if not digits:
            continue
        built = (int(digits[:-1]), int(digits[-1]))
        wanted = (int(major), int(minor or 0))
        if built <= wanted and (kind == "compute" or built[0] == wanted[0]):
            return True
    return False


def _several(seen: Driver) -> str:
    return f"{len(seen.gpus)} GPUs ({seen.gpus[0].name})" if len(seen.gpus) > 1 else seen.gpus[0].name


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def _line(text: str) -> str:
    """The message on one line, without torch's general hints after it."""
    kept = text.strip().partition("\n")[0].strip()
    return kept if len(kept) <= 300 else kept[:297] + "..."


def _torch() -> ModuleType:
    try:
        import torch
    except ImportError as error:
        raise UserError(f"torch does not import ({_line(str(error))}): install the extra [compare].") from None
    return torch


# ------------------------------------------------------------------ the environment


def environment() -> dict[str, Any]:
    """What a session runs on, as JSON values. Nothing that identifies the machine or its user is in it.

    Sizes are in bytes, clocks in MHz, power in W. What cannot be found out is None.
    """
    torch = _torch()
    seen = driver()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        available = torch.cuda.is_available()
    facts = (first_gpu() or (seen.gpus[0] if seen else None)) if seen else None
    name: str | None = facts.name if facts else None
    memory = facts.memory if facts else None
    capability = facts.compute_capability if facts else None
    if available:
        properties = torch.cuda.get_device_properties(0)
        name, memory, capability = properties.name, properties.total_memory, f"{properties.major}.{properties.minor}"
    apex = apex_version()
    return {
        "gpu": name,
        "gpu_count": torch.cuda.device_count() if available else len(seen.gpus) if seen else 0,
        "gpu_memory": memory,
        "compute_capability": capability,
        "driver": seen.version if seen else None,
        "driver_cuda": seen.cuda if seen else None,
        "gpu_state": gpu_state() if seen else None,
        "max_sm_mhz": facts.max_sm_mhz if facts else None,
        "max_memory_mhz": facts.max_memory_mhz if facts else None,
        "application_sm_mhz": facts.application_sm_mhz if facts else None,
        "application_memory_mhz": facts.application_memory_mhz if facts else None,
        "persistence_mode": facts.persistence_mode if facts else None,
        "power_limit_w": facts.power_limit_w if facts else None,
        "mig": facts.mig if facts else None,
        "torch": torch.__version__,
        "torch_git": torch.version.git_version,
        "torch_arches": torch.cuda.get_arch_list() if available else None,
        "torch_threads": torch.get_num_threads(),
        "cuda": torch.version.cuda,
        "cudnn": _cudnn(),
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if available else None,
        "apex": apex.to_json() if apex else None,
        "apex_reason": apex_problem(),
        "python": platform.python_version(),
        "torchvision": _version("torchvision"),
        "numpy": _version("numpy"),
        "triton": _version("triton"),
        "os": _system(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": _memory(),
        "project": _project(),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "flags": flags(),
    }


def inspect_machine() -> tuple[Device, dict[str, Any]]:
    """`choose_device()` and `environment()` from a fresh process, so that this one never starts CUDA.

    Raises what they raise.
    """
    finished = subprocess.run(home.process("env"), capture_output=True, text=True, env=home.environment())
    try:
        # Whatever torch and Apex print comes before.
        found = json.loads(finished.stdout.strip().rpartition("\n")[2])
        device: Device | None = found["device"]
    except (ValueError, KeyError):
        said = (finished.stderr.strip() or finished.stdout.strip()).rpartition("\n")[2]
        raise UserError(f"the look at this machine ended with exit code {finished.returncode}: {said}") from None
    if device is None:
        raise UserError(str(found["problem"]))
    return device, found["environment"]


def main() -> int:
    """Print device and environment as one line of JSON; exit code 2 where there is a problem instead."""
    try:
        device = choose_device()
    except UserError as error:
        print(json.dumps({"device": None, "problem": str(error)}))
        return 2
    print(json.dumps({"device": device, "environment": environment()}))
    return 0


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cudnn() -> str | None:
    """`9.19.0` for the 91900 that torch gives (from cuDNN 9 on; before, the thousands were the major)."""
    number = _torch().backends.cudnn.version()
    if number is None:
        return None
    unit = 10000 if number >= 90000 else 1000
    return f"{number // unit}.{number % unit // 100}.{number % 100}"


def _system() -> str:
    try:
        distribution = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        distribution = platform.system()
    return f"{distribution}, {platform.system()} {platform.release()}"


def _cpu() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _project(root: Path = _ROOT) -> dict[str, Any]:
    """Version and, in a checkout, commit of this project; `dirty` if files of it differ from that commit."""
    found: dict[str, Any] = {"version": _version("apex2native"), "commit": None, "dirty": None}
    if not (root / ".git").exists():  # installed: a repository further up is somebody else's
        return found
    commit = _git(root, "rev-parse", "HEAD")
    if commit:
        found["commit"] = commit
        found["dirty"] = bool(_git(root, "status", "--porcelain", "--", "compare", "pyproject.toml", "constraints.txt"))
    return found


def _git(root: Path, *arguments: str) -> str | None:
    try:
        finished = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *arguments], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return finished.stdout.strip() if finished.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
