"""From what a session recorded to its results. Needs no GPU and no torch; the same folder gives the same results.

What counts: runs that ended well, outside the settling blocks. Speed is one number per process, its samples over the
time of its timed windows; arms are paired block by block, accuracy seed by seed. What does not count is listed
(`failures`) or said (`notices`). `analysis/` holds a file for each kind of number, `checks.py` the checks that arms
were treated alike, `verdict.py` turns the numbers into sentences.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from .analysis import machine
from .analysis.accuracy import parity_tests, training_runs
from .analysis.arms import arm_result
from .analysis.epochs import sustained_notices, target_notices
from .analysis.material import Material, gather
from .analysis.repeats import run_to_run
from .analysis.runs import reason_of
from .analysis.sizes import batch_sweep, other_speeds
from .analysis.speed import control_notices, controls_of, pairs_of
from .checks import check, missing
from .records import UNSUCCESSFUL, Asked, Ended, Environment, Finished, Session, Started, read_session
from .results import Failure, Results
from .verdict import claims, headline


def analyse_folder(folder: Path) -> Results:
    """The results of a session's folder. Raises ValueError with one sentence if it holds no session."""
    return analyse(read_session(folder))


def analyse(session: Session) -> Results:
    """The results of a session, complete or not."""
    material = gather(session)
    spec = material.spec
    notices = [*session.notices, *check(session, material.runs)]
    notices += machine.notices(session.runs, session.samples, spec)
    controls = controls_of(material)
    notices += control_notices(material, controls)
    trainings = {arm: training_runs(material, arm) for arm in spec.trained}
    again = {arm: training_runs(material, arm, replica=1) for arm in spec.trained_again}
    tests = parity_tests(material, trainings, notices)
    arms = tuple(arm_result(material, arm, trainings.get(arm, ())) for arm in spec.arms)
    notices += target_notices(trainings, spec.target_accuracy)
    notices += sustained_notices([(arm.name, arm.sustained) for arm in arms])
    results = Results(
        spec=spec,
        environment=_environment(session),
        started=session.of(Asked)[0].started,
        command=session.of(Asked)[0].command,
        arms=arms,
        pairs=pairs_of(material, controls, tests, trainings),
        controls=controls,
        run_to_run=run_to_run(material, trainings, again),
        sweep=batch_sweep(material, controls),
        others=other_speeds(material, controls),
        claims=(),
        failures=tuple(
            Failure(run.task.name, run.task.arm, run.status, reason_of(run))
            for run in material.runs
            if run.status in UNSUCCESSFUL
        ),
        notices=tuple(notices),
        headline="",
        smoke=material.smoke,
        flags=_flags(material),
        machine=machine.machine(material.runs, session.samples),
        moments=machine.moments(session.runs, session.samples),
        seconds=(spent := _seconds(session)),
        gpu_hours=spent * spec.world / 3600 if spent and spec.device == "cuda" else None,
        complete=_complete(session, material),
    )
    return replace(results, claims=claims(results), headline=headline(results))


def _seconds(session: Session) -> float | None:
    ends = [ended.seconds for run in session.runs if (ended := run.last(Ended)) and ended.seconds]
    return math.fsum(ends) if ends and math.isfinite(math.fsum(ends)) else None


def _complete(session: Session, material: Material) -> bool:
    """Whether every task has its recorded end, or the budget left no time for it."""
    ended = all(run.status != "incomplete" for run in material.runs)
    return bool(session.of(Finished)) and ended and not missing(session)


def _environment(session: Session) -> dict[str, object]:
    found = session.of(Environment)
    return dict(found[-1].environment) if found else {}


def _flags(material: Material) -> dict[str, object]:
    """The baseline's switches; those of the other arms are equal but for TF32, or a notice says so."""
    started = sorted(
        (
            (run.task.arm != material.spec.baseline, index, record)
            for index, run in enumerate(material.runs)
            if (record := run.last(Started)) is not None
        ),
        key=lambda entry: entry[:2],
    )
    return dict(started[0][2].flags) if started else {}
