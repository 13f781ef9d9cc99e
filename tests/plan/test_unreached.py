"""Optimizers of parts that a forward leaves out under a condition."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.gate, self.deep = nn.Linear(6, 5), nn.Linear(6, 5), True

    def forward(self, x, gated=True):
        h = self.body(x)
        FORWARD


net = Net()
optimizer = torch.optim.SGD(net.body.parameters(), lr=0.1)
other = torch.optim.SGD(PARAMETERS, lr=0.1)
net, [optimizer, other] = amp.initialize(net, [optimizer, other], opt_level="O1")
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    other.zero_grad()
    with amp.scale_loss(loss, other) as scaled:
        scaled.backward()
    other.step()
"""
GATE = "net.gate.parameters()"
CASES = {
    "under a condition": ("return h * self.gate(x) if gated else h", GATE, True),
    "in an arm": ("if gated:\n            h = h * self.gate(x)\n        return h", GATE, True),
    "by a name": ("if gated:\n            gate = self.gate\n            h = h * gate(x)\n        return h", GATE, True),
    "always": ("return h * self.gate(x)", GATE, False),
    "as the object was made": ("return h * self.gate(x) if self.deep else h", GATE, False),
    "in the condition": ("return h if self.gate(x).sum() > gated else x", GATE, False),
    "with another part": ("return h * self.gate(x) if gated else h", f"[*{GATE}, *net.body.parameters()]", False),
    "all of it": ("return h * self.gate(x) if gated else h", "net.parameters()", False),
    "elsewhere": ("return h", GATE, False),
}


@pytest.mark.parametrize("name", CASES)
def test_a_part_that_is_left_out(name: str) -> None:
    forward, parameters, named = CASES[name]
    result = migrate_module(TEXT.replace("FORWARD", forward).replace("PARAMETERS", parameters), Settings())
    assert result.new_text is not None
    said = [f.message for f in result.findings if f.rule == "APX060"]
    assert bool(said) is named and all("`self.gate`" in text for text in said)


SEVERAL = """\
import torch
from apex import amp

optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
nets, optimizers = amp.initialize(nets, optimizers, opt_level="O1")
for k, (x, y) in enumerate(loader):
    loss = criterion(nets[k % 2](x), y)
    for o in optimizers:
        o.zero_grad()
    with amp.scale_loss(loss, BACKWARD) as scaled:
        scaled.backward()
    STEP
"""
ITEMS = {
    "one of several, all are stepped": ("optimizers[k % 2]", "for o in optimizers:\n        o.step()", True),
    "numbered": ("optimizers[k % 2]", "for i, o in enumerate(optimizers):\n        o.step()", True),
    "one of several": ("optimizers[k % 2]", "optimizers[k % 2].step()", False),
    "all": ("optimizers", "for o in optimizers:\n        o.step()", False),
}


@pytest.mark.parametrize("name", ITEMS)
def test_a_loss_for_one_of_several_optimizers(name: str) -> None:
    backward, step, by_hand = ITEMS[name]
    result = migrate_module(SEVERAL.replace("BACKWARD", backward).replace("STEP", step), Settings())
    said = [f.message for f in result.findings if "for one of these optimizers, and all are stepped" in f.message]
    assert bool(said) is by_hand


HEADS = TEXT.replace("self.deep = nn.Linear(6, 5), nn.Linear(6, 5), True", "self.heads = nn.Linear(6, 5), None, {}")


@pytest.mark.parametrize(
    ("forward", "named"),
    [("return self.heads[gated](x)", True), ("return self.heads['a'](x)", False), ("return f(self.heads, x)", False)],
)
def test_a_part_that_a_key_picks(forward: str, named: bool) -> None:
    text = HEADS.replace("FORWARD", forward).replace("PARAMETERS", "net.heads['a'].parameters()")
    said = [f.message for f in migrate_module(text, Settings()).findings if f.rule == "APX060"]
    assert bool(said) is named
