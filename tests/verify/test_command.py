"""`apex2native verify` as a user runs it: real processes, real copies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from migrate import cli
from tests.effort import long
from tests.verify.planted import CLASSIFIER

ROOT = Path(__file__).resolve().parents[2]
QUICK = CLASSIFIER.replace("default=2)", "default=1)", 1)


def verify(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "migrate", "verify", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    place.mkdir()
    (place / "train.py").write_text(QUICK)
    return place


def test_one_tree_is_migrated_in_a_copy_and_is_equal(tree: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in tree.rglob("*")}
    done = verify("--json", "--keep", str(tmp_path / "kept"), "--", sys.executable, "train.py", cwd=tree)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] == "equal"
    assert said["repeats"] is True
    assert (said["device"], said["apex"]) == ("cpu", "double")
    assert (said["steps"], said["skipped"]) == (6, 1)
    assert said["migration"]["units"]["safe"] == 1
    assert said["compared"]["weights"] == 5  # of the steps that were taken
    assert {path: path.read_bytes() for path in tree.rglob("*")} == before, "nothing of the user's is touched"
    kept = tmp_path / "kept"
    assert (kept / "tree1" / "last.pt").exists(), "the old copy ran"
    assert "GradScaler" in (kept / "tree2" / "train.py").read_text()
    assert "right" in (kept / "records" / "new" / "stdout.log").read_text()


def test_two_trees_that_part(tree: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    (new / "train.py").write_text(QUICK)
    subprocess.run([sys.executable, "-m", "migrate", str(new), "--write"], cwd=ROOT, capture_output=True, check=False)
    text = (new / "train.py").read_text()
    assert "scaler.unscale_(optimizer)\n" in text
    (new / "train.py").write_text(text.replace("                scaler.unscale_(optimizer)\n", ""))
    done = verify(str(tree), str(new), "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Parts at step 0: clipped norm" in done.stdout
    line = text[: text.index("clip_grad_norm_")].count("\n")
    assert f"Likely cause (train.py:{line}): gradients are clipped while they are still scaled" in done.stdout
    assert "It does not prove: the rounding of half precision" in done.stdout


@pytest.mark.parametrize(
    ("script", "lacks"),
    [
        ("import nosuchpackage.layers\n", "the module nosuchpackage is missing: install nosuchpackage"),
        ("print(1)\n", "no process of the command imported torch"),
    ],
)
def test_a_script_that_cannot_run_says_what_it_lacks(tree: Path, script: str, lacks: str) -> None:
    (tree / "run.py").write_text(script)
    done = verify("--", sys.executable, "run.py", cwd=tree)
    assert done.returncode == 2
    assert lacks in done.stderr
    assert "the old code cannot run here" in done.stderr
    assert "Traceback" not in done.stderr


@long
def test_a_folder_of_stand_ins_lies_over_both_trees(tree: Path, tmp_path: Path) -> None:
    (tree / "train.py").write_text("import datalib\nassert open('made/up.txt').read() == 'x'\n" + QUICK)
    stubs = tmp_path / "stubs"
    (stubs / "made").mkdir(parents=True)
    (stubs / "made" / "up.txt").write_text("x")
    (stubs / "datalib.py").write_text("")
    done = verify("--stub", str(stubs), "--steps", "2", "--", sys.executable, "train.py", cwd=tree)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "what follows step 2" in done.stdout


@long
def test_data_of_the_tree_can_be_linked(tree: Path, tmp_path: Path) -> None:
    (tree / "data").mkdir()
    (tree / "data" / "x.bin").write_bytes(bytes(3000))
    words = ["--copy-limit", "0.000002", "--", sys.executable, "train.py"]
    done = verify(*words, cwd=tree)
    assert done.returncode == 2
    assert "--link data" in done.stderr
    (tree / "train.py").write_text("assert len(open('data/x.bin', 'rb').read()) == 3000\n" + QUICK)
    done = verify("--link", "data", "--copy-limit", "0.00001", "--steps", "1", *words[2:], cwd=tree)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name the training command behind --"),
        (["--"], "there is no command behind --"),
        (["a", "b", "c", "--", "python"], "name one TREE, or two"),
        (["nothere", "--", "python"], "nothere is no folder"),
        (["--steps", "many", "--", "python"], "a whole number from 0 up"),
        (["--timeout", "soon", "--", "python"], "a number above 0"),
        (["--stub", "nothere", "--", "python"], "nothere is no folder"),
        (["--link", "../x", "--", "python"], "--link ../x: there is no such file"),
        (["--keep", ".", "--", "python"], "it is there already and not an empty folder"),
        (["--seed", "1", "--seed", "2", "--", "python"], "given twice"),
        (["--", "no-such-command-anywhere"], "cannot be started"),
    ],
)
def test_bad_input_is_one_sentence(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tree)
    assert cli.main(["verify", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.splitlines()[-1].startswith("apex2native: ")


def test_a_tree_without_apex_is_nothing_to_compare(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "train.py").write_text("import torch\n")
    assert cli.main(["verify", str(tree), "--", "python", "train.py"]) == 2
    assert "the migration changes nothing in this tree" in capsys.readouterr().err


def test_a_tree_left_by_hand_says_why(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "train.py").write_text("from apex.RNN import LSTM\nnet = LSTM(1, 2)\n")
    assert cli.main(["verify", str(tree), "--", "python", "train.py"]) == 2
    assert "the migration leaves all of this tree by hand (train.py:" in capsys.readouterr().err


def test_what_is_stopped_leaves_nothing_behind(tree: Path, tmp_path: Path) -> None:
    (tree / "train.py").write_text("import time\nopen('started', 'w').close()\ntime.sleep(600)\n" + QUICK)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "migrate", "verify", str(tree), "--", sys.executable, "train.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list(scratch.glob("*/tree1/started")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "Traceback" not in said
    assert not list(scratch.iterdir())
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    assert str(scratch) not in running
