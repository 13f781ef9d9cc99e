"""The run on a GPU machine, as one command: `python -m tests.compare.real_run --work DIR --data DIR`.

In order of value: Apex, the tests that need a GPU, every arm once (`quick`, 2 epochs), `standard` within its budget,
the batch sweep, the other recipes. After every step it writes `summary.md` and, into --copy, that and one archive of
all that is to be kept (a machine that is lent may hand back few files and small ones only); started
again with the same folder it goes on where it was cut, within a step too. A step that failed is not tried again
without --retry. Without Apex the rest runs all the same, and says so. The limits of the first two steps are for a
quarter of an hour in all.

Exit codes: 0 everything is done, 1 something failed, 3 time is up and something is left.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

from compare.arms import ARMS

PROJECT = Path(__file__).parents[2]
MAIN = ("fp32", "apex-o1", "native-fp16", "native-best")
"""The arms of the sweep."""
RECIPES = ("clip", "accumulate", "gradient-penalty")
SWEEP = "32,64,256,512,1024,2048"
LEAST = 60.0
"""Seconds below which no further step is begun."""
REPORT = 45.0
"""Seconds of the time that are kept for a cut session's report."""
APEX, TESTS = 300.0, 150.0
"""Seconds for Apex and for the tests, in all: both begin anew where they were cut."""
GRACE = 30.0
"""Seconds that a step has to end once it was asked to."""
LEFT_OUT = ("checkpoints", "jobs", "*.pt", ".lock", "tensorboard")
"""What of a session is not kept."""
KEPT = "kept.tar.xz"


@dataclass(frozen=True)
class Step:
    """One command, and the session's folder where it is one."""

    name: str
    command: tuple[str, ...]
    session: Path | None = None
    most: float = math.inf
    """Seconds after which it is given up: what begins anew each time it is cut would keep everything after it from
    its turn."""


@dataclass(frozen=True)
class State:
    """How a step ended: `done`, `failed`, or `cut` where time was up."""

    status: str
    code: int
    seconds: float


def steps(work: Path, data: str | None, budget: str, arms: Sequence[str], tests: str) -> list[Step]:
    """Everything, in order of value."""
    python = sys.executable
    main = ",".join(arm for arm in MAIN if arm in arms)

    def session(name: str, *words: str) -> Step:
        folder = work / "reports" / name
        of = ("--data", data) if data else ()
        return Step(name, (python, "-m", "compare", "run", "--out", str(folder), *of, *words), folder)

    # Most of a test is the start of a process: several run side by side, where that can be.
    beside = ("-n", str(min(8, len(os.sched_getaffinity(0))))) if find_spec("xdist") else ()
    pytest = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *beside, "-m", "gpu or apex", "tests/compare")
    return [
        Step("apex", (python, "-m", "compare.build_apex", "--optional"), most=APEX),
        Step("tests", (*pytest, "-k", tests) if tests else pytest, most=TESTS),
        session("quick", "--profile", "quick", "--arms", ",".join(arms), "--epochs", "2", "--blocks", "1"),
        session("standard", "--profile", "standard", "--seeds", "3", "--budget", budget),
        session("sweep", "--profile", "quick", "--arms", main, "--train", "none", "--blocks", "1", "--sweep", SWEEP),
        *(
            session(recipe, "--profile", "quick", "--arms", main, "--train", "none", "--recipe", recipe)
            for recipe in RECIPES
        ),
    ]


def carry_out(todo: Sequence[Step], work: Path, until: float, copy: Path | None, retry: bool) -> int:
    """Run what is not done, until the time is up. Returns the exit code."""
    work.mkdir(parents=True, exist_ok=True)
    states = _read(work)
    for step in todo:
        before = states.get(step.name)
        if before and (before.status == "done" or (before.status == "failed" and not retry)):
            continue
        if until - time.monotonic() < LEAST:
            break
        again = ("--retry",) if retry and step.session and before else ()
        spent = before.seconds if before and not again else 0.0
        stop = min(until - REPORT, time.monotonic() + step.most - spent)
        ended = _run(replace(step, command=(*step.command, *again)), work, stop)
        if ended.status == "cut" and spent + ended.seconds >= step.most:
            ended = replace(ended, status="failed")
        if step.session and ended.status == "cut" and (step.session / "session.jsonl").exists():
            _report(step.session, work, until)
        seconds = ended.seconds + (before.seconds if before else 0.0)
        states[step.name] = replace(ended, seconds=seconds)
        _write(todo, states, work)
        if copy is not None:
            _copy(work, copy)
    left = [step for step in todo if states.get(step.name, State("cut", 0, 0.0)).status == "cut"]
    if left:
        print(f"time is up; left: {', '.join(step.name for step in left)}. The same command goes on.")
        return 3
    return int(any(state.status == "failed" or state.code for state in states.values()))


def _run(step: Step, work: Path, until: float) -> State:
    """Run a step, what it prints going to its log and to the screen's end; ended when the time is up."""
    print(f"== {step.name}: {' '.join(step.command[1:])}", flush=True)
    begun = time.monotonic()
    log = work / f"{step.name}.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            step.command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        try:
            code = process.wait(timeout=max(0.0, until - begun))
            # 1: the comparison is complete, and a run of it failed; the report says which.
            finished = code == 0 or (step.session is not None and code == 1)
            status = "done" if finished else "failed"
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            code, status = _end(process), "cut"
        except BaseException:
            process.send_signal(signal.SIGTERM)
            _end(process)
            raise
    print(*log.read_text(errors="replace").splitlines()[-3:], sep="\n", flush=True)
    seconds = time.monotonic() - begun
    print(f"== {step.name}: {status}, exit code {code}, {seconds:.0f} s", flush=True)
    return State(status, code, seconds)


def _end(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process that was asked to end, then end it and all that it started."""
    try:
        return process.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _report(folder: Path, work: Path, until: float) -> None:
    """The report of a session that was cut, of what there is of it."""
    with (work / "reports.log").open("ab") as output:
        command = [sys.executable, "-m", "compare", "report", str(folder)]
        try:
            subprocess.run(
                command, cwd=PROJECT, stdout=output, stderr=output, timeout=max(5.0, until - time.monotonic())
            )
        except subprocess.TimeoutExpired:
            print("there was no time for its report", flush=True)


def _read(work: Path) -> dict[str, State]:
    try:
        found: dict[str, dict[str, object]] = json.loads((work / "state.json").read_text())
    except (OSError, ValueError):
        return {}
    return {name: State(**state) for name, state in found.items()}  # type: ignore[arg-type]


def _write(todo: Sequence[Step], states: dict[str, State], work: Path) -> None:
    """What is done, for the next start and for people."""
    _replace(work / "state.json", json.dumps({name: asdict(state) for name, state in states.items()}, indent=1))
    lines = ["| step | | exit code | seconds | verdict |", "|---|---|---|---|---|"]
    for step in todo:
        state = states.get(step.name)
        cells = (state.status, str(state.code), f"{state.seconds:.0f}") if state else ("not begun", "", "")
        lines.append(f"| {step.name} | {' | '.join(cells)} | {_headline(step)} |")
    _replace(work / "summary.md", "\n".join(lines) + "\n")


def _headline(step: Step) -> str:
    try:
        results = json.loads((step.session / "results.json").read_text()) if step.session else {}
    except (OSError, ValueError):
        return ""
    return str(results.get("headline", "")).replace("|", "\\|")


def _replace(path: Path, text: str) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _copy(work: Path, copy: Path) -> None:
    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        name = member.name.rpartition("/")[2]
        return None if any(fnmatch(name, pattern) for pattern in LEFT_OUT) else member

    copy.mkdir(parents=True, exist_ok=True)
    temporary = copy / f"{KEPT}.tmp"
    with tarfile.open(temporary, "w:xz", preset=1) as archive:  # most of it are pictures, which get no smaller
        archive.add(work, arcname=".", filter=kept)
    os.replace(temporary, copy / KEPT)
    shutil.copy(work / "summary.md", copy)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="real_run", description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder of the sessions; name it again to go on")
    parser.add_argument("--data", help="folder of CIFAR-10 (default: downloaded)")
    parser.add_argument("--minutes", type=float, default=9.0, help="time of this call (9)")
    parser.add_argument("--budget", default="5m", help="time of `standard`, over all calls (5m)")
    parser.add_argument("--arms", default=",".join(ARMS), help="arms of `quick` (all)")
    parser.add_argument("--tests", default="", help="only these tests (pytest's -k)")
    parser.add_argument("--only", default="", help="only these steps")
    parser.add_argument("--copy", type=Path, help=f"where summary.md and {KEPT} are put after every step")
    parser.add_argument("--retry", action="store_true", help="try again what failed")
    asked = parser.parse_args(words)
    todo = steps(asked.work.absolute(), asked.data, asked.budget, asked.arms.split(","), asked.tests)
    only = [name for name in asked.only.split(",") if name]
    if unknown := set(only) - {step.name for step in todo}:
        parser.error(f"there is no step {', '.join(sorted(unknown))}: {', '.join(step.name for step in todo)}")
    if asked.data and "/" in asked.data and not Path(asked.data).exists():
        parser.error(f"there is no folder {asked.data}: name one that holds CIFAR-10, or leave --data out")
    chosen = [step for step in todo if step.name in only or not only]
    return carry_out(chosen, asked.work, time.monotonic() + 60 * asked.minutes, asked.copy, asked.retry)


if __name__ == "__main__":
    sys.exit(main())
