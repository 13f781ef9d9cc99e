"""Code that is not here and is handed the trainer between backward and step, for what it does with it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
from apex import amp


class Options:
    def __init__(self, lr):
        self.lr = lr


class Trainer:
    def __init__(self, model, optimizer, hooks):
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")
        self.hooks, self.options, self.seen = hooks, Options(0.1), []

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).sum()
        self.backward(loss)
        BETWEEN
        self.optimizer.step()

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
"""
LOOKS = ["for hook in self.hooks:\n            hook(self)", "self.hooks.between(self)", "report(trainer=self)"]
LOOKS_NOT = [
    "report(self.options)",
    "save(self)",
    "evaluate(self)",
    "self.seen.append(self)",
    "print(self)",
    "self.hooks.log_state(self)",
]


def migrated(between: str) -> str:
    result = migrate_module(TEXT.replace("BETWEEN", between), Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    return result.new_text or ""


@pytest.mark.parametrize("between", LOOKS)
def test_gradients_are_unscaled_ahead_of_it(between: str) -> None:
    assert f"        self.scaler.unscale_(self.optimizer)\n        {between}\n" in migrated(between)


@pytest.mark.parametrize("between", LOOKS_NOT)
def test_what_looks_at_none(between: str) -> None:
    assert "unscale_" not in migrated(between)
