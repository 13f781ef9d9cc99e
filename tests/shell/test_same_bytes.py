"""Output, report and files are the same bytes whatever order things come in.

Hash seeds change the order of sets, processes that of results, file systems that of entries; where in memory nodes
lie changes the order of sets of nodes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell.support import PROJECT, environment

SCRIPTS = PROJECT / "tests" / "equivalence" / "scripts"
EVERY = 8  # of the scripts one in so many: hash seeds are told apart by few as well as by all
PROJECTS = SCRIPTS.parent / "projects"  # of these one in three times as many
ORDERS = Path(__file__).parent / "orders"  # programs in which one of several has to be taken
RUNS = [(0, 2), (1, 1), (20261122, 2)]  # hash seed and processes; the first also orders the entries


def outcome(folder: Path, seed: int, jobs: int, *options: str) -> dict[str, bytes]:
    """What a run over a copy of some scripts and folders prints and leaves, by name."""
    root = folder / f"{seed}-{jobs}"
    for at, script in enumerate(sorted(SCRIPTS.glob("*.py"))):
        if at % EVERY == 0:
            place = root / "tree" / ("deep/er" if at % (2 * EVERY) else ".")
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(script, place)
    for project in sorted(PROJECTS.iterdir())[:: 3 * EVERY]:
        shutil.copytree(project, root / "tree" / project.name)
    words = [sys.executable, "-m", "tests.shell.shuffled", str(seed), "tree", "-j", str(jobs), *options]
    run = subprocess.run(
        [*words, "--report-json", "report.json"],
        cwd=root,
        env=environment(PYTHONHASHSEED=str(seed)),
        capture_output=True,
        timeout=120,
    )
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return files | {"exit code": b"%d" % run.returncode, "printed": run.stdout, "complained": run.stderr}


@pytest.mark.parametrize("options", [[], ["--write"]], ids=["dry", "write"])
def test_the_same_bytes(tmp_path: Path, options: list[str]) -> None:
    first, *others = (outcome(tmp_path, seed, jobs, *options) for seed, jobs in RUNS[: 3 - len(options)])
    assert first["exit code"] == b"1" and first["complained"] == b""
    assert first["report.json"].count(b'"status": "changed"') > 12
    for other in others:
        assert other.keys() == first.keys()
        assert [name for name in first if other[name] != first[name]] == []


def test_the_same_wherever_nodes_lie() -> None:
    files = sorted(ORDERS.glob("*.py"))
    words = [sys.executable, "-m", "tests.shell.scattered", "6", *map(str, files)]
    found = set[str]()
    for seed in ("1", "2", "3"):
        run = subprocess.run(words, env=environment(PYTHONHASHSEED=seed), capture_output=True, text=True, timeout=300)
        assert run.stderr == ""
        assert [line.split()[:2] for line in run.stdout.splitlines()] == [["1", path.name] for path in files]
        found.add(run.stdout)
    assert len(found) == 1
