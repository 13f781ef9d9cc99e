"""A parameter that is the object's own optimizer unless another one is handed needs no scaler beside it."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.plan.home.test_homes import planned, shown

TEXT = """
    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

        def train(self, x, optimizer=None):
            FILL
            optimizer.zero_grad()
            with amp.scale_loss(self.model(x).sum(), optimizer) as scaled:
                scaled.backward()
            optimizer.step()


    trainer = Trainer(model)
    trainer.train(x)
"""
OWN = ["self.scaler behind self.model, self.optimizer = amp.initialize(…)"]


@pytest.mark.parametrize(
    ("fill", "own"),
    [
        ("optimizer = optimizer or self.optimizer", True),
        ("optimizer = self.optimizer if optimizer is None else optimizer", True),
        ("optimizer = optimizer if optimizer is not None else self.optimizer", True),
        ("optimizer = optimizer if optimizer else self.optimizer", True),
        ("if optimizer is None: optimizer = self.optimizer", True),
        ("if not optimizer: optimizer = self.optimizer", True),
        ("if optimizer is not None: optimizer = self.optimizer", False),
        ("if optimizer is other: optimizer = self.optimizer", False),
    ],
)
def test_the_own_one_has_its_scaler_beside_it(fill: str, own: bool) -> None:
    assert (shown(planned(dedent(TEXT).replace("FILL", fill))) == OWN) is own
