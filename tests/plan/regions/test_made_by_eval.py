"""A network that ``eval`` makes of a name is made there, not run: ``Trainer(eval("Net")(3))``."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn as nn
from apex import amp
from nets import *


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(self.net.parameters(), 0.1)
        self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        self.opt.step()


def main(name, data):
    t = Trainer(MADE)
    for x, y in data:
        t.step(x, y)
"""


@pytest.mark.parametrize("made", ['eval("Net")(3)', "eval(name)(3)", 'eval(name + "Net")()', "Net(3)"])
def test_no_region_is_around_it(made: str) -> None:
    result = migrate_module(TEXT.replace("MADE", made), Settings())
    assert result.new_text is not None, result.findings
    assert f"\n    t = Trainer({made})\n" in result.new_text
