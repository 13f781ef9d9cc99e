"""A loss that a trainer puts away in an attribute is computed under autocast there, though a hook scales it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import weakref

import torch
import torch.nn.functional as F
from apex import amp


class Hook:
    def after_step(self):
        loss = READ
        self.trainer.optimizer.zero_grad()
        with amp.scale_loss(loss, self.trainer.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.trainer.optimizer.step()


class Base:
    def register(self, hooks):
        self.hooks = hooks
        for hook in hooks:
            hook.trainer = HANDED

    def train(self, data):
        for x, y in data:
            self.run_step(x, y)
            for hook in self.hooks:
                hook.after_step()


class Trainer(Base):
    def __init__(self, model):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")
        self.register([Hook()])

    def run_step(self, x, y):
        PUT


Trainer(torch.nn.Linear(4, 2)).train([])
"""
REGION = '        with torch.autocast("cuda", dtype=torch.float16):\n            '
CASES = {
    "self.trainer.loss": "self.loss = F.cross_entropy(self.model(x), y)",
    "self.trainer.outputs['loss']": "self.outputs = {'loss': F.cross_entropy(self.model(x), y)}",
    "self.trainer.outputs['loss'] / 2": "self.outputs = dict(loss=F.cross_entropy(self.model(x), y), number=len(x))",
    "sum(self.trainer.losses)": "self.losses = [F.cross_entropy(self.model(x), y)]",
}


def _migrated(read: str, put: str, handed: str) -> tuple[Applicability, str]:
    text = TEXT.replace("READ", read).replace("PUT", put).replace("HANDED", handed)
    result = migrate_module(text, Settings())
    (unit,) = result.units
    return unit.applicability, result.new_text or ""


@pytest.mark.parametrize("handed", ["weakref.proxy(self)", "self"])
@pytest.mark.parametrize("read", CASES)
def test_the_region_stands_where_the_loss_is_put_away(read: str, handed: str) -> None:
    applicability, text = _migrated(read, CASES[read], handed)
    assert applicability is Applicability.SAFE
    assert REGION + CASES[read] in text
    assert "self.trainer.scaler.scale(loss).backward()" in text


@pytest.mark.parametrize("read", ["self.trainer.scores", "self.trainer.model.loss", "make()"])
def test_what_nothing_puts_away_stays(read: str) -> None:
    assert _migrated(read, CASES["self.trainer.loss"], "self")[0] is Applicability.MANUAL
