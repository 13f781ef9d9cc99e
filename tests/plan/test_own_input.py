"""A model that adds its own input in place to what a layer gave is named, in its own file and in another one."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x, scale=2.0):
        FORWARD
        return out
"""
PROGRAM = """\
import torch
from apex import amp
FROM

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="LEVEL")
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
FORWARDS = {
    "out = self.body(x)\n        out += x": True,
    "out = torch.relu(self.body(x))\n        out -= x  # the noise": True,
    "out = self.body(x)\n        out = out + x": False,
    "x = self.body(x)\n        out = self.body(x)\n        out += x": False,
    "out = torch.zeros_like(x)\n        out += x": False,
    "out = self.body(x)\n        out *= scale": False,
    "out = self.body(x)\n        identity = x.half()\n        out += identity": False,
}


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("forward", FORWARDS)
def test_what_is_added_in_place(forward: str, far: bool) -> None:
    net = NET.replace("FORWARD", forward)
    text = PROGRAM.replace("FROM", "from net import Net\nfrom torch import nn" if far else net).replace("LEVEL", "O1")
    beside = Outside(elsewhere=elsewhere([outline(net)])) if far else Outside()
    found = migrate_module(text, Settings(), beside).findings
    assert any("adds its own input in place" in one.message for one in found) is FORWARDS[forward]


def test_a_sum_of_known_types_is_named_once() -> None:
    net = NET.replace("FORWARD", "out = self.body(x)\n        out += x")
    text = PROGRAM.replace("FROM", net).replace("LEVEL", "O1").replace("model(x)", "model(torch.randn(2, 4))")
    (said,) = (one.message for one in migrate_module(text, Settings()).findings if one.rule == "APX032")
    assert said.startswith("`out += x` stays half")


def test_o2_casts_the_input() -> None:
    net = NET.replace("FORWARD", "out = self.body(x)\n        out += x")
    found = migrate_module(PROGRAM.replace("FROM", net).replace("LEVEL", "O2"), Settings()).findings
    assert not any("adds its own input in place" in one.message for one in found)
