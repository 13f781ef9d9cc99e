"""Functions of torch that a program took by name before amp.initialize() were not cast by O1, which is told."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
TAKEN


class Net(nn.Module):
    def __init__(self, act=torch.relu):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 4))
        self.act = act

    def forward(self, x):
        return FORWARD


def train(loader):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = LOSS
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
LOSS, FORWARD = "F.cross_entropy(model(x), y)", "F.linear(x, self.w)"
CASES = [
    ("from torch.nn.functional import linear as lin", "lin(x, self.w)", LOSS, "review"),
    ("from torch import (\n    relu,\n    matmul,\n)", "matmul(x, self.w)", LOSS, "review"),
    ("from torch.nn.functional import cross_entropy", FORWARD, "cross_entropy(model(x), y)", "info"),
    ("ways = {'ce': F.cross_entropy}", FORWARD, "ways['ce'](model(x), y)", "info"),
    ("def loss_of(x, y, fn=F.cross_entropy):\n    return fn(x, y)", FORWARD, "loss_of(model(x), y)", "info"),
    ("class Loss:\n    fn = staticmethod(F.cross_entropy)", FORWARD, "Loss.fn(model(x), y)", "info"),
    ("from torch.nn.functional import relu, one_hot", "relu(F.linear(x, self.w))", LOSS, ""),
    ("from torch import matmul", FORWARD, LOSS, ""),  # nobody calls it
    ("from torch.nn import functional", "functional.linear(x, self.w)", LOSS, ""),
    ("def loss_of(x, y):\n    fn = F.cross_entropy\n    return fn(x, y)", FORWARD, "loss_of(model(x), y)", ""),
]


@pytest.mark.parametrize("taken, forward, loss, severity", CASES)
def test_is_told(taken: str, forward: str, loss: str, severity: str) -> None:
    text = TEXT.replace("TAKEN", taken).replace("FORWARD", forward).replace("LOSS", loss)
    result = migrate_module(text, Settings())
    assert result.new_text is not None
    said = [one.severity.value for one in result.findings if "by its name" in one.message]
    assert said == [severity] * bool(severity)


def test_other_files_are_read_by_their_text() -> None:
    taken = (
        "from torch import (\n    cat,\n    mm,\n    bmm as product,\n)\nACTS = {'soft': F.softmax, 'relu': F.relu}\n"
    )
    text = taken + "def mix(x, w):\n    return product(x, F.linear(x, w))\n"
    assert elsewhere([outline(text)]).by_name == {"softmax", "bmm"}
