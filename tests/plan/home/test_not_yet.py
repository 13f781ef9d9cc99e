"""A condition that says that ``initialize`` did not run yet says nothing of whether mixed precision is on."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TRAINER = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, model):
        self.model = model
        FIRST

    def setup(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        LAST

    def step(self, x):
        if TEST:
            self.setup()
        loss = self.model(x).sum()
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.optimizer.step()


def main(loader):
    trainer = Trainer(torch.nn.Linear(4, 2))
    for x in loader:
        trainer.step(x)
"""
FORMS = [
    ("self.optimizer = None", "pass", "self.optimizer is None"),
    ("self.optimizer = None", "pass", "not self.optimizer"),
    ("self.ready = False", "self.ready = True", "not self.ready"),
    ("pass", "pass", 'not hasattr(self, "optimizer")'),
]


@pytest.mark.parametrize(("first", "last", "test"), FORMS)
def test_not_yet(first: str, last: str, test: str) -> None:
    text = TRAINER.replace("FIRST", first).replace("LAST", last).replace("TEST", test)
    result = migrate_module(text, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert result.new_text is not None and 'torch.amp.GradScaler("cuda")\n' in result.new_text


def test_set_from_outside_as_well() -> None:
    """What somebody else sets may have left Apex out: it stays a condition."""
    text = TRAINER.replace("FIRST", "self.ready = model.frozen").replace("LAST", "self.ready = True")
    result = migrate_module(text.replace("TEST", "not self.ready"), Settings())
    assert result.new_text is None or "enabled" in result.new_text


FILLED = """\
import torch
from apex import amp


def setup(state):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state["model"], state["optimizer"] = amp.initialize(model, optimizer, opt_level="O1")


def step(state, x):
    if TEST:
        setup(state)
    model, optimizer = state["model"], state["optimizer"]
    loss = model(x).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()


def main(loader):
    state = {}
    for x in loader:
        step(state, x)
"""


@pytest.mark.parametrize("test", ['"optimizer" not in state', "not state"])
def test_a_dictionary_that_is_filled(test: str) -> None:
    """Asked behind the setup, the condition would switch the scaler off: the judge asks anew once an item is in it."""
    (unit,) = migrate_module(FILLED.replace("TEST", test), Settings()).units
    assert unit.applicability is Applicability.MANUAL
