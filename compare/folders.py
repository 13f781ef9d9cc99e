"""Where a session's results lie."""

from __future__ import annotations

import fcntl
import math
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path

from .errors import UserError
from .records import UNSUCCESSFUL, Asked, Decision, Ended, Finished, read
from .spec import Spec


def choose(reports: Path, spec: Spec, gpu: str | None, today: date, retry: bool = False) -> Path:
    """The folder of this session: an unfinished one of an equal specification and GPU, else a new one.

    With `retry` one that has failed runs is unfinished.

    A new one is called `<date>-<gpu>-<profile>`, with a number after it where that is taken.
    """
    ending = f"{slug(gpu)}-{spec.profile}"
    for folder in sorted(reports.glob(f"*-{ending}*"), reverse=True):
        if unfinished(folder, spec, retry):
            return folder
    folder, count = reports / f"{today.isoformat()}-{ending}", 1
    while folder.exists():
        count += 1
        folder = reports / f"{today.isoformat()}-{ending}-{count}"
    return folder


def unfinished(folder: Path, spec: Spec, retry: bool = False) -> bool:
    """Whether the folder holds a session of this specification that would go on.

    One that a budget ended goes on with a greater budget, unless that budget had fewer blocks, seeds or epochs decided.
    """
    records, _ = read(folder / "session.jsonl")
    asked = next((record for record in records if isinstance(record, Asked)), None)
    try:
        old = Spec.from_json(asked.spec) if asked else None
    except ValueError:
        return False
    if old is None or differences(old, spec):
        return False
    if not isinstance(records[-1], Finished):
        return True
    if retry and failed(folder):
        return True
    cut = any(isinstance(record, Decision) and record.within(old) != old for record in records)
    return bool(records[-1].not_run) and not cut and (spec.budget or math.inf) > (old.budget or math.inf)


def failed(folder: Path) -> list[str]:
    """Names of the session's tasks that did not end well."""
    found = []
    for path in sorted((folder / "runs").glob("*.jsonl")):
        ends = [record for record in read(path)[0] if isinstance(record, Ended)]
        if ends and ends[-1].status in UNSUCCESSFUL:
            found.append(path.stem)
    return found


def differences(one: Spec, other: Spec) -> list[str]:
    """The settings in which two specifications differ; how long they may take does not matter."""
    left, right = one.to_json(), other.to_json()
    return [name for name in left if name not in ("budget", "timeout") and left[name] != right[name]]


def slug(gpu: str | None) -> str:
    """`NVIDIA H100 80GB HBM3` becomes `h100-80gb-hbm3`; without a GPU it is `cpu`."""
    if gpu is None:
        return "cpu"
    words = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return words.removeprefix("nvidia-").removeprefix("geforce-") or "gpu"


@contextmanager
def gpu_alone(uuid: str | None, folder: Path | None = None) -> Iterator[None]:
    """Hold the GPU for this session, against every other of this machine: two that time on one GPU time each other.

    Without a number of the GPU, or a folder for all users where a lock can lie, nothing is held. Raises UserError where
    another session holds it.
    """
    path = (folder or Path(tempfile.gettempdir())) / f"amp-compare-{uuid}.lock"
    try:
        # Another user's session must be able to open it too.
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666) if uuid else None
    except OSError:
        lock = None
    if lock is None:
        yield
        return
    try:
        with suppress(OSError):
            os.fchmod(lock, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(
                "Another comparison is running on this GPU: wait for it, or choose another with CUDA_VISIBLE_DEVICES."
            ) from error
        yield
    finally:
        os.close(lock)


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
