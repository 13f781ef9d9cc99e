"""Networks that train themselves: who wraps what their methods run."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
import torch
from torch import nn
from apex import amp


class Net(nn.Module):
    def __init__(self, lr):
        super().__init__()
        self.body = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.parameters(), lr=lr)
        self.body, self.opt = amp.initialize(self.body, self.opt, opt_level="O1")

    def fit(self, loader):
        for x, y in loader:
            self.opt.zero_grad()
            loss = nn.functional.cross_entropy(self.body(x), y)
            with amp.scale_loss(loss, self.opt) as scaled:
                scaled.backward()
            self.opt.step()

    def NAME(self, loader):
        found = []
        for x in loader:
            with torch.no_grad():
                found.append(self.body(x))
        return found
"""
INSIDE = "            with torch.no_grad(), torch.autocast("


def migrated(text: str) -> str:
    result = engine.migrate_module(text, Settings())
    assert result.new_text is not None, result.findings
    return result.new_text


def test_a_method_that_nobody_in_sight_calls_wraps_itself() -> None:
    assert INSIDE in migrated(TEXT.replace("NAME", "evaluate"))


def test_callers_in_sight_are_what_is_wrapped() -> None:
    new = migrated(TEXT.replace("NAME", "evaluate") + "\n\nnet = Net(0.1)\nnet.fit(loader)\nnet.evaluate(loader)\n")
    assert INSIDE not in new and "    net.evaluate(loader)\n" in new


@pytest.mark.parametrize("name", ["forward", "__call__"])
def test_what_python_calls_is_wrapped_by_its_callers(name: str) -> None:
    assert INSIDE not in migrated(TEXT.replace("NAME", name))


def test_gradients_of_itself_where_it_is_made_without_positions() -> None:
    itself = TEXT.replace("NAME", "evaluate").replace("self.opt.zero_grad()", "self.zero_grad()")
    new = migrated(itself + "\n\ndef main(args):\n    net = Net(**vars(args))\n    net.fit(loader)\n")
    assert "scaler.step(self.opt)" in new


KEEPS_AMP = """\
import torch
from torch import nn


class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.amp = None
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, chunks):
        self.optimizer.zero_grad()
        for x, y in chunks:
            loss = nn.functional.cross_entropy(self.net(x), y)
            if self.amp is not None:
                with self.amp.scale_loss(loss, self.optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
        self.optimizer.step()


def begin(trainer):
    from apex import amp

    trainer, trainer.optimizer = amp.initialize(trainer, trainer.optimizer, opt_level="O1")
    trainer.amp = amp


trainer = Trainer()
begin(trainer)
for chunks in loader:
    trainer.step(chunks)
"""


def test_amp_that_a_network_keeps_is_no_part_that_it_runs() -> None:
    new = migrated(KEEPS_AMP)
    assert "            self.scaler.scale(loss).backward()\n" in new and "apex" not in new
