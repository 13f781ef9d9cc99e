"""What can be refused is refused first: before Apex is built, before data are decoded, before anything is measured."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from . import nvidia
from .errors import UserError
from .format import plural
from .request import DEFAULT_DATA
from .spec import Spec
from .switches import refuse_misleading

NEEDED = ("torch", "torchvision", "numpy", "matplotlib", "scipy", "jinja2")
"""What a run and its report import."""


def refuse_early(spec: Spec, folder: Path, gpus: Sequence[str] = (), count: int | None = None) -> None:
    """Raise UserError, in one sentence, for what would fail later. Writes nothing.

    `gpus` are those that trainings are spread over, `count` how many this machine has; None where tasks run elsewhere.
    """
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        raise UserError(f"{', '.join(lacking)} cannot be imported: install the extra with pip install '.[compare]'.")
    if spec.device == "cuda":
        refuse_misleading(spec.arms)
        _refuse_gpus(spec, gpus, count)
    _refuse_output(folder)
    _refuse_data(spec)


def _refuse_gpus(spec: Spec, gpus: Sequence[str], count: int | None) -> None:
    """GPUs that are not there."""
    if count is not None and spec.processes > count:
        raise UserError(f"--nproc {spec.processes} takes a GPU a process, and torch sees {plural(count, 'GPU')} here.")
    seen = nvidia.driver() if gpus else None
    last = len(seen.gpus) - 1 if seen else 0
    for gpu in gpus:
        if seen and gpu.isdigit() and int(gpu) > last:
            raise UserError(f"--gpus names GPU {gpu}, and the driver's last is GPU {last}: see nvidia-smi.")


def _refuse_output(folder: Path) -> None:
    """A folder that cannot be written, or made."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise UserError(f"{folder} cannot be made ({there} is a file): name another folder with --out.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{folder} cannot be written ({there} is not yours to write): name another folder with --out.")


def _refuse_data(spec: Spec) -> None:
    """A folder of data that is none. The default one may be missing: it is then downloaded."""
    from .data.cache import recognise

    if spec.data.startswith("synthetic") or Path(spec.data).exists() or Path(spec.data) != DEFAULT_DATA.absolute():
        recognise(spec.data)
