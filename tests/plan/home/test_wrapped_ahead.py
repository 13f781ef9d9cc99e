"""What wraps an optimizer before Apex is switched on, and steps it later, is handed the scaler that trains."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from torch import nn
from apex import amp


class Scheduled:
    def __init__(self, optimizer, warmup=4):
        self.optimizer = optimizer
        self.count = 0

    def step(self):
        self.count += 1
        self.optimizer.step()


def main(args, batches):
    model = nn.Linear(3, 2)
    base = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = MADE
    BETWEEN
    if args.fp16:
        model, KEPT = amp.initialize(model, KEPT, opt_level="O1")
    for x, y in batches:
        KEPT.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, KEPT) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()
"""
MADE_THERE = "Scheduled(torch.optim.SGD(model.parameters(), lr=0.1), warmup=8)"
FINE = {
    "a name": ("Scheduled(base)", "base", "pass"),
    "made there": (MADE_THERE, "optimizer.optimizer", "pass"),
    "something between": ("Scheduled(base)", "base", "print(args.epochs)"),
    "its condition is worked out between": ("Scheduled(base)", "base", "half = args.fp16\n    on = half"),
}
OPEN = {
    "steps ahead of it": ("Scheduled(base)", "base", "optimizer.step()"),
    "its condition is set between": ("Scheduled(base)", "base", "args.fp16 = args.fp16 and check()"),
    "its condition may be set between": ("Scheduled(base)", "base", "finish(args)"),
}


def migrated(made: str, kept: str, between: str) -> tuple[Applicability, str]:
    whole = TEXT.replace("if args.fp16:", "if on:") if "on = half" in between else TEXT
    result = migrate_module(whole.replace("MADE", made).replace("KEPT", kept).replace("BETWEEN", between), Settings())
    (unit,) = result.units
    return unit.applicability, result.new_text or ""


@pytest.mark.parametrize("name", FINE)
def test_the_wrapper_is_handed_the_scaler_that_trains(name: str) -> None:
    applicability, text = migrated(*FINE[name])
    assert applicability is Applicability.SAFE
    (made,) = [line.strip() for line in text.splitlines() if "GradScaler" in line]
    assert made == 'scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))'
    assert text.index(made) < text.index("optimizer = Scheduled(")
    assert "self.scaler.step(self.optimizer)" in text


@pytest.mark.parametrize("name", OPEN)
def test_a_scaler_that_would_be_another_one_stays_by_hand(name: str) -> None:
    assert migrated(*OPEN[name])[0] is Applicability.MANUAL
