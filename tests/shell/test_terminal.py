"""What a person sees: a real pseudo-terminal, a real pager."""

from __future__ import annotations

import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CTRL_C = b"\x03"
LEGACY = """\
import torch
from apex import amp


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""


def on_terminal(
    *words: str, cwd: Path, columns: int = 80, answers: Sequence[bytes] = (), **environment: str
) -> tuple[str, int]:
    """Run the tool on a terminal of so many columns, and type the next answer at each prompt; what it showed, and its
    exit code. Ctrl-C is pressed again every second: Python misses one between its prompt and its read (input())."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    variables.pop("COLUMNS", None)
    variables.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "migrate", *words], cwd=cwd, env={**variables, **environment},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
    )  # fmt: skip
    os.close(theirs)
    shown, left, typed, pressed = b"", list(answers), b"", 0.0
    deadline = time.monotonic() + 60
    while (now := time.monotonic()) < deadline:
        if left and shown.count(b"]? ") > len(answers) - len(left):
            typed, pressed = left.pop(0), now
            os.write(ours, typed)
        elif typed == CTRL_C and now - pressed > 1:
            pressed = now
            os.write(ours, typed)
        if select.select([ours], [], [], 0.05)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        elif process.poll() is not None:
            break
    # Before the terminal goes: one that goes while the tool is still ending would end it by SIGHUP.
    code = process.wait(10)
    os.close(ours)
    return shown.decode().replace("\r\n", "\n"), code


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(LEGACY)
    return tmp_path


def test_a_diff_goes_through_the_pager(legacy: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager.sh"
    pager.write_text(f'#!/bin/sh\necho "LESS=$LESS" > {tmp_path}/seen\ncat >> {tmp_path}/seen\n')
    pager.chmod(0o755)
    shown, code = on_terminal("a.py", cwd=legacy, PAGER=str(pager))
    seen = (tmp_path / "seen").read_text()
    assert seen.startswith("LESS=FRX\n")
    assert "GradScaler" in seen and "\x1b[32m" in seen, "coloured as on the terminal"
    assert "GradScaler" not in shown and "Units" in shown
    assert code == 1


@pytest.mark.parametrize("pager", ["cat | tee {0} > /dev/null", "X=1 tee {0} > /dev/null", "tee $PLACE > /dev/null"])
def test_a_pager_may_be_a_command_of_the_shell(legacy: Path, tmp_path: Path, pager: str) -> None:
    place = str(tmp_path / "seen")
    shown, code = on_terminal("a.py", cwd=legacy, PAGER=pager.format(place), PLACE=place)
    assert "GradScaler" in Path(place).read_text()
    assert "GradScaler" not in shown and "Units" in shown
    assert code == 1


@pytest.mark.parametrize(
    ("words", "pager"), [(["--no-pager"], "false"), ([], ""), ([], "cat"), ([], "no-such-pager"), ([], "'")]
)
def test_without_a_pager_nothing_is_lost(legacy: Path, words: list[str], pager: str) -> None:
    shown, code = on_terminal("a.py", *words, cwd=legacy, PAGER=pager)
    assert "GradScaler" in shown and "Units" in shown
    assert "Traceback" not in shown
    assert code == 1


def test_a_pager_that_is_left_at_once_is_no_error(legacy: Path) -> None:
    for number in range(40):
        (legacy / f"more{number}.py").write_text(LEGACY)
    shown, code = on_terminal(".", cwd=legacy, PAGER="true")
    assert "Units" in shown and "Traceback" not in shown and "Broken" not in shown
    assert code == 1


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_findings_are_wrapped_and_hang(legacy: Path, columns: int) -> None:
    shown, _ = on_terminal("a.py", "--check", cwd=legacy, columns=columns, NO_COLOR="1")
    lines = shown.splitlines()
    at = next(at for at, line in enumerate(lines) if "APX021" in line)
    assert lines[at].startswith("  review  APX021  line")
    assert lines[at + 1].startswith(" " * 18) and lines[at + 1].strip()
    assert max(map(len, lines[at : at + 3])) <= columns


@pytest.mark.parametrize("columns", [1, 20])
def test_a_narrow_terminal_loses_nothing(legacy: Path, columns: int) -> None:
    shown, code = on_terminal("a.py", "--check", cwd=legacy, columns=columns, NO_COLOR="1")
    assert "APX021" in shown and "Traceback" not in shown
    assert code == 1


def piped(*words: str, cwd: Path) -> str:
    return subprocess.run(
        [sys.executable, "-m", "migrate", *words], cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip


def test_the_same_of_many_files_is_said_once(legacy: Path) -> None:
    for number in range(13):
        (legacy / f"b{number:02}.py").write_text(LEGACY)
    said = piped(".", "--check", cwd=legacy)
    assert said.count("APX021") == 1
    assert "In 14 files" in said
    assert "          b12.py: line 7" in said
    for name in ("c.py",):
        (legacy / name).write_text("from apex.RNN import LSTM\nnet = LSTM(1, 2)\n")
    assert "\nc.py\n  manual" in piped(".", "--check", cwd=legacy), "what is said of few files stays beside them"


def test_the_last_line_says_what_to_do_next(legacy: Path) -> None:
    assert piped("a.py", "--check", "--dtype", "float16", "-j", "2", "--jobs=2", cwd=legacy).splitlines()[-1] == (
        "Next: apex2native a.py --dtype float16 --write"
    )
    (legacy / "--odd name.py").write_text(LEGACY)
    assert piped("--check", "--", "--odd name.py", cwd=legacy).splitlines()[-1] == (
        "Next: apex2native --write -- '--odd name.py'"
    )
    for name in ("explain", "migrate"):
        (legacy / name).mkdir()
        (legacy / name / "a.py").write_text(LEGACY)
        for words in (["migrate", name, "--check"], ["--check", name]):
            assert piped(*words, cwd=legacy).splitlines()[-1] == f"Next: apex2native migrate {name} --write"
    assert piped("a.py", "--write", cwd=legacy).splitlines()[-1] == (
        "Next: read the diff, look at a.py:7 first, run your tests, or apex2native verify."
    )
    assert piped("a.py", cwd=legacy).splitlines()[-1] == "Nothing is left to do."
    (legacy / "a.ipynb").write_text(json.dumps({
        "cells": [{"cell_type": "code", "source": "from apex.RNN import LSTM\nnet = LSTM(1, 2)\n"}],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5,
    }))  # fmt: skip
    assert piped("a.ipynb", cwd=legacy).splitlines()[-1] == "Next: look at a.ipynb (cell 0, lines 1, 2) first."
