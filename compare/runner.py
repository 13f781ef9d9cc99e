"""Runs a session: what is missing of it, task after task, each in a fresh process."""

from __future__ import annotations

import itertools
import math
import shutil
import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from . import estimate, folders, plan
from .arms import Precision
from .checks import changes
from .engine import Engine, Here, all_of
from .errors import UserError
from .format import plural
from .records import (
    Asked,
    Decision,
    Ended,
    Environment,
    Finished,
    Retried,
    Run,
    Session,
    Started,
    Unavailable,
    Window,
    Writer,
    read_session,
)
from .spec import Spec, Task
from .worker import Request

REPORT = 30.0
"""Seconds of a budget that are kept for the report."""


PATIENCE, LEAST_PATIENCE, UNKNOWN_PATIENCE = 5.0, 900.0, 12 * 3600.0
"""A task may take so many times what is expected of it, but 15 minutes in any case; 12 hours where nothing is known."""


class Watcher(Protocol):
    """Who is told what happens."""

    def starts(self, number: int, of: int, task: Task) -> None: ...
    def remaining(self, seconds: float) -> None: ...
    def progress(self, done: int, total: int, note: str) -> None: ...
    def ended(self, task: Task, ended: Ended) -> None: ...
    def says(self, sentence: str) -> None: ...


@dataclass(frozen=True)
class Surroundings:
    """What a session is run on, found out beforehand."""

    environment: dict[str, Any]
    unavailable: Mapping[str, str]
    """Arms that cannot run here, with the reason."""
    rate: Mapping[Precision, float]
    """For estimates, from `estimate.rates`."""
    cache: Path | None = None
    engine: Engine = field(default_factory=Here)
    begun: float = field(default_factory=time.monotonic)
    """When the command was started, on the monotonic clock: a budget counts all it does, not the tasks alone."""


def run(
    spec: Spec, folder: Path, around: Surroundings, command: str, watcher: Watcher, retry: bool = False
) -> None:
    """Run what the folder's session still lacks, with `retry` also what did not end well.

    Raises UserError if the folder holds a session of another specification, or cannot be written.
    """
    try:
        with Writer(folder / "session.jsonl") as writer:
            _open(spec, folder, around, command, writer)
            for sentence in changes(read_session(folder)):
                watcher.says(sentence)
            not_run = _tasks(spec, folder, around, writer, watcher, folders.failed(folder) if retry else [])
            writer.write(Finished(_now(), [task.name for task in not_run]))
            _let_weights_go(read_session(folder), folder)
            if not_run:
                watcher.says(f"The budget left no time for {plural(len(not_run), 'task')}; the report names them.")
    except OSError as error:
        raise UserError(
            f"{folder} cannot be written ({error.strerror}): make room or name another folder, then start it again; "
            "it goes on where it stopped."
        ) from error


def _open(spec: Spec, folder: Path, around: Surroundings, command: str, writer: Writer) -> None:
    """Check that the session in the folder is this one, or begin it; note what it runs on."""
    if (folder / "session.jsonl").stat().st_size:
        try:
            old = read_session(folder).asked
        except ValueError as error:
            raise UserError(f"{error} Name another folder with --out.") from error
        if other := folders.differences(old, spec):
            raise UserError(
                f"{folder} holds a comparison with other settings ({', '.join(other)}): name another folder with --out."
            )
    else:
        writer.write(Asked(spec.to_json(), _now(), command))
    writer.write(Environment(around.environment))
    for arm, reason in around.unavailable.items():
        writer.write(Unavailable(arm, reason))


def _tasks(
    spec: Spec, folder: Path, around: Surroundings, writer: Writer, watcher: Watcher, again: Sequence[str]
) -> list[Task]:
    """Run every task that has no recorded end, and those named in `again`. Returns those that the budget left no time
    for."""
    available = [arm for arm in spec.arms if arm not in around.unavailable]
    earlier = _spent(read_session(folder))
    decision: Decision | None = None
    not_run: list[Task] = []
    queue = plan.tasks(spec, available)
    done = 0
    while done < len(queue):
        session = read_session(folder)
        left = (spec.budget or math.inf) - REPORT - earlier - (time.monotonic() - around.begun)
        if decision is None and (decision := _decision(spec, session, available, left, writer)) is not None:
            watcher.says(decision.reason)
            kept = set(plan.tasks(decision.within(spec), available))
            not_run += [task for task in queue if task not in kept and not _ended(session, task)]
            queue = [task for task in queue if task in kept]
            spec_now = decision.within(spec)
        elif decision is None:
            spec_now = spec
        todo = [task for task in queue[done:] if task.name in again or not _ended(session, task)]
        watcher.remaining(sum(_expected(task, spec_now, session, around) for task in todo))
        stretch = _stretch(queue, done, around.engine.side_by_side)
        pending = [task for task in stretch if task.name in again or not _ended(session, task)]
        runs = [
            partial(_one, task, session, folder, spec_now, around, writer, watcher, (queue.index(task), len(queue)))
            for task in pending
        ]

        def in_time(index: int, pending: Sequence[Task] = pending, spec: Spec = spec_now) -> bool:
            left = (spec.budget or math.inf) - REPORT - earlier - (time.monotonic() - around.begun)
            return not spec.budget or _expected(pending[index], spec, read_session(folder), around) <= left

        stop = threading.Event()
        begun = all_of([partial(run, stop=stop) for run in runs], around.engine.side_by_side, in_time, stop)
        if begun < len(pending):
            # Nor is anything after it: what is left of a block says nothing without the arms it is compared with.
            later = [*pending[begun:], *queue[done + len(stretch) :]]
            return not_run + [task for task in later if not _ended(session, task)]
        done += len(stretch)
    return not_run


def _stretch(queue: Sequence[Task], start: int, side_by_side: int) -> list[Task]:
    """What may run at a time: a task alone, or all trainings that follow one another."""
    if side_by_side == 1 or queue[start].kind != "train":
        return [queue[start]]
    return list(itertools.takewhile(lambda task: task.kind == "train", queue[start:]))


def _one(
    task: Task,
    session: Session,
    folder: Path,
    spec: Spec,
    around: Surroundings,
    writer: Writer,
    watcher: Watcher,
    place: tuple[int, int],
    slot: int,
    stop: threading.Event,
) -> None:
    """Run a task, what it recorded before put aside."""
    watcher.starts(place[0] + 1, place[1], task)
    path = folder / "runs" / f"{task.name}.jsonl"
    before = _ended(session, task)
    if before and (end := before.last(Ended)):
        writer.write(Retried(task.name, end.status, end.reason))
    _put_aside(path, "failed" if before else "interrupted")
    patience = spec.timeout or _patience(task, spec, session, around)
    request = Request(spec, task, path, around.cache)
    watcher.ended(task, around.engine.run(request, watcher.progress, patience, slot, stop))


def _decision(spec: Spec, session: Session, available: list[str], left: float, writer: Writer) -> Decision | None:
    """What the budget allows: as decided before, or decided now that every arm has been timed once; else None."""
    earlier = session.of(Decision)
    if earlier:
        return earlier[-1]
    seen = {run.task.arm for run in session.runs if run.task.kind == "speed" and run.status != "incomplete"}
    if not spec.budget or not available or not seen.issuperset(available):
        return None
    decision = plan.decide(spec, _costs(session), _epoch_steps(spec, session), left)
    writer.write(decision)
    return decision


def _costs(session: Session) -> dict[str, plan.Cost]:
    """What each arm's speed tasks took so far."""
    costs: dict[str, plan.Cost] = {}
    for run in session.runs:
        ended, windows = run.last(Ended), run.of(Window)
        if run.task.kind == "speed" and ended and ended.seconds and windows:
            step = statistics.median(time for window in windows for time in window.step_ms) / 1e3
            steps = session.spec.warmup + sum(len(window.step_ms) for window in windows)
            start = max(0.0, ended.seconds - steps * step)
            costs[run.task.arm] = plan.Cost(ended.seconds, start, step)
    return costs


def _expected(task: Task, spec: Spec, session: Session, around: Surroundings) -> float:
    """How long a task will about take: as long as its like took, else by its arm's step, else the estimate."""
    like = [
        ended.seconds
        for run in session.runs
        if _alike(run.task) == _alike(task) and (ended := run.last(Ended)) and ended.status == "ok" and ended.seconds
    ]
    if like:
        return max(like)
    cost = _costs(session).get(task.arm)
    if task.kind == "train" and cost:
        return plan.training(cost, _epoch_steps(spec, session), spec.epochs)
    return estimate.seconds(task, spec, dict(around.rate))


def _patience(task: Task, spec: Spec, session: Session, around: Surroundings) -> float:
    """Seconds after which a task is taken to hang: several times what it should take, more where nothing is known."""
    known = estimate.known(task.workload) or task.arm in _costs(session)
    return max(LEAST_PATIENCE, PATIENCE * _expected(task, spec, session, around)) if known else UNKNOWN_PATIENCE


def _epoch_steps(spec: Spec, session: Session) -> int:
    """Steps of an epoch, by the number of samples that a process found."""
    found = next((started.train_samples for run in session.runs if (started := run.last(Started))), None)
    whole = (found or estimate.TRAIN_SAMPLES) // (spec.batch * spec.world)
    return min(whole, spec.epoch_steps) if spec.epoch_steps else whole


def _alike(task: Task) -> Task:
    return replace(task, seed=0, block=0, replica=0, settling=False)


def _spent(session: Session) -> float:
    """Seconds that the session's tasks have taken so far."""
    return sum(ended.seconds or 0.0 for run in session.runs if (ended := run.last(Ended)))


def _ended(session: Session, task: Task) -> Run | None:
    """The run of a task that has a recorded end."""
    return next((run for run in session.runs if run.task == task and run.status != "incomplete"), None)


def _let_weights_go(session: Session, folder: Path) -> None:
    """Remove the trained weights that are kept for first steps, once each of these has ended well."""
    for path in (folder / "checkpoints").glob("weights-s*.pt"):
        steps = [run for run in session.runs if run.task.kind == "after" and path.stem == f"weights-s{run.task.seed}"]
        if steps and all(run.status == "ok" for run in steps):
            path.unlink(missing_ok=True)


def _put_aside(path: Path, name: str) -> None:
    """Keep what an attempt recorded, out of the way of the next."""
    if path.exists():
        aside = path.parent / name
        aside.mkdir(exist_ok=True)
        number = len(list(aside.glob(f"{path.stem}.*"))) + 1
        shutil.move(path, aside / f"{path.stem}.{number}.jsonl")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
