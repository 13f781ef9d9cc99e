"""What several runs say together: how they end, where they were ended, what they print."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from migrate.verify import running, telling
from migrate.verify.running import Bounds, Run, Settings
from migrate.verify.verdict import Plan, Verdict, judge
from tests.verify.planted import CLASSIFIER, GAN
from tests.verify.play import Player

SHORT = CLASSIFIER.replace("default=2)", "default=1)")


def judged(
    player: Player,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    changes: Sequence[tuple[str, str]] = (),
    ended: Mapping[str, int] | None = None,
) -> Verdict:
    """The verdict on a program and its migration with changes. ``ended``: after so many steps the runs are ended."""
    trees = [tmp_path / name for name in ("old", "new")]
    for tree in trees:
        tree.mkdir()
        (tree / "train.py").write_text(old)
    words = [sys.executable, "-m", "migrate", str(trees[1]), "--write"]
    subprocess.run(words, capture_output=True, check=False)
    text = (trees[1] / "train.py").read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    (trees[1] / "train.py").write_text(text)

    def run(command: Sequence[str], settings: Settings, bounds: Bounds, stubs: Path | None = None) -> Run:
        name = Path(settings.out).name
        if ended is None or name not in ended:
            return player.run(command, settings, bounds, stubs)
        done = player.run(command, replace(settings, steps=ended[name]), bounds, stubs)
        return replace(done, ended="time", code=None)

    monkeypatch.setattr(running, "run", run)
    records = tmp_path / "records"
    nowhere = Path("/nowhere")
    plan = Plan(("python", "train.py"), *trees, nowhere, nowhere, records, Bounds(50, 60.0, 1 << 34))
    return judge(plan, lambda name, run: None)


UPDATE = "                scaler.update()\n"


@pytest.mark.parametrize("said", ["sys.exit(3)", "os.kill(os.getpid(), 9)"])
def test_another_exit_code_parts(player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """A script that catches its exceptions and exits does not raise."""
    program = "import os\nimport sys\n" + SHORT
    found = judged(player, tmp_path, monkeypatch, program, [("\nmain()\n", f"\nmain()\nprint('bad')\n{said}\n")])
    assert found.parted is not None and found.cause is not None
    if "exit" in said:  # what is killed loses what it recorded last
        assert [one.quantity for one in found.parted.differences] == ["exit code"]
    assert ("exit code 3, and says last: bad" if "exit" in said else "signal 9") in found.cause.text


def test_the_same_exit_code_does_not_part(player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys\n" + SHORT.replace("\nmain()\n", "\nmain()\nsys.exit(3)\n")
    assert judged(player, tmp_path, monkeypatch, program).outcome == "equal"


def test_runs_that_were_ended_are_compared_as_far_as_all_came(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = {"old": 6, "again": 5, "new": 4}
    found = judged(player, tmp_path, monkeypatch, SHORT, ended=ended)
    assert found.outcome == "equal"
    assert found.old[0].steps == 4
    assert "what follows step 4, as the old code was ended there" in telling.does_not_prove(found)


@pytest.mark.parametrize("ended", [{"new": 4}, {"old": 6, "again": 6, "new": 2}], ids=["finished", "ended"])
def test_new_code_that_is_stuck_parts(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: Mapping[str, int]
) -> None:
    found = judged(player, tmp_path, monkeypatch, SHORT, ended=ended)
    assert found.parted is not None and found.parted.window == ended["new"]
    assert found.cause is not None and "it took too much time" in found.cause.text


def test_new_code_that_raises_parts_though_the_old_was_ended(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judged(
        player, tmp_path, monkeypatch, SHORT, [(UPDATE, UPDATE + "                nothing()\n")],
        ended={"old": 6, "again": 5},
    )  # fmt: skip
    assert found.parted is not None and found.parted.window == 1
    assert found.cause is not None and found.cause.name == "exception"


def test_what_is_printed_is_compared_without_what_apex_prints(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judged(player, tmp_path, monkeypatch, SHORT, [('print("right", ', 'print("wrong", ')])
    assert found.outcome == "equal"
    assert len(found.notes) == 1 and "was 'right" in found.notes[0] and "is 'wrong" in found.notes[0]


def test_several_loss_scales_are_the_cause_by_name(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        GAN.replace('opt_level="O1"', 'opt_level="O1", num_losses=2')
        .replace("(loss_d, opt_d)", "(loss_d, opt_d, loss_id=0)")
        .replace("(loss_g, opt_g)", "(loss_g, opt_g, loss_id=1)")
    )
    found = judged(player, tmp_path, monkeypatch, program)
    assert found.cause is not None and found.cause.name == "several loss scales"
