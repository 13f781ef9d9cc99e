"""A decorator around a method that takes the step looks at gradients, ahead of what it decorates or behind it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import functools

import torch
from apex import amp


def watched(function):
    @functools.wraps(function)
    def inner(self):
        WATCH
        return function(self)

    return inner


class Loop:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    @watched
    def apply(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def once(self, x):
        loss = self.model(x).sum()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.apply()
"""


@pytest.mark.parametrize(
    ("watch", "unscaled"), [("print(self.model.weight.grad.norm())", True), ("print(self.model.weight.norm())", False)]
)
def test_gradients_are_unscaled_ahead_of_the_call(watch: str, unscaled: bool) -> None:
    result = migrate_module(TEXT.replace("WATCH", watch), Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    assert ("self.scaler.unscale_(self.optimizer)\n        self.apply()" in (result.new_text or "")) is unscaled
