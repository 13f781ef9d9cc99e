"""A method that is kept in an attribute or a table is the one that is called by it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings, Severity

TEXT = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, net, use_amp, other):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        if use_amp:
            self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")
        KEPT

    def amp_backward(self, loss):
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()

    def plain_backward(self, loss):
        loss.backward()

    def step(self, x):
        loss = self.net(x).pow(2).mean()
        self.opt.zero_grad()
        self.backward(loss)
        self.opt.step()


def main(use_amp, other, data):
    trainer = Trainer(torch.nn.Linear(4, 3), use_amp, other)
    for x in data:
        trainer.step(x)
"""
KEPT = {
    "a choice": "self.backward = self.amp_backward if use_amp else self.plain_backward",
    "the other way round": "self.backward = self.plain_backward if not use_amp else self.amp_backward",
    "an if": """
        if use_amp:
            self.backward = self.amp_backward
        else:
            self.backward = self.plain_backward""",
    "a table": "self.backward = {True: self.amp_backward, False: self.plain_backward}[use_amp]",
}
OTHER = {
    "another condition": "self.backward = self.amp_backward if other else self.plain_backward",
    "the wrong way round": "self.backward = self.plain_backward if use_amp else self.amp_backward",
    "changed later": KEPT["a choice"] + "\n        if other:\n            self.amp_backward = self.plain_backward",
}


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_kept_by_the_condition_of_initialize(kept: str) -> None:
    result = migrate_module(TEXT.replace("KEPT", kept), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert result.new_text is not None and "self.scaler.scale(loss).backward()" in result.new_text


@pytest.mark.parametrize("kept", OTHER.values(), ids=OTHER)
def test_kept_by_another_one(kept: str) -> None:
    result = migrate_module(TEXT.replace("KEPT", kept), Settings())
    assert result.new_text is None
    assert [f.message for f in result.findings if f.severity is Severity.MANUAL and f.rule == "APX091"]
