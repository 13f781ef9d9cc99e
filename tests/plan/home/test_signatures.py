"""Who asks for the parameters of a function that is handed the scaler now."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import inspect
import torch
from torch import nn
from apex import amp


def fit(model, optimizer, batches):
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()


def by_name(function):
    return ASKED


model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
fit(model, optimizer, batches)
print(by_name(fit))
"""


@pytest.mark.parametrize(
    "asked",
    [
        "inspect.signature(function).parameters",
        "function.__code__.co_varnames",
        "len(function.__defaults__ or ())",
        "sorted(function.__annotations__)",
    ],
)
def test_that_is_named(asked: str) -> None:
    result = migrate_module(TEXT.replace("ASKED", asked), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.REVIEW]
    told = [f.message for f in result.findings if f.rule == "APX020"]
    assert told == ["this lists `scaler`, which fit() is handed, too, from now on"]


@pytest.mark.parametrize("asked", ["function.__name__", "function.__doc__", "inspect.signature(print)"])
def test_what_asks_for_something_else_is_not(asked: str) -> None:
    result = migrate_module(TEXT.replace("ASKED", asked), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
