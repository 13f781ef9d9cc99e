"""Classes of which no object is made take the scaler too; a run in which nobody makes one is compared all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate import engine
from migrate.judge.state import UNMADE
from migrate.judge.verdict import Difference, Verdict
from migrate.model import Applicability, Settings
from migrate.outcome import Outcome
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

SAVING = """\
import os

import torch
from apex import amp


class Restorer:
    def __init__(self, path):
        self.path = path
        if os.path.exists(path):
            self.restore()

    def restore(self):
        amp.load_state_dict(torch.load(self.path)["amp"])


class Saver:
    def __init__(self, path, model, optimizer):
        self.path, self.model, self.optimizer = path, model, optimizer

    def save(self):
        torch.save({"amp": amp.state_dict()}, self.path)
"""
SETTING_UP = """\
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
TRAIN = f"""\
import torch
from apex import amp
from saving import Saver


def main(loader):
{SETTING_UP}    saver = Saver("last.pt", model, optimizer)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    saver.save()


if __name__ == "__main__":
    main([])
"""
TEST = f"""\
import torch
from apex import amp
from train import main as train


def main(loader):
{SETTING_UP}    with torch.no_grad():
        for x, y in loader:
            print(model(x).argmax(1) == y)


if __name__ == "__main__":
    main([])
"""


def migrated(tmp_path: Path) -> Outcome:
    tree(tmp_path, {"saving.py": SAVING, "train.py": TRAIN, "test.py": TEST})
    with Spool() as spool:
        return analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1)


def grades(outcome: Outcome) -> set[Applicability]:
    return {unit.applicability for result in outcome.results for unit in result.units}


def test_who_makes_one_hands_it_a_scaler(tmp_path: Path) -> None:
    """The run of test.py makes no scaler, and nothing makes a Restorer: that is no crash of the new program."""
    outcome = migrated(tmp_path)
    assert len(outcome.changed) == 3
    assert Applicability.MANUAL not in grades(outcome)


def test_a_difference_counts_though_another_run_could_not_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Verdict((Difference("crash", 3, "it would stop"),), "it has more paths than can be followed", 8001)
    monkeypatch.setattr(engine, "validate", lambda *given: both)
    outcome = migrated(tmp_path)
    assert not outcome.changed and grades(outcome) == {Applicability.MANUAL}
    assert any("it would stop" in found.message for result in outcome.results for found in result.findings)


SCALED = """\
import torch
from apex import amp


def main(loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
WITH = "        with amp.scale_loss(loss, optimizer) as scaled_loss:\n            scaled_loss.backward()\n"
PLAIN = SCALED.replace(WITH, "        loss.backward()\n")


@pytest.mark.parametrize(("text", "times"), [(SCALED, 2), (PLAIN, 1)])
def test_the_judge_is_asked_again_only_about_another_text(
    text: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scaler can be made earlier; where nothing is scaled there is none."""
    asked: list[object] = []

    def validate(ctx: object, plans: object, texts: object, runs: object) -> Verdict:
        asked.append(texts)
        return Verdict((Difference(UNMADE, 3, "it would stop"),))

    monkeypatch.setattr(engine, "validate", validate)
    result = engine.migrate_module(text, Settings())
    assert len(asked) == times and len({*map(str, asked)}) == times
    assert [unit.applicability for unit in result.units] == [Applicability.MANUAL]
    assert any("it would stop" in found.message for found in result.findings)
