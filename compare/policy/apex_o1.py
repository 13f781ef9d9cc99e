"""What Apex O1 does, observed with the real Apex: its patches on fake CUDA tensors, in a process of its own.

O1 replaces functions of torch for the whole process, so the probe runs in a subprocess that imports Apex from
the folder in `APEX_SRC`, or an installed one. Only Apex's Python code is needed, none of its extensions.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from .. import home
from ..errors import UserError
from .native import probe_plain
from .network import trace
from .probe import quiet
from .recorded import ApexSide

_LISTS = ("FP16_FUNCS", "FP32_FUNCS", "CASTS", "SEQUENCE_CASTS", "BANNED_FUNCS")
_NO_APEX = (
    "no Apex with apex.amp can be imported: set APEX_SRC to a checkout of NVIDIA Apex 25.05 or older, "
    "or leave --live and --record out to use the recorded table"
)

# sha256 of apex/amp's Python files, by the version they came from. Apex's own version number says 0.1 for all.
VERSIONS = {"5bd16c3fa59984db": "25.05"}


def find_apex() -> Path:
    """The folder that holds the package `apex` with `amp` in it; UserError if there is none."""
    source = os.environ.get("APEX_SRC", "")
    if source:
        if _has_amp(Path(source) / "apex"):
            return Path(source).resolve()
        raise UserError(f"APEX_SRC is {source}, which holds no apex/amp: name a checkout of Apex 25.05 or older")
    spec = importlib.util.find_spec("apex")
    for place in spec.submodule_search_locations or () if spec else ():
        if _has_amp(Path(place)):
            return Path(place).resolve().parent
    raise UserError(_NO_APEX)


def _has_amp(package: Path) -> bool:
    return (package / "amp" / "lists" / "torch_overrides.py").is_file()


def apex_version(folder: Path) -> str:
    """The version whose `apex.amp` this is, or `unknown (digest …)`."""
    digest = hashlib.sha256()
    for file in sorted((folder / "apex" / "amp").rglob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes().replace(b"\r\n", b"\n"))
    short = digest.hexdigest()[:16]
    return VERSIONS.get(short, f"unknown (digest {short})")


def observe_apex() -> ApexSide:
    """Start the process, wait for it and read what it saw (about ten seconds)."""
    folder = find_apex()
    path = os.pathsep.join((str(folder), str(home.FOLDER)))
    environment = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
    environment["PYTHONHASHSEED"] = "0"  # Apex's errors print sets: the same text each time
    with tempfile.TemporaryDirectory(prefix="amp-compare-policy-") as place:
        out = Path(place, "apex.json")
        done = subprocess.run(
            [*home.process("policy.apex_o1"), str(folder), str(out)],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise UserError(f"Apex from {folder} could not be observed with torch {torch.__version__}: {last}")
        return ApexSide.from_json(json.loads(out.read_text(encoding="utf-8")))


def record(path: Path) -> ApexSide:
    """Observe Apex now and write it to `path`, which is replaced as a whole."""
    side = observe_apex()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(side.dumps(), encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror}") from error
    return side


# ---------------------------------------------------------------- in the subprocess


def _patch() -> Any:
    """Apex's handle, after it has patched torch as `amp.initialize(opt_level="O1")` does."""
    anything: Any = torch
    # The overflow flag of the loss scaler, which amp.init makes and nothing here uses, is the one real CUDA tensor.
    anything.cuda.IntTensor = lambda values: torch.tensor(values, dtype=torch.int32)
    amp: Any = importlib.import_module("apex.amp")
    lists: Any = importlib.import_module("apex.amp.lists.torch_overrides")
    methods: Any = importlib.import_module("apex.amp.lists.tensor_overrides")
    if "bmm" not in (*lists.FP16_FUNCS, *lists.FP32_FUNCS):
        # Apex lists the batched products by CUDA version; a torch built without CUDA has none. A GPU's has.
        lists.FP16_FUNCS.extend(lists._bmms)
        methods.FP16_FUNCS.extend(lists._bmms)
    return amp.init()


def _place(module: Any) -> str:
    if isinstance(module, type):
        return "tensor" if module is torch.Tensor else module.__name__
    if module is torch:
        return "torch"
    return "functional" if module is torch.nn.functional else "rnn"


def _lists() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for place in ("functional", "torch", "tensor"):
        module = importlib.import_module(f"apex.amp.lists.{place}_overrides")
        for name in _LISTS:
            entries = getattr(module, name, ())
            if entries:
                found[f"{place}.{name}"] = tuple(entry if isinstance(entry, str) else entry[0] for entry in entries)
    return found


def _observe_here(folder: Path) -> ApexSide:
    with quiet():
        handle = _patch()

    @contextmanager
    def unpatched() -> Iterator[None]:
        # As Apex's own _disable_casts, which leaves the casts off for good after an exception.
        handle._is_active = False
        try:
            yield
        finally:
            handle._is_active = True

    patched = sorted({f"{_place(module)}.{name}" for module, name, _ in handle._all_wrappers})
    return ApexSide(
        apex=apex_version(folder),
        torch=torch.__version__,
        python=platform.python_version(),
        lists=_lists(),
        patched=tuple(patched),
        ops=probe_plain(below=unpatched),
        network=trace(dtype=None, below=unpatched),
    )


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(_observe_here(Path(sys.argv[1])).dumps(), encoding="utf-8")
