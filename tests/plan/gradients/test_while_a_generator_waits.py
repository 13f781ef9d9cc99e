"""A generator trains, and the loop that goes through it looks at gradients before the step."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


def training(net, opt, batches):
    net, opt = amp.initialize(net, opt, opt_level="O1")
    for x in batches:
        loss = net(x).sum()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        yield loss.item()
        opt.step()


def norm(net):
    return sum(p.grad.norm() for p in net.parameters())


def watch(net, events):
    for loss in events:
        print(loss, net.state_dict())


def clip(params):
    for p in params:
        p.grad.clamp_(-1, 1)


def main(batches):
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    USE
"""
LOOKS = [
    "for loss in training(net, opt, batches):\n        print(loss, norm(net))",
    "for i, loss in enumerate(training(net, opt, batches)):\n        print(net.weight.grad.norm())",
    "WATCH",
]
LOOKS_NOT = ["for loss in training(net, opt, batches):\n        print(loss)", "watch(net, training(net, opt, batches))"]


def migrated(use: str) -> str:
    text = TEXT
    if use == "WATCH":
        text, use = text.replace("net.state_dict()", "norm(net)"), LOOKS_NOT[1]
    result = migrate_module(text.replace("USE", use), Settings())
    assert "manual" not in {unit.applicability.value for unit in result.units}
    return result.new_text or ""


@pytest.mark.parametrize("use", LOOKS)
def test_gradients_are_unscaled_before_it_waits(use: str) -> None:
    assert "        scaler.unscale_(opt)\n        yield loss.item()\n" in migrated(use)


@pytest.mark.parametrize("use", LOOKS_NOT)
def test_nobody_looks(use: str) -> None:
    assert "unscale_" not in migrated(use)
