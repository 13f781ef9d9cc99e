"""A method runs on the value that it is called by, also where nothing says which object that is."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
from apex import amp


class Accelerator:
    def __init__(self, cfg):
        self.fp16 = cfg.fp16

    METHOD

    def backward(self, loss, optimizer):
        if self.fp16:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()


def train(model, optimizer, batches, cfg, accelerator):
    if accelerator is None:
        accelerator = Accelerator(cfg)
    START
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        accelerator.backward(loss, optimizer)
        optimizer.step()
"""
CHOOSE = """def choose(self, cfg):
        self.fp16 = cfg.fp16"""
CHOSEN = """accelerator.choose(cfg)
    if accelerator.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")"""
SET_UP = """def set_up(self, model, optimizer):
        if self.fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        return model, optimizer"""
START = {
    "what a method sets is read outside of it": (CHOOSE, CHOSEN, "safe"),
    "two methods ask one object": (SET_UP, "model, optimizer = accelerator.set_up(model, optimizer)", "review"),
    "what another object says": (CHOOSE, CHOSEN.replace("if accelerator.", "if cfg.other."), "review"),
}


@pytest.mark.parametrize("case", START)
def test_a_parameter_that_may_hold_an_own_object(case: str) -> None:
    method, start, grade = START[case]
    result = migrate_module(TEXT.replace("METHOD", method).replace("START", start), Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]
