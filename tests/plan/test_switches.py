"""Objects that each switch mixed precision on for themselves are named, where a program makes several."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, fp16, data):
        self.fp16, self.data = fp16, data
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if self.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def train(self):
        for x in self.data:
            loss = self.model(x).sum()
            if self.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()


class One(Trainer):
    def __init__(self, data):
        super(One, self).__init__(True, data)


class Other(One):
    def __init__(self, data):
        super().__init__(data)


MADE
"""


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("Trainer(True, data).train()", False),
        ("Trainer(True, data).train()\nTrainer(False, data).train()", True),
        ("One(data).train()", False),
        ("Other(data).train()", False),
        ("One(data).train()\nOther(data).train()", True),
        ("Other(data).train()\nTrainer(False, data).train()", True),
    ],
)
def test_several_objects(made: str, named: bool) -> None:
    findings = migrate_module(TEXT.replace("MADE", made), Settings()).findings
    assert any(one.rule == "APX035" and "own switch" in one.message for one in findings) is named
