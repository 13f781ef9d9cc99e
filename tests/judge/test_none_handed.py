"""A function that loads amp's state, called without an optimizer by who only evaluates: Apex got no further either."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

PROGRAM = """\
import torch
from apex import amp


def load(model, optimizer, state):
    model.load_state_dict(state["model"])
    if "optimizer" in state:
        optimizer.load_state_dict(state["optimizer"])
        amp.load_state_dict(state["amp"])


def evaluate(model, loader, state):
    model = amp.initialize(model, None, opt_level="O1")
    load(model, None, state)
    with torch.no_grad():
        return [model(x).float().cpu() for x in loader]


def train(model, loader, state):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    load(model, optimizer, state)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
ASKED = '        optimizer.load_state_dict(state["optimizer"])\n'


def test_behind_a_method_of_none_nothing_is_loaded() -> None:
    text = migrate_module(PROGRAM, Settings()).new_text
    assert text is not None
    assert "load(model, None, None, state)" in text and "load(model, optimizer, scaler, state)" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ASKED, ""),  # nothing raises before
        (ASKED, f"        if self_made:\n    {ASKED}"),  # nor here for certain
        (ASKED, f"        optimizer = optimizer or build(model)\n{ASKED}"),
    ],
)
def test_what_may_be_loaded_has_to_find_a_scaler(old: str, new: str) -> None:
    assert old in PROGRAM
    assert migrate_module(PROGRAM.replace(old, new), Settings()).new_text is None
