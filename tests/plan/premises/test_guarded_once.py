"""A function that initializes once, by a flag that it sets itself, and that is called again."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, fp16=True):
        self.fp16, self.ready = fp16, False
        self.network = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1)

    def begin(self):
        if not self.ready and self.fp16:
            self.network, self.optimizer = amp.initialize(self.network, self.optimizer, opt_level="O1")
{set}

    def load(self, state):
        self.network.load_state_dict(state)
        {again}

    def run(self, loader):
        self.begin()
        for x in loader:
            loss = self.network(x).sum()
            self.optimizer.zero_grad()
            if self.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()


trainer = Trainer()
trainer.load(state)
trainer.run(loader)
"""
BEHIND, WITHIN = "        self.ready = True", "            self.ready = True"


@pytest.mark.parametrize(
    ("set_", "again", "stays"),
    [(BEHIND, "self.begin()", True), (BEHIND, "pass", False), (WITHIN, "self.begin()", False), (WITHIN, "pass", False)],
)
def test_the_scaler_would_be_made_anew(set_: str, again: str, stays: bool) -> None:
    """It was, with `enabled=not self.ready and self.fp16`: all that followed ran in float32."""
    result = migrate_module(TEXT.format(set=set_, again=again), Settings())
    told = [one.message for one in result.findings if "is set behind it, and begin() is called again" in one.message]
    assert bool(told) is stays and (result.new_text is None) is stays
