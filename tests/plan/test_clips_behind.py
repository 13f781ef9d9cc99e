"""A clip behind a backward in an arm is no part of the region of the loss below."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")


def backward(loss):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


def clip(model, limit):
    return float(torch.nn.utils.clip_grad_norm_(model.parameters(), limit))


def train(loader, more, limit):
    for x, y in loader:
        if more:
            x, y = x.flip(0), y.flip(0)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            backward(loss)
            if limit > 0:
                clip(model, limit)
            optimizer.step()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        backward(loss)
        if limit > 0:
            clip(model, limit)
        optimizer.step()


train(loader, True, 1.0)
"""


def test_the_region_of_the_next_loss_does_not_hold_the_clip_of_the_arm() -> None:
    new = migrate_module(TEXT, Settings()).new_text
    assert new is not None and new.count("torch.autocast(") == 2
    assert new.count("    if limit > 0:\n") == 2
