"""Products that ran in float32 under O2, as the file says ``.float()``, and run in half under autocast."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

PROGRAM = """\
import torch
from torch import nn
from apex import amp


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        return x.float() @ self.weight.float()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = PARTS

    def forward(self, x):
        return self.parts(x)


def main(data, targets):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="LEVEL")
    for x in data:
BODY
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
BODY = "loss = net(x).mean()"


@pytest.mark.parametrize(
    ("parts", "level", "body", "named"),
    [
        ("Part()", "O2", BODY, True),
        ("nn.Sequential(Part(), Part())", "O2", BODY, True),  # nothing in the file calls its forward
        ("nn.Linear(4, 4)", "O2", BODY, False),  # nobody has a Part
        ("Part()", "O1", BODY, False),  # which cast these as autocast does
        ("nn.Linear(4, 4)", "O2", "y = x.float() @ targets.float()\n" + BODY, False),  # ahead of the region
    ],
)
def test_products_behind_float(parts: str, level: str, body: str, named: bool) -> None:
    text = PROGRAM.replace("PARTS", parts).replace("LEVEL", level).replace("BODY", indent(body, " " * 8))
    found = [one for one in migrate_module(text, Settings()).findings if "ran in float32 under O2" in one.message]
    assert [one.line for one in found] == [12] * named
