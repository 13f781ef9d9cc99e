"""Objects that have the scaler of a base, and those that hold one who has it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings, Severity

REGION = 'with torch.autocast("cuda", dtype=torch.float16, enabled={}.scaler.is_enabled()):'
TRAINER = """\
import torch
from torch import nn
from apex import amp


class Trainer:
    def __init__(self, model):
        self.model, self.optimizer = model, torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1", enabled=AMP)
        self.criterion = nn.MSELoss()

    def step(self, x, y):
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()

    def fit(self, data):
        for x, y in data:
            self.step(x, y)


"""
ATTACKS = """\
class Attacking(Trainer):
    def attack(self, x, y):
        delta = torch.zeros_like(x).requires_grad_()
        (grad,) = torch.autograd.grad(self.criterion(self.model(x + delta), y), delta)
        return grad.sign()

    def step(self, x, y):
        delta = self.attack(x, y)
        super().step(x + delta, y)


(Attacking if ATTACK else Trainer)(nn.Linear(3, 1)).fit(data)
"""
EVALUATES = """\
class Derived(Trainer):
    pass


class Evaluator:
    def __init__(self, trainer):
        self.trainer, self.model = trainer, trainer.model

    def run(self, data):
        with torch.no_grad():
            return [self.model(x).sum().item() for x, y in data]


def main(data):
    KEPT
    for epoch in range(3):
        TRAINS
        print(evaluator.run(data))


main(load())
"""


def new_text(text: str) -> tuple[str, list[str]]:
    result = migrate_module(text, Settings())
    return result.new_text or "", [f.message for f in result.findings if f.severity is not Severity.INFO]


def test_a_derived_class_has_its_bases_scaler() -> None:
    new, said = new_text(TRAINER + ATTACKS)
    assert f"        {REGION.format('self')}\n            delta = self.attack(x, y)\n" in new
    assert not said


@pytest.mark.parametrize(
    ("kept", "trains", "reached"),
    [
        ("trainer = Derived(nn.Linear(3, 1))\n    evaluator = Evaluator(trainer)", "trainer.fit(data)", "trainer"),
        ("evaluator = Evaluator(Derived(nn.Linear(3, 1)))", "evaluator.trainer.fit(data)", "evaluator.trainer"),
    ],
)
def test_who_holds_an_object_of_a_derived_class(kept: str, trains: str, reached: str) -> None:
    evaluates = EVALUATES.replace("sum().item()", "sum()")  # what hands tensors back has its region at its call
    new, said = new_text((TRAINER + evaluates).replace("KEPT", kept).replace("TRAINS", trains))
    whole = new.replace('(\n            "cuda', '("cuda').replace("()\n        ):", "()):")
    assert f"        {REGION.format(reached)}\n            print(evaluator.run(data))\n" in whole
    assert not said


def test_what_hands_numbers_back_asks_the_trainer_that_it_has() -> None:
    whole = (TRAINER + EVALUATES).replace("KEPT", "evaluator = Evaluator(Derived(nn.Linear(3, 1)))")
    new, said = new_text(whole.replace("TRAINS", "evaluator.trainer.fit(data)"))
    assert "enabled=self.trainer.scaler.is_enabled()" in new and "        print(evaluator.run(data))\n" in new
    assert not said
