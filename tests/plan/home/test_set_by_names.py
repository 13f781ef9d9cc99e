"""A constructor that gives its object whatever it is handed by names: the scaler goes behind it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp


class Learner:
    def __init__(self, GIVEN):
        PUT

    def step(self, x, y):
        loss = torch.nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()


model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
learner = Learner(HANDED)
for x, y in batches:
    learner.step(x, y)
"""
BY_NAME = "model=model, optimizer=optimizer, clip=0.5"


def test_two_objects_are_handed_the_one_that_there_is() -> None:
    text = TEXT.replace("GIVEN", "**kwargs").replace("PUT", "vars(self).update(kwargs)").replace("HANDED", BY_NAME)
    text = text.replace("learner = Learner(", f"other = Learner({BY_NAME})\nlearner = Learner(")
    new = migrate_module(text, Settings()).new_text
    assert new is not None and "def __init__(self, scaler, **kwargs):" in new
    assert new.count("clip=0.5, scaler=scaler)") == 2 and new.count("GradScaler(") == 1


@pytest.mark.parametrize(
    ("given", "put", "handed"),
    [
        ("**kwargs", "for key, value in kwargs.items():\n            setattr(self, key, value)", BY_NAME),
        ("**kwargs", "self.__dict__.update(kwargs)", BY_NAME),
        ("**kwargs", "vars(self).update(kwargs)", BY_NAME),
        ("model, optimizer, clip=1.0", "self.__dict__.update(locals())", BY_NAME),
        (
            "parts",
            "for key in parts:\n            setattr(self, key, parts[key])",
            '{"model": model, "optimizer": optimizer}',
        ),
        (
            "model, optimizer, **kw",
            "self.model, self.optimizer = model, optimizer\n        vars(self).update(kw)",
            BY_NAME,
        ),
    ],
)
def test_the_scaler_is_made_behind_it(given: str, put: str, handed: str) -> None:
    text = TEXT.replace("GIVEN", given).replace("PUT", put).replace("HANDED", handed)
    result = migrate_module(text, Settings())
    assert result.new_text is not None and '        self.scaler = torch.amp.GradScaler("cuda")\n' in result.new_text
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE] and not result.findings
