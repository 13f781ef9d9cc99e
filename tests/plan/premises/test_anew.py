"""What runs ahead of ``initialize`` is named where a process comes there again: Apex's casts were on by then."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

RUN = """\
import torch
from apex import amp


def validate(model, x):
    with torch.no_grad():
        return model(x).mean().item()


def run(x, level="{level}"):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {ahead}
    model, optimizer = amp.initialize(model, optimizer, opt_level=level)
    for _ in range(3):
        loss = model(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def main(x, y, short=False):
    {calls}


main(torch.randn(3, 4), torch.randn(3, 4))
"""


def _told(text: str) -> list[str]:
    findings = migrate_module(text, Settings()).findings
    return [one.message for one in findings if one.rule == "APX035"]


@pytest.mark.parametrize("ahead", ["print(validate(model, x))", "print(model(x))"])
@pytest.mark.parametrize(
    ("calls", "again"),
    [
        ("run(x)", False),
        ("run(x)\n    run(y)", True),
        ("for one in (x, y):\n        run(one)", True),
        ("return [run(one) for one in (x, y)]", True),
        ("list(map(run, (x, y)))", True),
        ("run(x) if short else run(y)", False),
        ("if short:\n        run(x)\n    else:\n        run(y)", False),
    ],
)
def test_a_function_that_runs_again(ahead: str, calls: str, again: bool) -> None:
    told = _told(RUN.format(ahead=ahead, calls=calls, level="O1"))
    assert bool(told) is again and all("run() runs more than once" in one for one in told)


def test_nothing_ahead_or_casts_of_the_model_alone_is_not_told() -> None:
    assert not _told(RUN.format(ahead="print(x)", calls="run(x)\n    run(y)", level="O1"))


OBJECT = """\
import torch
from apex import amp


class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def evaluate(self, x):
        with torch.no_grad():
            return self.model(x).mean().item()

    def fit(self, x):
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        for _ in range(3):
            loss = self.model(x).sum()
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()


def main(x):
    {begin}
    for fold in range(2):
        {each}
        print(trainer.evaluate(x))
        trainer.fit(x)


main(torch.randn(3, 4))
"""


MADE = "trainer = Trainer()"


@pytest.mark.parametrize(("begin", "each", "anew"), [("pass", MADE, True), (MADE, "", False)])
def test_an_object_of_each_round_has_a_scaler_of_its_own(begin: str, each: str, anew: bool) -> None:
    told = _told(OBJECT.format(begin=begin, each=each))
    assert bool(told) is anew and all("made anew" in one for one in told)
