"""Checks that the arms of a session were treated alike: each that fails is a notice in the report."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from . import plan
from .analysis.machine import HARMLESS
from .arms import ARMS
from .format import plural
from .records import (
    Decision,
    Ended,
    Environment,
    Finished,
    Planned,
    Resumed,
    Retried,
    Run,
    Session,
    Started,
    Unavailable,
)

MAY_CHANGE = ("gpu_state", "apex_reason", "flags", "memory")
"""Keys of the environment that may change between the starts of a session: the state of the moment, what follows from
others, and what a container may give more or less of."""
TF32_WORDS = ("tf32", "fp32_precision", "float32_matmul_precision")
"""What is in the name of a switch in which arms with and without TF32 differ."""
MOST_NAMES = 6
"""Names that one notice lists."""


def check(session: Session, runs: Sequence[Run]) -> list[str]:
    """One sentence for each thing that a reader has to know before comparing arms."""
    return [
        *_budget(session),
        *_unfinished(session, runs),
        *_retried(session),
        *_resumed(runs),
        *_places(runs),
        *changes(session),
        *_slowed_down(runs),
        *_sources(runs),
        *_flags(runs),
        *_beginnings(runs),
    ]


def missing(session: Session) -> list[str]:
    """Tasks of a finished session that left no record at all: their files were removed or cannot be read."""
    if not session.of(Finished):
        return []
    known = {*not_run(session), *(run.task.name for run in session.runs)}
    start = max((at for at, record in enumerate(session.records) if isinstance(record, Environment)), default=0)
    gone = {record.arm for record in session.records[start:] if isinstance(record, Unavailable)}
    planned = plan.tasks(session.spec, [arm for arm in session.spec.arms if arm not in gone])
    return [task.name for task in planned if task.name not in known]


def not_run(session: Session) -> list[str]:
    """Tasks that the budget left no time for when the session last came to its end."""
    return list(dict.fromkeys(name for record in session.of(Finished)[-1:] for name in record.not_run))


def _budget(session: Session) -> Iterator[str]:
    for decision in session.of(Decision):
        yield _sentence(decision.reason)
    left = not_run(session)
    if left:
        yield f"{plural(len(left), 'task')} did not run: {_names(left)}."


def _unfinished(session: Session, runs: Sequence[Run]) -> Iterator[str]:
    if not session.of(Finished):
        yield "The session has not finished: started again, it continues with what is missing."
    cut = [run.task.name for run in runs if run.status == "incomplete"]
    if cut:
        yield f"{plural(len(cut), 'task')} did not run to the end and left no result: {_names(cut)}."
    gone = missing(session)
    if gone:
        yield f"{plural(len(gone), 'task')} of this session left no readable record: {_names(gone)}."


def _retried(session: Session) -> Iterator[str]:
    """Running again what went badly is a choice that a reader has to know."""
    for record in session.of(Retried):
        why = f": {record.reason}" if record.reason else ""
        yield _sentence(f"{record.task} ended {record.status}{why.rstrip('.')} and was run again, on request")


def _resumed(runs: Sequence[Run]) -> Iterator[str]:
    resumed = [run for run in runs if run.of(Resumed)]
    if resumed:
        told = [f"{run.task.name} after epoch {run.of(Resumed)[-1].epochs}" for run in resumed]
        yield f"{plural(len(resumed), 'training')} went on from a checkpoint: {_names(told)}."


def _places(runs: Sequence[Run]) -> Iterator[str]:
    """Which trainings ran beside others: their times are not those of a machine that one has alone."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for run in runs:
        planned = run.last(Planned)
        if planned is not None and planned.where and run.task.kind == "train":
            places[planned.where].append(run.task.name)
    if len(places) > 1:
        told = ", ".join(f"{len(names)} on {where}" for where, names in sorted(places.items()))
        yield f"Trainings ran side by side ({told}): their times hold what they cost each other. Speed tasks ran alone."


def changes(session: Session) -> Iterator[str]:
    """A sentence for each thing of the environment that is not what it was when the session was started before."""
    environments = [record.environment for record in session.of(Environment)]
    for key in dict.fromkeys(key for environment in environments for key in environment):
        found = _distinct(environment.get(key) for environment in environments)
        if len(found) > 1 and key not in MAY_CHANGE:
            told = " and ".join(value if isinstance(value, str) else json.dumps(value) for value in found)
            yield f"Check failed: the {key} changed within the session ({told})."


def _slowed_down(runs: Sequence[Run]) -> Iterator[str]:
    """What the driver said just before or after a task: a GPU too hot or short of power."""
    tasks: defaultdict[str, set[str]] = defaultdict(set)
    for run in runs:
        states = [record.gpu for record in run.of(Started)] + [record.gpu for record in run.of(Ended)]
        for state in states:
            reasons = (state or {}).get("throttle")
            for reason in reasons if isinstance(reasons, list) else ():
                if reason not in HARMLESS:
                    tasks[str(reason)].add(run.task.name)
    for reason, names in tasks.items():
        count = plural(len(names), "task")
        yield f"The driver held the GPU's clock down ({reason}) at the start or the end of {count}."


def _sources(runs: Sequence[Run]) -> Iterator[str]:
    digests: defaultdict[str, set[str]] = defaultdict(set)
    for run, started in _started(runs):
        # A recipe may have a class and a file of its own.
        digests[f"{run.task.arm} ({started.arm_file})"].add(started.arm_sha256)
    for arm, found in digests.items():
        if len(found) > 1:
            yield f"Check failed: the source of the arm {arm} changed within the session."


def _flags(runs: Sequence[Run]) -> Iterator[str]:
    """All switches are equal in all arms; those of TF32 are equal in all arms without it, and in those with it."""
    common: defaultdict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for run, started in _started(runs):
        info = ARMS.get(run.task.arm)
        for flag, value in started.flags.items():
            about_tf32 = any(word in flag.lower() for word in TF32_WORDS)
            group = f"{flag} (arms with TF32)" if about_tf32 and info is not None and info.tf32 else flag
            common[group][json.dumps(value, sort_keys=True)].add(run.task.arm)
    for flag, values in common.items():
        if len(values) > 1:
            told = "; ".join(f"{value} in {_names(sorted(arms))}" for value, arms in sorted(values.items()))
            yield f"Check failed: the flag {flag} is not the same in all runs: {told}."


def _beginnings(runs: Sequence[Run]) -> Iterator[str]:
    """Equal initial weights in all runs of a seed, equal order of the data in those with the same batch."""
    weights: defaultdict[tuple[object, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    orders: defaultdict[tuple[object, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for run, started in _started(runs):
        task = run.task
        weights[task.workload, task.seed, task.kind == "after"][started.initial_weights].add(task.arm)
        orders[task.workload, task.seed, task.kind, task.recipe, task.batch][started.order].add(task.arm)
    for what, groups in (("initial weights", weights), ("order of the data", orders)):
        told = set()
        for (workload, seed, *_), digests in groups.items():
            if len(digests) > 1 and (workload, seed) not in told:
                told.add((workload, seed))
                arms = sorted(set().union(*digests.values()))
                yield f"Check failed: not all runs of {workload}, seed {seed}, had the same {what} ({_names(arms)})."


def _started(runs: Iterable[Run]) -> Iterator[tuple[Run, Started]]:
    for run in runs:
        started = run.last(Started)
        if started is not None:
            yield run, started


def _distinct(values: Iterable[object]) -> list[object]:
    return list({json.dumps(value, sort_keys=True, default=str): value for value in values}.values())


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else shown


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
