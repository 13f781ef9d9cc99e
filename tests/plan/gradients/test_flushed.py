"""What is left of a window is stepped by the same method behind all rounds, if anything is left."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class State:
    def __init__(self, net, every):
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.net, self.opt = amp.initialize(net, self.opt, opt_level="O1")
        self.every, self.pending = every, 0

    def accumulate(self, x):
        loss = self.net(x).sum()
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        self.pending += 1
        if self.pending == self.every:
            self.flush()

    def flush(self):
        GUARD
        self.opt.step()
        self.opt.zero_grad()
        self.pending = 0


def main(net, data):
    state = State(net, 3)
    for x in data:
        state.accumulate(x)
    state.flush()
"""


def migrated(guard: str) -> tuple[str, list[str]]:
    result = migrate_module(TEXT.replace("GUARD", guard), Settings())
    (unit,) = result.units
    return unit.applicability.value, [finding.message for finding in result.findings]


GUARDS = ["if not self.pending:\n            return", "if self.pending == 0:\n            return"]


@pytest.mark.parametrize("guard", GUARDS)
def test_it_is_left_where_nothing_waits(guard: str) -> None:
    grade, said = migrated(guard)
    assert grade == "review"
    assert any("may come with no backward since the last one, by its own condition" in one for one in said)


def test_it_always_steps() -> None:
    grade, said = migrated("print(self.pending)")
    assert grade == "manual"
    assert any("may run again with no gradients" in one for one in said)
