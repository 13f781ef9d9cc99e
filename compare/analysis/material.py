"""A session's runs as the statistics use them: by arm and by what was run, without the settling blocks."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..checks import not_run
from ..records import Finished, Run, Sample, Session, Unavailable
from ..spec import Spec, Task
from .machine import left_out
from .runs import speed_of, timed


@dataclass(frozen=True)
class Material:
    """A session's runs as the statistics use them."""

    spec: Spec
    """As a budget left it."""
    runs: tuple[Run, ...]
    unavailable: Mapping[str, str]
    smoke: bool
    finished: bool
    not_run: frozenset[str]
    """Names of the tasks that the budget left no time for."""
    samples: Mapping[str, Sequence[Sample]]
    """What the machine did, by the name of the task."""

    def of(self, arm: str, task: Task, *, replica: int | None = 0) -> list[Run]:
        """An arm's runs of the kind, workload, recipe and batch of `task`; every replica with None."""
        wanted = (task.kind, arm, task.workload, task.recipe, task.batch)
        return [
            run
            for run in self.runs
            if (run.task.kind, run.task.arm, run.task.workload, run.task.recipe, run.task.batch) == wanted
            and not run.task.settling
            and replica in (None, run.task.replica)
        ]

    def main(self, kind: str = "speed") -> Task:
        """What the session is about: its own workload, recipe and batch."""
        spec = self.spec
        return Task(kind, "", workload=spec.workload, recipe=spec.recipe, batch=spec.batch)  # type: ignore[arg-type]

    def speeds(self, arm: str, task: Task, *, replica: int | None = None) -> dict[int, float]:
        """Samples per second by block; where the arm ran twice in it, the geometric mean of both."""
        found: defaultdict[int, list[float]] = defaultdict(list)
        for run in self.of(arm, task, replica=replica):
            if timed(run) and (speed := speed_of(run, self.spec.world)) > 0:
                found[run.task.block].append(speed)
        return {block: statistics.geometric_mean(speeds) for block, speeds in sorted(found.items())}


def gather(session: Session) -> Material:
    spec = session.spec
    unavailable = {record.arm: record.reason for record in session.of(Unavailable)}
    smoke = spec.profile == "smoke" or spec.device == "cpu"
    runs = left_out(session.runs, session.samples, spec)
    left = frozenset(not_run(session))
    return Material(spec, runs, unavailable, smoke, bool(session.of(Finished)), left, session.samples)
