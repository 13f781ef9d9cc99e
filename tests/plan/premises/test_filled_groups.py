"""What comes into a group of the optimizer behind the first backward was never unscaled by Apex."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Learner:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
        AHEAD
        self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")

    def grow(self, head, plain):
        self.net.head = head
        GROW

    def round(self, x):
        self.opt.zero_grad()
        with amp.scale_loss(self.net(x).sum(), self.opt) as scaled:
            scaled.backward()
        self.opt.step()
"""
FILLS = [
    'for group in self.opt.param_groups:\n            group["params"] = list(self.net.parameters())',
    'self.opt.param_groups[0]["params"].append(head.weight)',
    'self.opt.param_groups[0]["params"] += list(head.parameters())',
]
OTHERS = [
    'self.opt.add_param_group({"params": head.parameters()})',
    'print(self.opt.param_groups[0]["params"])',
    'plain.param_groups[0]["params"].append(head.weight)',
]


def filled(grow: str, ahead: str = "pass") -> list[str]:
    result = migrate_module(TEXT.replace("GROW", grow).replace("AHEAD", ahead), Settings())
    assert all(unit.applicability.value != "manual" for unit in result.units)
    return [f.message for f in result.findings if "put into a group" in f.message]


@pytest.mark.parametrize("grow", FILLS)
def test_it_is_named(grow: str) -> None:
    assert len(filled(grow)) == 1


@pytest.mark.parametrize("grow", OTHERS)
def test_apex_knows_it_or_another_one_has_it(grow: str) -> None:
    assert not filled(grow)


def test_ahead_of_initialize_is_soon_enough() -> None:
    assert not filled("pass", 'self.opt.param_groups[0]["params"].append(net.more)')
