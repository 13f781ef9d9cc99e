"""Where the system gives no more processes, descriptors or memory, the same is done by fewer processes, or by one."""

from __future__ import annotations

import builtins
import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from migrate import limits
from migrate.model import ModuleResult, Settings
from migrate.outcome import Outcome
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell import fake
from tests.shell.support import LEGACY, NATIVE, command, environment, tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")


def run(root: Path, jobs: int = 3) -> Outcome:
    with Spool() as spool:
        return analyse(collect([str(root)]), Settings(), spool, jobs=jobs, engine=fake.engine)


def forks_that_fail(monkeypatch: pytest.MonkeyPatch, first: int, *, ever: bool = True) -> list[int]:
    """From the ``first`` one on no process can be begun; the list tells of each try."""
    real, tries = os.fork, list[int]()

    def fork() -> int:
        tries.append(len(tries))
        if len(tries) == first or (ever and len(tries) > first):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return real()

    monkeypatch.setattr(os, "fork", fork)
    return tries


@pytest.mark.parametrize("first", [1, 2, 3])
def test_no_more_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    tree(tmp_path, {f"{at}.py": LEGACY for at in range(12)} | {"bad.py": "# apex\nCRASH = 1\n"})
    expected = run(tmp_path)
    tries = forks_that_fail(monkeypatch, first)
    assert run(tmp_path).results == expected.results
    assert len(tries) == first  # nobody goes on trying


def test_a_process_that_died_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no other program that ends its process comes to be looked at in the first one."""
    tree(tmp_path, {f"{at}.py": LEGACY for at in range(9)} | {f"bad{at}.py": "# apex\nDIE = 1\n" for at in range(5)})
    outcome = run(tmp_path, jobs=2)
    assert len(outcome.changed) == 9
    told = [finding.message for result in outcome.results for finding in result.findings]
    assert len(told) == 5 and all("the process that analysed this file died." in one for one in told)


def test_a_process_died_and_no_other_is_to_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {f"{at}.py": LEGACY for at in range(9)} | {"bad.py": "# apex\nDIE = 1\n" + "#\n" * 9})
    forks_that_fail(monkeypatch, 3)
    outcome = run(tmp_path, jobs=2)
    assert len(outcome.changed) == 9
    assert "and no other could be begun" in outcome.results[-1].findings[0].message


def bounded(root: Path, kind: int, most: int) -> subprocess.CompletedProcess[str]:
    def bound() -> None:
        resource.setrlimit(kind, (most, most))

    return subprocess.run(
        command(root, "--write", "-j", "4"),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=bound,
    )


@pytest.mark.parametrize(("kind", "most"), [(resource.RLIMIT_NOFILE, 12), (resource.RLIMIT_AS, 80 << 20)])
def test_few_descriptors_and_little_memory(tmp_path: Path, kind: int, most: int) -> None:
    """Threads that have no room for their stacks left a run that waited for ever."""
    root = tree(tmp_path, {f"{at}.py": LEGACY for at in range(40)})
    done = bounded(root, kind, most)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.read_text() for path in root.glob("*.py")} == {NATIVE}


def test_a_caller_who_gives_little_memory_is_told_so(tmp_path: Path) -> None:
    """As the analysis of a file ends at it; it was called nested too deeply."""
    tree(tmp_path, {"x.py": LEGACY})
    before = resource.getrlimit(resource.RLIMIT_AS)
    had = limits._address_space()

    def greedy(text: str, settings: Settings, outside: object, standing: object) -> ModuleResult:
        held = []
        while True:
            held.append(bytes(1 << 20))

    resource.setrlimit(resource.RLIMIT_AS, (had + (100 << 20), before[1]))
    try:
        with Spool() as spool:
            outcome = analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1, engine=greedy)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    told = outcome.results[0].findings[0].message
    assert "too tangled to follow: it was given" in told and "megabytes of memory" in told


def test_a_root_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says how much a process has mapped, so that has no bound there; every file was an internal error."""
    real: Callable[..., Any] = builtins.open

    def missing(name: Any, *words: Any, **more: Any) -> Any:
        if str(name).startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return real(name, *words, **more)

    tree(tmp_path, {f"{at}.py": LEGACY for at in range(3)})
    monkeypatch.setattr(builtins, "open", missing)
    assert len(run(tmp_path).changed) == 3
