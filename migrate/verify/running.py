"""One run of the user's command, in processes of its own, with bounds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ..errors import UserError, reason

_HERE = Path(__file__).resolve().parent
RECORDER = _HERE / "recorder"
DOUBLE = _HERE / "double"
_POLL = 0.1  # seconds
_TRIES = 50  # to end processes, of which one may hang in the system
_SETTINGS = "APEX2NATIVE_VERIFY"  # the variable that names the recorder's settings, in all processes of a run

Side = Literal["old", "new"]


@dataclass(frozen=True)
class Bounds:
    """What one run may take before it is ended."""

    steps: int  # of optimizers, taken or skipped, in each process; 0 for all there are
    seconds: float
    memory: int  # bytes, of all its processes together
    output: int = 64 << 20  # bytes that it may print


@dataclass(frozen=True)
class Settings:
    """What the recorder has to know (recorder/apex2native_recorder/__init__.py)."""

    side: Side
    tree: str  # where this run happens
    origin: str  # the user's own tree
    out: str  # where the records go
    seed: int
    steps: int
    device: Literal["cpu", "cuda"] | None  # None: the first run decides
    overflow: int | None  # the backward whose gradients become infinite
    chooses: bool  # the first run takes the first scaled backward from `overflow` on
    disturb: float = 0.0  # by how much every weight is changed, relatively, after an optimizer's first step
    refused: tuple[str, ...] = ()  # modules that cannot be imported
    keeps_apex: bool = False
    double: str = str(DOUBLE)


@dataclass(frozen=True)
class Run:
    """How a run ended, and where its records and what it printed lie."""

    settings: Settings
    code: int | None  # the command's exit code, None where it was ended
    ended: Literal["itself", "time", "memory", "output"]
    seconds: float

    @property
    def records(self) -> Path:
        return Path(self.settings.out)

    def printed(self, name: Literal["stdout", "stderr"]) -> str:
        path = self.records / f"{name}.log"
        return path.read_bytes().decode("utf-8", "replace") if path.exists() else ""


def run(command: Sequence[str], settings: Settings, bounds: Bounds, stubs: Path | None = None) -> Run:
    """Run ``command`` in the root of ``settings.tree`` and wait for it. Raises UserError where it does not start."""
    out = Path(settings.out)
    out.mkdir(parents=True)
    asked = out / "settings.json"
    asked.write_text(json.dumps(asdict(settings)), encoding="utf-8")
    words = [_moved(word, settings) for word in command]
    mark = f"{_SETTINGS}={asked}\0".encode()
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="apex2native-", ignore_cleanup_errors=True) as temporary,
        open(out / "stdout.log", "wb") as stdout,
        open(out / "stderr.log", "wb") as stderr,
    ):
        try:
            process = subprocess.Popen(
                words,
                cwd=settings.tree,
                env=_environment(settings, asked, stubs, temporary),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            said = reason(error) if isinstance(error, OSError) else str(error)
            raise UserError(f"the command {command[0]} cannot be started: {said}.") from error
        try:
            ended = _wait(process, bounds, begun, out, mark)
        finally:
            _end(process, mark)
    code = process.returncode if ended == "itself" else None
    return Run(settings, code, ended, time.monotonic() - begun)


def _moved(word: str, settings: Settings) -> str:
    """A path into the user's tree becomes the same path in the copy."""
    origin = settings.origin.rstrip(os.sep)
    if word == origin or word.startswith(origin + os.sep):
        return settings.tree + word[len(origin) :]
    return word


def _environment(settings: Settings, asked: Path, stubs: Path | None, temporary: str) -> Mapping[str, str]:
    path = [str(RECORDER), *([str(stubs)] if stubs else [])]
    path += [_moved(one, settings) for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    # This program sets it for processes of its own (migrate/__main__.py).
    mine = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return {
        "WANDB_MODE": "disabled",  # a run that is only compared shall not be uploaded
        **mine,
        _SETTINGS: str(asked),
        "PYTHONPATH": os.pathsep.join(path),
        "TMPDIR": temporary,  # what a run that is ended leaves there goes with it
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _wait(
    process: subprocess.Popen[bytes], bounds: Bounds, begun: float, out: Path, mark: bytes
) -> Literal["itself", "time", "memory", "output"]:
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL)
            return "itself"
        if time.monotonic() - begun > bounds.seconds:
            return "time"
        if sum((out / f"{name}.log").stat().st_size for name in ("stdout", "stderr")) > bounds.output:
            return "output"
        if _memory(process.pid, mark) > bounds.memory:
            return "memory"


def _memory(session: int, mark: bytes) -> int:
    """Resident bytes of all processes of a run; 0 where the system does not say (anything but Linux)."""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE")
    for process in _processes(session, mark):
        with suppress(OSError, IndexError, ValueError):
            total += int(_fields(process)[21]) * page
    return total


def _processes(session: int, mark: bytes) -> Iterator[int]:
    """Those of the session, and those that left it (torchrun gives each process one of its own): ``mark`` is in their
    environment. None where the system does not say."""
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdecimal():
            with suppress(OSError, IndexError, ValueError):
                state, _, _, its_session, *_ = _fields(int(name))
                if state in "ZX":  # ended, and not yet waited for
                    continue
                if int(its_session) == session or mark in Path("/proc", name, "environ").read_bytes():
                    yield int(name)


def _fields(process: int) -> list[str]:
    """What /proc says of a process, from its third field on: the second may hold spaces."""
    return Path("/proc", str(process), "stat").read_text("ascii", "replace").rpartition(")")[2].split()


def _end(process: subprocess.Popen[bytes], mark: bytes) -> None:
    """Nothing of the run outlives it."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(_TRIES):  # one that is killed late may have started another
        left = list(_processes(process.pid, mark))
        if not left:
            return
        for one in left:
            with suppress(OSError):
                os.kill(one, signal.SIGKILL)
        time.sleep(_POLL)
