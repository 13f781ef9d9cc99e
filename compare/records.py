"""The records of a session, and the JSONL files they are kept in.

A session's folder holds `session.jsonl`, written by the runner, `runs/<task>.jsonl`, one file a task, written by its
process, and `machine/<task>.jsonl`, what the machine did meanwhile, written by the runner. They are the only input of
the statistics, the figures and the report.

Every line is one record: a JSON object whose `type` names one of the dataclasses below. A reader skips
fields and types it does not know. Non-finite numbers are written as the strings "nan", "inf" and
"-inf", since JSON has none. A last line that was cut off (a kill, a full disk) is dropped with a
notice; a task without an `ended` record is incomplete and runs again.

Units: `_ms` milliseconds, `_s` seconds, memory in bytes, accuracy in percent.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from . import typed
from .spec import Spec, Task

SCHEMA = 1

Status = Literal["ok", "oom", "nan", "failed", "timeout", "unavailable"]
UNSUCCESSFUL = ("oom", "nan", "failed", "timeout")

# ------------------------------------------------------------------ runs/<task>.jsonl


@dataclass(frozen=True)
class Planned:
    """First record of a task's file, written by the runner before its process starts."""

    task: dict[str, Any]
    schema: int = SCHEMA
    where: str | None = None
    """The GPU or the job, where a session has several."""


@dataclass(frozen=True)
class Started:
    """What the process runs, on what, with what settings."""

    started: str
    """ISO 8601, UTC."""
    world: int
    flags: dict[str, Any]
    """TF32, cuDNN and determinism switches as torch reports them after they were set."""
    arm_file: str
    arm_sha256: str
    arm_source: str
    parameters: int
    initial_weights: str
    """SHA-256 of the initial weights: equal in all arms of a seed."""
    data: str
    train_samples: int
    test_samples: int
    order: str
    """SHA-256 of the first epoch's data order and augmentation: equal in all arms of a seed."""
    gpu: dict[str, Any] | None = None
    """Clocks (MHz), temperature (°C) and power (W) just before, or None."""


@dataclass(frozen=True)
class Step0:
    """The first forward and backward from the initial weights, on the first batch."""

    logits: list[float]
    gradients: list[float] | None
    """Unscaled gradients at coordinates drawn with a fixed seed, the same in all arms; None if there were none."""
    loss: float
    attempts: int
    """Steps until one was not skipped: the first loss scale may overflow."""


@dataclass(frozen=True)
class Window:
    """One timed window of a speed task: nothing but steps ran in it."""

    index: int
    step_ms: list[float]
    host_ms: float
    """Mean time the host took to issue a step."""
    clock: Literal["cuda-events", "host"]
    begun: float | None = None
    """Seconds since the epoch, to find what the machine did meanwhile."""
    ended: float | None = None


@dataclass(frozen=True)
class Memory:
    """Peaks over the timed windows, warm-up excluded."""

    allocated: int
    reserved: int
    device_used: int | None = None
    """What the driver says is used on the device, contexts and libraries included."""
    data: int = 0
    """What the data set holds on the device: in the other two, and not in `allocated`."""


@dataclass(frozen=True)
class InputCost:
    """Time to draw and augment one batch, which no timed step includes."""

    batch_ms: list[float]


@dataclass(frozen=True)
class Busy:
    """Share of a step in which a kernel ran, from the profiler; None and the reason where it could not be had."""

    share: float | None
    reason: str | None = None
    launches: int | None = None
    """Kernel launches of one step."""


@dataclass(frozen=True)
class Trace:
    """One step of the window that is not timed."""

    step: int
    loss: float
    gradient_norm: float | None
    loss_scale: float | None
    skipped: bool


@dataclass(frozen=True)
class Epoch:
    """One epoch of a training task. The first step of each epoch is observed and not timed."""

    epoch: int
    """1 for the first."""
    steps: int
    train_s: float
    """The timed steps, scaled up to all steps of the epoch; evaluation excluded."""
    eval_s: float | None
    losses: list[float]
    """Mean loss of successive tenths of the epoch."""
    test_accuracy: float | None
    test_loss: float | None
    learning_rate: float
    gradient_norm: float | None
    """At the epoch's first step."""
    loss_scale: float | None
    """After the epoch."""
    skipped: list[int] = field(default_factory=list)
    """Steps of this epoch (from 0) at which the optimizer did not step for an overflow."""
    scales: list[tuple[int, float]] = field(default_factory=list)
    """Loss scale after these steps of this epoch: its first, each skipped one, its last."""
    first_losses: list[float] = field(default_factory=list)
    """First epoch only: the losses of its first hundred steps, one by one."""


@dataclass(frozen=True)
class Resumed:
    """The training was interrupted and went on from a checkpoint."""

    epochs: int
    """Epochs that the checkpoint was made after; those that follow were made by another process."""


@dataclass(frozen=True)
class Capacity:
    """One probe of the search for the largest batch."""

    batch: int
    fits: bool
    allocated: int | None = None


@dataclass(frozen=True)
class Ended:
    """Last record of a task. Written by its process, or by the runner for a process that could not."""

    status: Status
    reason: str | None = None
    seconds: float | None = None
    gpu: dict[str, Any] | None = None


# ------------------------------------------------------------------ machine/<task>.jsonl


@dataclass(frozen=True)
class Sample:
    """What the machine did at one moment of a task, by the runner, about once a second; None is what is not known."""

    at: float
    """Seconds since the epoch."""
    sm_mhz: int | None = None
    memory_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    throttle: list[str] | None = None
    """Why the clock is below its maximum."""
    sharing: int | None = None
    """Other processes that compute on the GPU."""
    busy_elsewhere: float | None = None
    """Cores that other processes than the task's kept busy since the sample before."""


# ------------------------------------------------------------------ session.jsonl


@dataclass(frozen=True)
class Asked:
    """First record of a session: what was asked for."""

    spec: dict[str, Any]
    started: str
    command: str
    schema: int = SCHEMA


@dataclass(frozen=True)
class Environment:
    """What it ran on. One each time the session is started or continued."""

    environment: dict[str, Any]


@dataclass(frozen=True)
class Unavailable:
    """An arm that cannot run here, and why."""

    arm: str
    reason: str


@dataclass(frozen=True)
class Decision:
    """What a budget made of the plan, decided once, before any training task."""

    reason: str
    blocks: int
    seeds: int
    epochs: int
    again: int = 0
    """Seeds that the arms of the training A/A are trained with a second time."""

    def within(self, spec: Spec) -> Spec:
        """The specification with what was decided."""
        return replace(spec, blocks=self.blocks, seeds=self.seeds, epochs=self.epochs, again=self.again)


@dataclass(frozen=True)
class Retried:
    """A task that had not ended well is run again; what it recorded is kept in `runs/failed/`."""

    task: str
    status: str
    reason: str | None = None


@dataclass(frozen=True)
class Finished:
    """Every task has ended; `not_run` names those that the budget did not allow."""

    finished: str
    not_run: list[str] = field(default_factory=list)


Record = (
    Planned
    | Started
    | Step0
    | Window
    | Memory
    | InputCost
    | Busy
    | Trace
    | Epoch
    | Resumed
    | Capacity
    | Ended
    | Sample
    | Asked
    | Environment
    | Unavailable
    | Decision
    | Retried
    | Finished
)

_TYPES: dict[str, type[Record]] = {
    "planned": Planned,
    "started": Started,
    "step0": Step0,
    "window": Window,
    "memory": Memory,
    "input": InputCost,
    "busy": Busy,
    "trace": Trace,
    "epoch": Epoch,
    "resumed": Resumed,
    "capacity": Capacity,
    "ended": Ended,
    "sample": Sample,
    "asked": Asked,
    "environment": Environment,
    "unavailable": Unavailable,
    "decision": Decision,
    "retried": Retried,
    "finished": Finished,
}
_NAMES: dict[type[Record], str] = {kind: name for name, kind in _TYPES.items()}
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

R = TypeVar("R")


def encode(record: Record) -> str:
    """The record as one line of JSON, without its newline."""
    return json.dumps({"type": _NAMES[type(record)], **_spell(asdict(record))}, ensure_ascii=False, allow_nan=False)


def decode(line: str) -> Record | None:
    """The record of a line, None for a type this version does not know.

    Raises ValueError for a line that is no record.
    """
    data = json.loads(line)
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    kind = _TYPES.get(str(data.pop("type", "")))
    if kind is None:
        return None
    known = {entry.name: str(entry.type) for entry in fields(kind)}
    values = {key: _read(value, known[key]) for key, value in data.items() if key in known}
    typed.check(kind, values)
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(f"a field is missing ({error})") from error


class Writer:
    """Appends records to a file, each complete on disk before the next begins."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _mend_tail(path)
        # A path that is no text in this locale holds lone surrogates: escaped, they are JSON and read back as such.
        self._file = path.open("a", encoding="utf-8", errors="backslashreplace")

    def write(self, record: Record) -> None:
        """Append one record. Raises OSError where it cannot be written."""
        self._file.write(encode(record) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(path: Path) -> tuple[list[Record], list[str]]:
    """The records of a file, and a sentence for each line that could not be read."""
    records: list[Record] = []
    notices: list[str] = []
    if not path.exists():
        return records, notices
    for number, raw in enumerate(path.read_bytes().split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            record = decode(raw.decode("utf-8"))
        except ValueError as error:
            notices.append(f"{path.name}, line {number}, cannot be read and is left out ({error}).")
            continue
        if record is not None:
            records.append(record)
    return records, notices


@dataclass(frozen=True)
class Run:
    """One task with what its process recorded."""

    task: Task
    records: tuple[Record, ...]

    def of(self, kind: type[R]) -> list[R]:
        """Its records of one type, in order."""
        return [record for record in self.records if isinstance(record, kind)]

    def last(self, kind: type[R]) -> R | None:
        """Its last record of one type."""
        found = self.of(kind)
        return found[-1] if found else None

    @property
    def status(self) -> Status | Literal["incomplete"]:
        ended = self.last(Ended)
        return ended.status if ended else "incomplete"


@dataclass(frozen=True)
class Session:
    """A session's folder, read back."""

    folder: Path
    asked: Spec
    """What was asked for."""
    spec: Spec
    """What was run: the same, less what a budget took away."""
    records: tuple[Record, ...]
    runs: tuple[Run, ...]
    notices: tuple[str, ...]
    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    """What the machine did, by the name of the task."""

    def of(self, kind: type[R]) -> list[R]:
        """The session's own records of one type, in order."""
        return [record for record in self.records if isinstance(record, kind)]


def read_session(folder: Path) -> Session:
    """Everything recorded in a folder. Raises ValueError with one sentence if it holds no session."""
    records, notices = read(folder / "session.jsonl")
    asked = next((record for record in records if isinstance(record, Asked)), None)
    if asked is None:
        raise ValueError(f"{folder} holds no session: there is no session.jsonl that can be read in it.")
    runs = []
    for path in sorted((folder / "runs").glob("*.jsonl")):
        found, damage = read(path)
        notices += damage
        planned = next((record for record in found if isinstance(record, Planned)), None)
        try:
            if planned is not None:
                runs.append(Run(Task.from_json(planned.task), tuple(found)))
        except ValueError as error:
            notices.append(f"{path.name} is left out: it does not say which task it is of ({error}).")
    try:
        spec = Spec.from_json(asked.spec)
    except ValueError as error:
        raise ValueError(f"{folder} holds no session of this version ({error}).") from error
    decision = next((record for record in reversed(records) if isinstance(record, Decision)), None)
    run = decision.within(spec) if decision else spec
    samples = {}
    for path in sorted((folder / "machine").glob("*.jsonl")):
        found, damage = read(path)
        notices += damage
        samples[path.stem] = tuple(record for record in found if isinstance(record, Sample))
    return Session(folder, spec, run, tuple(records), tuple(runs), tuple(notices), samples)


def _mend_tail(path: Path) -> None:
    """End a line that was cut off, so that what is appended starts a new one."""
    if path.exists() and path.stat().st_size:
        with path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")


def _spell(value: Any) -> Any:
    """The value with non-finite numbers spelt out, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _spell(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spell(entry) for entry in value]
    return value


def _read(value: Any, annotation: str) -> Any:
    """The value with non-finite numbers read back where the field holds numbers."""
    if "float" not in annotation:
        return value
    return next(_numbers([value]))


def _numbers(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield list(_numbers(value))
        else:
            yield _NON_FINITE.get(value, value) if isinstance(value, str) else value
