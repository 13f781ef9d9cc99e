"""Runs of a model without gradients and then with them: told apart by model and part, through functions and methods."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
import torch.nn as nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    @torch.no_grad()
    def guess(self, u):
        return self.head(self.body(u))

    def forward(self, x, u=None):
        FORWARD
        return self.head(self.body(x))


def features(model, u):
    with torch.no_grad():
        return model(u)


def loss_of(model, teacher, x, u):
    FIRST
    return torch.nn.functional.mse_loss(model(x), t)


def main(loader):
    model, teacher = Net().cuda(), Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    [model, teacher], optimizer = amp.initialize([model, teacher], optimizer, opt_level="O1")
    for x, u in loader:
        loss = loss_of(model, teacher, x, u)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main([])
"""


@pytest.mark.parametrize(
    ("first", "forward", "named"),
    [
        ("t = u", "", False),
        ("with torch.no_grad():\n        t = model(u)", "", True),
        ("with torch.set_grad_enabled(False):\n        t = model(u)", "", True),
        ("with torch.set_grad_enabled(True):\n        t = model(u)", "", False),
        ("with torch.inference_mode():\n        t = model(u)", "", True),
        ("with torch.no_grad():\n        t = teacher(u)", "", False),
        ("with torch.no_grad():\n        t = u * 2", "", False),
        ("t = features(model, u)", "", True),
        ("t = features(teacher, u)", "", False),
        ("if u is None:\n        with torch.no_grad():\n            t = model(x)\n    else:\n        t = u", "", True),
        ("t = model.guess(u)", "", True),
        ("t = teacher.guess(u)", "", False),
        ("t = model(u)", "", False),
        ("with torch.no_grad():\n        later = lambda: model(u)\n        t = u", "", False),
        ("t = u", "with torch.no_grad():\n            x = self.body(x)", True),
        ("t = u", "x = x + self.guess(x).sum()", True),
        ("t = u", "with torch.no_grad():\n            x = x * 2", False),
    ],
)
def test_a_model_that_a_function_runs_without_gradients_first_is_named(first: str, forward: str, named: bool) -> None:
    result = migrate_module(TEXT.replace("FIRST", first).replace("FORWARD", forward), Settings())
    assert any(one.rule == "APX038" for one in result.findings) is named
    assert [one.applicability for one in result.units] == [Applicability.REVIEW if named else Applicability.SAFE]


@pytest.mark.parametrize(
    "first",
    [
        "if u is None:\n        with torch.no_grad():\n            return model(x).sum()\n    t = u",
        "if u is None:\n        t = features(model, x)\n    else:\n        return model(u).sum()\n    return t.sum()",
    ],
)
def test_two_arms_of_a_condition_never_run_together(first: str) -> None:
    result = migrate_module(TEXT.replace("FIRST", first).replace("FORWARD", ""), Settings())
    assert not [one for one in result.findings if one.rule == "APX038"]


def test_what_runs_behind_the_forward_with_gradients_is_left() -> None:
    after = "out = model(x)\n    with torch.no_grad():\n        t = model(u)"
    text = TEXT.replace("FIRST", after).replace("FORWARD", "").replace("loss(model(x)", "loss(out")
    result = migrate_module(text, Settings())
    assert not [one for one in result.findings if one.rule == "APX038"]
