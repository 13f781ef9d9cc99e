"""Whether the arms of NVIDIA Apex can run here, and which Apex it is.

`python -m compare.apex` prints the same as JSON. `amp.initialize` is never called: it patches torch for
the whole process.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TAG = "25.05"
"""The last release of Apex with `apex.amp`; 25.07 came without."""
RECORD = "_apex2native_build.json"
"""Written into the installed package by `make apex`: every release of Apex calls itself 0.1."""

_MAKE = "run `make apex`"


@dataclass(frozen=True)
class ApexVersion:
    """The Apex that is installed. What only our own build records is None for any other."""

    version: str
    commit: str | None = None
    source: str | None = None
    """`tag 25.05`, or what else it was built from."""
    identity: str | None = None
    """Its commit, or a digest of its contents where that is not known."""
    torch: str | None = None
    cuda: str | None = None
    arches: str | None = None
    """Compute capabilities it was built for, as in TORCH_CUDA_ARCH_LIST."""
    edits: tuple[str, ...] = ()
    """What was changed in the build's copy of its source."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def apex_problem() -> str | None:
    """One sentence why the Apex arms cannot run here, None if they can: fused kernels ran on this GPU."""
    if not _gpu():
        return "Apex needs a CUDA device, and torch can use none here."
    return install_problem() or _kernel_problem()


def _gpu() -> bool:
    """Whether torch can use a CUDA device; without a warning where it cannot."""
    try:
        import torch
    except ImportError:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.cuda.is_available()


def install_problem() -> str | None:
    """One sentence why the installed Apex is of no use on any GPU, None if it is; needs no GPU."""
    folder = package()
    if folder is None:
        return f"NVIDIA Apex is not installed: {_MAKE}."
    found = apex_version()
    version = found.version if found else "of an unknown version"
    if not (folder / "amp").is_dir():
        if not (folder / "multi_tensor_apply").is_dir():
            return f"the installed package apex ({version}) is not NVIDIA's: uninstall it, then {_MAKE}."
        return f"the installed Apex ({version}) has no apex.amp, which 25.07 dropped: {_MAKE}, which builds {TAG}."
    try:
        import torch  # noqa: F401  amp_C is linked against its libraries
    except ImportError:
        return "Apex needs torch, which does not import."
    for extension in ("amp_C", "apex_C"):
        try:
            missing = find_spec(extension) is None
            if not missing:
                importlib.import_module(extension)
        except Exception as error:  # a build for another torch fails in ways of its own
            return f"Apex's compiled {extension} does not load ({_first_line(error)}): {_MAKE} again, for this torch."
        if missing:
            return f"Apex is installed without its compiled {extension}; its Python fallback is not timed: {_MAKE}."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module("apex.amp")
            applier = importlib.import_module("apex.multi_tensor_apply").multi_tensor_applier
    except Exception as error:  # Apex is old code: whatever it raises under a newer torch is the reason
        return f"the installed Apex does not import ({_first_line(error)}): {_MAKE}."
    if not applier.available:
        return f"Apex's multi_tensor_applier is not available ({_first_line(applier.import_err)}): {_MAKE} again."
    return None


def _kernel_problem() -> str | None:
    """Whether a fused kernel really runs on this GPU, and LossScaler takes it."""
    import torch

    scaler = importlib.import_module("apex.amp.scaler").LossScaler
    apply = importlib.import_module("apex.multi_tensor_apply").multi_tensor_applier
    try:
        scaler("dynamic")
        if not scaler.has_fused_kernel:
            return f"Apex's LossScaler found no fused kernel; its Python fallback is not timed: {_MAKE} again."
        source = torch.arange(8, device="cuda", dtype=torch.float32)
        target = torch.empty_like(source)
        overflow = torch.zeros(1, dtype=torch.int, device="cuda")
        apply(importlib.import_module("amp_C").multi_tensor_scale, overflow, [[source], [target]], 0.5)
        if not torch.equal(target, source * 0.5) or overflow.item():
            return f"Apex's fused scaling computes wrong values on this GPU: {_MAKE} again."
    except RuntimeError as error:
        built = apex_version()
        arches = f", built for {built.arches}" if built and built.arches else ""
        return f"Apex's fused kernels{arches} do not run on this GPU ({_first_line(error)}): {_MAKE} again."
    return None


def apex_version() -> ApexVersion | None:
    """The installed Apex; None without one. Imports nothing of it."""
    folder = package()
    if folder is None:
        return None
    try:
        version = metadata.version("apex")
    except metadata.PackageNotFoundError:
        version = "of an unknown version"
    try:
        record = json.loads((folder / RECORD).read_text())
    except (OSError, ValueError):
        return ApexVersion(version)
    if not isinstance(record, dict):
        return ApexVersion(version)
    known = {key: record.get(key) for key in ("commit", "source", "identity", "torch", "cuda", "arches")}
    edits = record.get("edits")
    return ApexVersion(version, **known, edits=tuple(edits) if isinstance(edits, list) else ())


def package() -> Path | None:
    """The folder of the importable package `apex`; None without one. A bare folder of that name is none."""
    try:
        spec = find_spec("apex")
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def _first_line(error: object) -> str:
    text = str(error).strip() or type(error).__name__
    return text.partition("\n")[0][:300]


def main() -> int:
    """Print what there is as one line of JSON; 0 if the Apex arms can run, 2 if not."""
    found, folder, gpu = apex_version(), package(), _gpu()
    said = {
        "problem": apex_problem(),
        "install": install_problem(),
        "gpu": gpu,
        "package": str(folder) if folder else None,
        "apex": found.to_json() if found else None,
    }
    print(json.dumps(said))
    return 2 if said["problem"] else 0


if __name__ == "__main__":
    sys.exit(main())
