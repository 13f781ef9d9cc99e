"""What a decorator runs around a method is handed its object: an evaluation behind each step runs the network."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp
from functools import wraps

{decorator}

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    @{name}
    def step(self, x):
        loss = self.model(x).sum()
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
"""
WRAPPER = """\
def evaluated(fn):
    @wraps(fn)
    def wrapped(self, x):
        fn(self, x)
        with torch.no_grad():
            print(self.model(x).argmax(1))
    return wrapped
"""
MADE = "def every(n):\n" + "".join(f"    {line}\n" for line in WRAPPER.splitlines()) + "    return evaluated\n"


@pytest.mark.parametrize(("decorator", "name"), [(WRAPPER, "evaluated"), (MADE, "every(2)")])
def test_its_network_is_known(decorator: str, name: str) -> None:
    result = migrate_module(TEXT.format(decorator=decorator, name=name), Settings())
    assert result.new_text is not None and "with torch.no_grad(), torch.autocast(" in result.new_text
