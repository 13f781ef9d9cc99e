"""Bounds, copies and the environment of a run: no torch is needed for these."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from migrate.errors import UserError
from migrate.verify import trees
from migrate.verify.running import Bounds, Run, run
from tests.verify.play import settings


def ran(tmp_path: Path, code: str, **bounds: Any) -> Run:
    tree = tmp_path / "tree"
    tree.mkdir(exist_ok=True)
    (tree / "run.py").write_text(code)
    limits = {"steps": 1, "seconds": 60.0, "memory": 1 << 34, **bounds}
    return run([sys.executable, "run.py"], settings("old", tree, origin="/home/me/repo"), Bounds(**limits))


def test_too_long(tmp_path: Path) -> None:
    begun = time.monotonic()
    done = ran(tmp_path, "import time; time.sleep(100)", seconds=0.5)
    assert (done.ended, done.code) == ("time", None)
    assert time.monotonic() - begun < 30


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only Linux says how much memory a process holds")
@pytest.mark.parametrize("alone", [False, True])
def test_too_much_memory_also_of_its_children(tmp_path: Path, alone: bool) -> None:
    eat = "x = bytearray(200 << 20); import time; time.sleep(100)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {eat!r}], start_new_session={alone})"
    assert ran(tmp_path, code, memory=100 << 20).ended == "memory"


def test_too_much_printed(tmp_path: Path) -> None:
    assert ran(tmp_path, "while True: print('x' * 1000)", output=1 << 20).ended == "output"


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only Linux says what is running")
def test_nothing_outlives_a_run(tmp_path: Path, alone: bool) -> None:
    """torchrun starts its processes in sessions of their own."""
    code = f"import subprocess; subprocess.Popen(['sleep', '98.7654'], start_new_session={alone})"
    assert ran(tmp_path, code).ended == "itself"
    deadline = time.monotonic() + 20  # a process that was killed takes its time to go
    while _sleeping() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _sleeping() == []


def test_temporary_files_go_with_the_run(tmp_path: Path) -> None:
    code = "import tempfile; print(tempfile.mkdtemp()); import time; time.sleep(100)"
    done = ran(tmp_path, code, seconds=1.5)
    assert done.ended == "time"
    made = Path(done.printed("stdout").strip())
    assert made.is_absolute() and not made.exists() and not made.parent.exists()


def _sleeping() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdecimal() and b"98.7654" in _command_line(name)]


def _command_line(process: str) -> bytes:
    try:
        return Path("/proc", process, "cmdline").read_bytes()
    except OSError:
        return b""


def test_paths_into_the_tree_are_those_of_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/home/me/repo/src:lib")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "run.py").write_text(
        "import os, sys; print(sys.argv[1:], os.environ['PYTHONPATH'].split(':')[1:], sys.path[0])"
    )
    asked = settings("old", tree, origin="/home/me/repo")
    done = run(
        [sys.executable, "run.py", "/home/me/repo/a.txt", "/home/me/repository"], asked, Bounds(1, 60.0, 1 << 34)
    )
    assert done.printed("stdout").split("] ") == [
        f"['{tree}/a.txt', '/home/me/repository'",
        f"['{tree}/src', 'lib'",
        f"{tree}\n",
    ]


def test_a_copy_leaves_out_what_no_run_needs(tmp_path: Path) -> None:
    tree, to = tmp_path / "tree", tmp_path / "copy"
    for name in (".git/config", "env/pyvenv.cfg", "pkg/__pycache__/x.pyc", "pkg/a.py", "data/big.bin", "data2/x"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    (tree / "loop").symlink_to(".")
    (tree / "outside").symlink_to("/etc")
    os.mkfifo(tree / "pipe")
    (tree / "locked.py").write_text("x")
    (tree / "locked.py").chmod(0o400)
    trees.copy(tree, to, ["data"], trees.Limit())
    found = sorted(str(path.relative_to(to)) for path in to.rglob("*") if not path.is_dir() or path.is_symlink())
    assert found == ["data", "data2/x", "locked.py", "loop", "outside", "pkg/a.py"]
    assert os.readlink(to / "data") == str(tree / "data")
    (to / "locked.py").write_text("y")
    assert (tree / "locked.py").read_text() == "x"


def test_a_copy_that_is_too_large_is_refused_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "tree" / "runs").mkdir(parents=True)
    (tmp_path / "tree" / "runs" / "x").write_bytes(bytes(2000))
    with pytest.raises(UserError, match="--link runs"):
        trees.copy(tmp_path / "tree", tmp_path / "copy", [], trees.Limit(size=1000))
    assert not (tmp_path / "copy").exists()


def test_copies_within_the_tree_are_not_copied_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    scratch = tmp_path / "kept"
    for number in (1, 2):
        trees.copy(tmp_path, scratch / f"tree{number}", [], trees.Limit(), scratch)
    assert sorted(str(path.relative_to(scratch)) for path in scratch.rglob("*.py")) == ["tree1/a.py", "tree2/a.py"]
