"""``--interactive`` on a real terminal, in a real git repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.made import git
from tests.shell.test_terminal import CTRL_C, LEGACY, ROOT, on_terminal

INITIALIZES = """\
import torch
from apex import amp
from loop import train

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
train(model, optimizer, [])
"""
SCALES = """\
import torch
from apex import amp


def train(model, optimizer, loader):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
FILES = {"a.py": LEGACY, "b.py": LEGACY, "program/main.py": INITIALIZES, "program/loop.py": SCALES}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "-c", "user.email=a@b.c", "-c", "user.name=n", "commit", "-q", "-m", "x")
    return place


def changed(place: Path) -> set[str]:
    return {name for name, text in FILES.items() if (place / name).read_text() != text}


@pytest.mark.parametrize(
    ("answers", "written", "code"),
    [
        ([b"y\n", b"y\n", b"y\n"], set(FILES), 0),
        ([b"n\n", b"y\n", b"n\n"], {"b.py"}, 1),
        ([b"n\n", b"n\n", b"y\n"], {"program/main.py", "program/loop.py"}, 1),
        ([b"a\n"], set(FILES), 0),
        ([b"y\n", b"q\n"], {"a.py"}, 1),
        ([b"y\n", b"\x04"], {"a.py"}, 1),
        ([b"q\n"], set(), 1),
        ([b"abort\n", b"nay\n", b"yes\n", b"no\n", b"quit\n"], {"a.py"}, 1),
        ([b"?\n", b"w\n", b"d\n", b"x\n", b"\n", b"Y\n", b"a\n"], set(FILES), 0),
    ],
)
def test_what_is_accepted_is_written(repository: Path, answers: list[bytes], written: set[str], code: int) -> None:
    shown, ended = on_terminal(".", "-i", cwd=repository, answers=answers)
    assert changed(repository) == written, shown
    assert ended == code
    assert "(1/3) a.py: 1 training loop, review" in shown
    assert "Traceback" not in shown


def test_why_and_help_are_answers(repository: Path) -> None:
    shown, _ = on_terminal(".", "-i", cwd=repository, answers=[b"w\n", b"?\n", b"q\n"])
    assert "APX021" in shown and "review: the same, but for the differences that are named above." in shown
    assert "leave this and all that follow" in shown


def test_what_was_declined_is_asked_again_and_ends_the_same(repository: Path) -> None:
    on_terminal(".", "-i", cwd=repository, answers=[b"n\n", b"y\n", b"y\n"])
    git(repository, "-c", "user.email=a@b.c", "-c", "user.name=n", "commit", "-aqm", "some")
    shown, code = on_terminal(".", "-i", cwd=repository, answers=[b"y\n"])
    assert "(1/1) a.py" in shown and code == 0
    again = subprocess.run(
        [sys.executable, "-m", "migrate", str(repository), "--check"], cwd=ROOT, capture_output=True, check=False
    )
    assert again.returncode == 0


def test_ctrl_c_writes_nothing(repository: Path) -> None:
    shown, code = on_terminal(".", "-i", cwd=repository, answers=[b"y\n", CTRL_C])
    assert changed(repository) == set()
    assert code == 130, shown


def test_dirty_files_are_refused_before_the_first_question(repository: Path) -> None:
    (repository / "b.py").write_text(LEGACY + "\n# mine\n")
    shown, code = on_terminal(".", "-i", cwd=repository, answers=[b"y\n", b"y\n", b"y\n"])
    assert code == 2 and "b.py (uncommitted changes)" in shown and "Apply this" not in shown
    assert (repository / "a.py").read_text() == LEGACY


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "--interactive asks on a terminal, and this is none"),
        (["--check"], "not allowed with argument"),
        (["--write"], "not allowed with argument"),
        (["--format", "html"], "goes with neither"),
        (["--fix-packaging"], "goes with neither"),
    ],
)
def test_where_nobody_can_be_asked(repository: Path, words: list[str], sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", str(repository), "--interactive", *words],
        cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and sentence in done.stderr
    assert changed(repository) == set()


def test_the_report_accounts_for_what_was_declined(repository: Path) -> None:
    import json

    on_terminal(
        ".", "-i", "--report-json", str(repository.parent / "r.json"), cwd=repository, answers=[b"n\n", b"y\n", b"y\n"]
    )
    report = json.loads((repository.parent / "r.json").read_text())
    (file,) = [one for one in report["files"] if one["path"] == "a.py"]
    assert file["status"] == "unchanged" and file["changes"] == []
    (finding,) = [one for one in file["findings"] if "declined" in one["message"]]
    assert finding["severity"] == "manual" and finding["line"] == 2
