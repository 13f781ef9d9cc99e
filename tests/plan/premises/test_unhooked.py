"""An optimizer that leaves out the constructor of torch's is named, where torch's `step` asks for what that makes."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from torch.optim.optimizer import Optimizer
from apex import amp


class Lookahead(BASE):
    def __init__(self, optimizer, k=5):
        SUPER
        self.optimizer = optimizer
        self.param_groups = optimizer.param_groups
        self.defaults = optimizer.defaults

    METHODS

    def step(self, closure=None):
        return self.optimizer.step(closure)


model = torch.nn.Linear(4, 2)
optimizer = Lookahead(torch.optim.SGD(model.parameters(), lr=0.1))
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in batches:
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""
OWN = "def zero_grad(self):\n        self.optimizer.zero_grad()"


@pytest.mark.parametrize(
    ("base", "super_", "methods", "named"),
    [
        ("Optimizer", "self.k = k", "", True),
        ("Optimizer", "super().__init__(optimizer.param_groups, {})", "", False),
        ("Optimizer", "self._optimizer_step_pre_hooks = {}", "", False),
        ("Optimizer", "self.k = k", OWN, False),
    ],
)
def test_hooks_that_nobody_made(base: str, super_: str, methods: str, named: bool) -> None:
    text = TEXT.replace("BASE", base).replace("SUPER", super_).replace("METHODS", methods)
    result = migrate_module(text, Settings())
    assert any(one.rule == "APX062" for one in result.findings) is named
    assert {unit.applicability.value for unit in result.units} == {"review" if named else "safe"}
