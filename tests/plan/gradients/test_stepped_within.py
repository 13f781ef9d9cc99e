"""A call that runs each backward and its step leaves no scaled gradients to what is called behind it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
from apex import amp
from inference import inference


def train(model, loader, d):
    optimizer = SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        LEAVES
        optimizer.step()
    return model


def main(model, loader):
    net = train(model, loader, "a")
    print(inference(net, loader))
    train(net, loader, "b")
"""


@pytest.mark.parametrize(("leaves", "told"), [("print(loss)", 0), ("if loss.item() > 9:\n            continue", 1)])
def test_what_is_handed_the_model_between_two_calls(leaves: str, told: int) -> None:
    result = migrate_module(TEXT.replace("LEAVES", leaves), Settings())
    assert result.units
    assert [f.rule for f in result.findings if "between a backward and the step" in f.message] == ["APX050"] * told
