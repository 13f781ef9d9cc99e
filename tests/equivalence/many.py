"""Migrates many made-up programs (generate.py), runs each before and after, and counts what became of them.

    python -m tests.equivalence.many                      # seeds 0 to 300, with two processes
    python -m tests.equivalence.many --seeds 1000:4000 --jobs 4 --out failures

With ``--changed`` the programs are scripts of this folder with lines changed at random (changed.py), with ``--split``
such that are taken apart into several files (split.py).

Each program ends in one of these:

equal             migrated, and both versions do the same
by hand           left as it is: the tool says that it has to be done by hand
review differs    migrated as *review*, and something differs: it has to be what the report says
unsound           migrated as *safe*, and something differs
internal error    the tool failed
bad program       the program itself fails before it is migrated: a fault of generate.py, or what a change came to

With ``--out`` the programs of the last four are written there: a folder each, with the program as it was
(``old``), as it became (``new``) and what differs (``notes.txt``). The exit status is 1 where one is unsound or
an internal error, or a bad program that nobody changed.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import itertools
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from migrate import cli, engine, streams  # noqa: F401  the engine is imported once, before the processes part

from . import changed, split
from .generate import MAIN, Program, program
from .harness import TOLERANCE, Mode, compare, server

EQUAL, BY_HAND, REVIEW, UNSOUND, INTERNAL, BAD = VERDICTS = (
    "equal",
    "by hand",
    "review differs",
    "unsound",
    "internal error",
    "bad program",
)
FAILURES = (UNSOUND, INTERNAL, BAD)


@dataclass(frozen=True)
class Result:
    """What became of one program; ``notes`` say why, ``said`` is what the tool reported."""

    program: Program
    verdict: str
    notes: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    new: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> str:
        return f"{self.program.seed}: {self.verdict}: {'; '.join(self.notes)[:300]} ({', '.join(self.program.shapes)})"


def judge(made: Program) -> Result:
    """Migrate one program, and run it before and after."""
    with tempfile.TemporaryDirectory() as place:
        old, new = Path(place, "old"), Path(place, "new")
        for side in (old, new):
            _write(side, made.files)
        code, report, output = _migrate(new, Path(place, "report.json"))
        said = tuple(
            f"{file['path']}:{one['line']} {one['severity']} {one['rule']} {one['message']}"
            for file in report["files"]
            for one in file["findings"]
        )
        after = {name: (new / name).read_text(encoding="utf-8") for name in made.files}
        texts = tuple(after.items())
        if code not in (streams.DONE, streams.PENDING) or any(" APX000 " in one for one in said):
            return Result(made, INTERNAL, (f"exit code {code}", output[-2000:]), said, texts)
        changed = after != made.files
        complaint, differences = _differences(made, old, new, _mode(after) if changed else None)
        if complaint:
            return Result(made, BAD, (complaint,), said, texts)
        if not changed:
            return Result(made, BY_HAND, (), said, texts)
        verdict = EQUAL
        if differences:
            verdict = REVIEW if report["summary"]["units"]["review"] else UNSOUND
        return Result(made, verdict, tuple(differences), said, texts)


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _migrate(folder: Path, report: Path) -> tuple[int, dict[str, Any], str]:
    """As on the command line: exit code, report and what was printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = cli.main([str(folder), "--write", "--jobs", "1", "--report-json", str(report)])
    if not report.exists():
        return code, {"files": [], "summary": {"units": {"review": 0}}}, said.getvalue()
    return code, json.loads(report.read_text(encoding="utf-8")), said.getvalue()


def _mode(after: dict[str, str]) -> Mode:
    """Where a unit was left by hand, what is left of Apex has to find some."""
    return "partly" if any("apex" in text for text in after.values()) else "native"


def _differences(made: Program, old: Path, new: Path, mode: Mode | None) -> tuple[str, list[str]]:
    """What is wrong with the program itself, and what differs after the migration (without a mode: nothing)."""
    found = []
    for argv, casts in itertools.product(made.runs, (False, True) if made.casts else (False,)):
        legacy = server().run("legacy", old / MAIN, argv, casts=casts)
        if legacy.error:
            return f"run {list(argv)}: {legacy.error}", []
        if mode is not None:
            native = server().run(mode, new / MAIN, argv, casts=casts)
            run = f"run {list(argv)}{' with real casts' if casts else ''}"
            found += [f"{run}: {one}" for one in compare(legacy, native, tolerance=TOLERANCE if casts else 0.0)]
    return "", found


# ---------------------------------------------------------------- many of them


def tried(seeds: Sequence[int], jobs: int, made: Callable[[int], Program] = program) -> Iterator[Result]:
    """The results, in the order of the seeds; ``made`` makes the program of one."""
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        yield from pool.map(functools.partial(_of_seed, made), seeds, chunksize=4)


def _of_seed(made: Callable[[int], Program], seed: int) -> Result:
    return judge(made(seed))


def put_away(result: Result, out: Path) -> None:
    """The program before and after, and what differs, in a folder of its own."""
    folder = out / f"{result.verdict.replace(' ', '_')}-{result.program.seed}"
    shutil.rmtree(folder, ignore_errors=True)
    _write(folder / "old", result.program.files)
    _write(folder / "new", dict(result.new))
    runs = [" ".join(run) or "no arguments" for run in result.program.runs]
    parts = [result.line, "\n".join(result.notes), "\n".join(result.said), "runs: " + "; ".join(runs)]
    (folder / "notes.txt").write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def _range(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last)) if last else range(int(first), int(first) + 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=_range, default=range(300), metavar="FIRST:LAST", help="LAST is not tried")
    parser.add_argument("--jobs", type=int, default=2)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--changed", action="store_true", help="scripts of this folder, changed at random")
    what.add_argument("--split", action="store_true", help="scripts of this folder, taken apart into files")
    parser.add_argument("--out", type=Path, help="write the programs that failed to this folder")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    started = time.monotonic()
    failures = tuple(one for one in FAILURES if one != BAD or not (options.changed or options.split))
    made = changed.program if options.changed else split.program if options.split else program
    for result in tried(options.seeds, options.jobs, made):
        counts[result.verdict] += 1
        if result.verdict in (REVIEW, *failures):
            print(result.line, flush=True)
            if options.out:
                put_away(result, options.out)
    took = time.monotonic() - started
    print(f"{sum(counts.values())} programs in {took:.0f} s: " + ", ".join(f"{counts[one]} {one}" for one in VERDICTS))
    return int(any(counts[one] for one in failures))


if __name__ == "__main__":
    sys.exit(main())
