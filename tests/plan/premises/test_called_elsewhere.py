"""What reads gradients whenever code that is not here, or a thread, likes."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
import logging
import threading
from torch import nn
from apex import amp
from elsewhere import Callback


def watch(model):
    print(SIZE)


class Told(BASE):
    def __init__(self, model):
        self.model = model

    def filter(self, record):
        model = self.model
        record.size = SIZE
        return True


def train(model, optimizer, batches):
    told = MADE
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        CALLED
        optimizer.step()


def main(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, optimizer, batches)
"""
PLAIN = {"SIZE": "model.weight.grad.norm()", "BASE": "logging.Filter", "MADE": "Told(model)", "CALLED": "pass"}
CASES = {
    "a method of another file's class": ({}, "calls this whenever it likes"),
    "of a callback": ({"BASE": "Callback"}, "`Callback`, whose code is not here"),
    "that looks at weights": ({"SIZE": "model.weight.norm()"}, ""),
    "of nobody's class": ({"BASE": "object"}, ""),
    "of a network": ({"BASE": "nn.Module"}, ""),
    "of a class that nobody makes": ({"MADE": "None"}, ""),
    "that the program calls": ({"CALLED": "told.filter(x)"}, ""),
    "a thread": ({"BASE": "object", "MADE": "threading.Thread(target=watch)"}, "`Thread` runs this"),
    "a thread of a method": (
        {"BASE": "object", "MADE": "threading.Thread(target=Told(model).filter)"},
        "`Thread` runs this",
    ),
    "a thread that looks at weights": (
        {"SIZE": "model.weight", "BASE": "object", "MADE": "threading.Thread(target=watch)"},
        "",
    ),
    "a thread that trains": ({"BASE": "object", "MADE": "threading.Thread(target=main)"}, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_who_reads_when_it_likes(case: str) -> None:
    changed, says = CASES[case]
    text = TEXT
    for name, written in (PLAIN | changed).items():
        text = text.replace(name, written)
    result = engine.migrate_module(text, Settings())
    found = [one.message for one in result.findings if one.rule == "APX056"]
    assert [unit.applicability.value for unit in result.units] == ["review" if says else "safe"]
    assert any(says in message for message in found) if says else not found
