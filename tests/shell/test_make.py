"""The Makefile and the console scripts, with the environment that runs the tests."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell.support import LEGACY, PROJECT, environment, tree

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def make(*words: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *words],
        cwd=PROJECT,
        env=environment(PYTHON=python, MAKEFLAGS=""),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_help_is_the_default() -> None:
    assert make().stdout == make("help").stdout
    for target in ("test", "migrate", "compare", "bench"):
        assert f"make {target}" in make("help").stdout


def test_an_environment_that_is_given_is_used_and_nothing_is_installed() -> None:
    plan = make("-n", "test", "migrate", "compare", "bench", python="/some/python").stdout
    assert "/some/python -m pytest" in plan and "/some/python -m mypy --strict --python-version 3.10 migrate" in plan
    assert "pip" not in plan and "venv" not in plan


def test_without_one_every_target_makes_its_own() -> None:
    run = subprocess.run(
        ["make", "-n", "-B", "migrate"],
        cwd=PROJECT,
        env={key: value for key, value in environment().items() if key not in ("PYTHON", "MAKEFLAGS")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "-m venv .venv" in run.stdout
    assert "install --quiet --constraint constraints.txt --editable ." in run.stdout


def test_compare_hands_its_variables_on() -> None:
    plan = make("-n", "compare", "PROFILE=quick", "ARMS=fp32,apex-o1", "BUDGET=25m", "DATA=/a folder", "PLAN=1").stdout
    words = shlex.split(next(line for line in plan.splitlines() if " -m compare run" in line))
    assert words[1:4] == ["-m", "compare", "run"]
    assert words[4:8] == ["--profile", "quick", "--arms", "fp32,apex-o1"]
    assert words[8:] == ["--data", "/a folder", "--budget", "25m", "--plan"]


def test_every_variable_of_compare_is_an_option() -> None:
    names = next(line for line in (PROJECT / "Makefile").read_text().splitlines() if line.startswith("OPTIONS :="))
    options = [f"--{name.lower().replace('_', '-')}" for name in names.split()[2:]]
    asked = [sys.executable, "-m", "compare", "run", "--help"]
    told = subprocess.run(asked, cwd=PROJECT, capture_output=True, text=True)
    assert [option for option in options if option not in told.stdout] == []


def test_a_comparison_in_an_own_environment_tries_apex_first_and_in_a_given_one_does_not() -> None:
    own = {key: value for key, value in environment().items() if key not in ("PYTHON", "MAKEFLAGS")}
    command = ["make", "-n", "-B", "compare"]
    run = subprocess.run(command, cwd=PROJECT, env=own, capture_output=True, text=True, timeout=60)
    steps = [" ".join(line.split()) for line in run.stdout.splitlines() if " -m compare" in line]
    checked, built, ran = (step.partition(" -m ")[2] for step in steps)
    assert checked == "compare run --plan >/dev/null", "a wrong word is refused before Apex is built"
    assert built == "compare.build_apex --optional" and ran == "compare run"
    assert "build_apex" not in make("-n", "compare").stdout


def test_pending_changes_are_no_error_but_wrong_usage_is(tmp_path: Path) -> None:
    pytest.importorskip("migrate.engine")
    run = make("migrate")
    assert run.returncode == 0, run.stderr
    assert "legacy_train.py" in run.stdout and "\nUnits" in run.stdout
    assert make("migrate", "TARGET=no/such/thing").returncode != 0
    assert make("migrate", "WRITE=1").returncode != 0
    root = tree(tmp_path, {"a b/x.py": LEGACY})
    assert make("migrate", f"TARGET={root}/a b").returncode == 0
    assert (root / "a b" / "x.py").read_text() == LEGACY
