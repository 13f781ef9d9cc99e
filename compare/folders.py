"""Where a session's results lie."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

from compare.errors import UserError
from compare.records import Asked, Finished, read
from compare.spec import Spec


def choose(reports: Path, spec: Spec, gpu: str | None, today: date) -> Path:
    """The folder of this session: an unfinished one of an equal specification and GPU, else a new one.

    A new one is called `<date>-<gpu>-<profile>`, with a number after it where that is taken.
    """
    ending = f"{slug(gpu)}-{spec.profile}"
    for folder in sorted(reports.glob(f"*-{ending}*"), reverse=True):
        if unfinished(folder, spec):
            return folder
    folder, count = reports / f"{today.isoformat()}-{ending}", 1
    while folder.exists():
        count += 1
        folder = reports / f"{today.isoformat()}-{ending}-{count}"
    return folder


def unfinished(folder: Path, spec: Spec) -> bool:
    """Whether the folder holds a session of this specification that has not ended."""
    records, _ = read(folder / "session.jsonl")
    asked = next((record for record in records if isinstance(record, Asked)), None)
    ended = records and isinstance(records[-1], Finished) and not records[-1].not_run
    return asked is not None and not ended and same(Spec.from_json(asked.spec), spec)


def same(one: Spec, other: Spec) -> bool:
    """Whether two specifications ask for the same measurements; how long they may take does not matter."""
    return replace(one, budget=None, timeout=0.0) == replace(other, budget=None, timeout=0.0)


def slug(gpu: str | None) -> str:
    """`NVIDIA H100 80GB HBM3` becomes `h100-80gb-hbm3`; without a GPU it is `cpu`."""
    if gpu is None:
        return "cpu"
    words = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return words.removeprefix("nvidia-").removeprefix("geforce-") or "gpu"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder for this process. Raises UserError where another one runs in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("w")
    except OSError as error:
        raise UserError(f"{folder} cannot be written ({error.strerror}): name another folder with --out.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(f"Another comparison is running in {folder}: wait for it, or end it.") from error
        yield
