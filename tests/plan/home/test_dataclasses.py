"""A dataclass that trains: what it runs behind its own constructor, and the optimizer that it is handed."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

INITIALIZES = """\
from dataclasses import dataclass

import torch
from apex import amp


@dataclass
class Trainer:
    model: torch.nn.Module
    lr: float = 0.1

    def __post_init__(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def fit(self, batches):
        for x, y in batches:
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()


Trainer(torch.nn.Linear(8, 1)).fit(batches)
"""
BASE = INITIALIZES.replace("def fit", "@dataclass\nclass Other(Trainer):\n    log: str = ''\n\n    def fit")
BASE = BASE.replace("    @dataclass", "\n@dataclass").replace("\nTrainer(", "\nOther(")


@pytest.mark.parametrize("text", [INITIALIZES, BASE])
def test_what_runs_behind_its_constructor_makes_the_scaler(text: str) -> None:
    result = migrate_module(text, Settings())
    assert result.new_text is not None and '        self.scaler = torch.amp.GradScaler("cuda")\n' in result.new_text
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]


IS_HANDED = """\
from dataclasses import dataclass

import torch
from apex import amp


@dataclass
class Learner:
    model: torch.nn.Module
    optimizer: torch.optim.Optimizer

    def step(self, x, y):
        loss = torch.nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()


def main(batches):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    learner = Learner(model, optimizer=optimizer)
    for x, y in batches:
        learner.step(x, y)


main(load())
"""


def test_who_makes_one_gives_it_the_scaler() -> None:
    result = migrate_module(IS_HANDED, Settings())
    assert result.new_text is not None and '    learner.scaler = torch.amp.GradScaler("cuda")\n' in result.new_text
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]


@pytest.mark.parametrize(
    ("old", "new"),
    [("@dataclass\n", "@dataclass(frozen=True)\n"), ("@dataclass\n", "@dataclass(slots=True)\n")],
)
def test_one_that_takes_no_attribute_stays(old: str, new: str) -> None:
    result = migrate_module(IS_HANDED.replace(old, new), Settings())
    assert result.new_text is None and [unit.applicability for unit in result.units] == [Applicability.MANUAL]


TWO = """\
    nets, optimizers = amp.initialize([net, other], [optimizer, second], opt_level="O1")
    learner = Learner(nets[0], optimizers[0])
    another = Learner(nets[1], optimizers[1])
"""
MADE_ANEW = "    learner = dataclasses.replace(Learner(model, optimizer), model=model)\n"
COPIED = "    first = Learner(model, optimizer)\n    learner = dataclasses.replace(first, model=model)\n"


@pytest.mark.parametrize("made", [TWO, MADE_ANEW, COPIED, "    learner = Learner(model, optimizer)\n" * 2])
def test_where_there_are_several_nobody_knows_which_has_it(made: str) -> None:
    text = IS_HANDED.replace("    learner = Learner(model, optimizer=optimizer)\n", made)
    assert migrate_module(text, Settings()).new_text is None
