"""Parameters that a table or a row fills of which nothing is known: a default is not what they hold for sure."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

PROGRAM = """\
import torch
from torch import nn
from apex import amp
from settings import load


class Trainer:
    def __init__(self, lr=1e-3, fp16=False):
        self.fp16 = fp16
        self.model = nn.Linear(4, 3)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        if self.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.optimizer.step()


cfg = load("a.yml")
trainer = Trainer(FILLED)
for x, y in data:
    trainer.step(x, y)
"""


@pytest.mark.parametrize(
    "filled",
    ["**cfg", "**vars(cfg)", "*cfg", "0.1, *cfg", "0.1, **cfg", "lr=0.1, **cfg", "**{**cfg}", 'cfg["lr"], cfg["fp16"]'],
)
def test_a_default_is_not_certain(filled: str) -> None:
    assert [f.rule for f in migrate_module(PROGRAM.replace("FILLED", filled), Settings()).findings] == []


@pytest.mark.parametrize("filled", ["0.1", "**{'lr': 0.1}", "*[0.1]", "0.1, False, **cfg"])
def test_one_that_is_certain_is_told(filled: str) -> None:
    found = migrate_module(PROGRAM.replace("FILLED", filled), Settings()).findings
    assert any("no path was found" in f.message or "never" in f.message for f in found)
