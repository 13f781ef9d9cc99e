"""Optimizers that a list makes of networks are one to the values: where a loss of one reaches the networks of others as
well, what it leaves there has to be cleared ahead of their steps."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def reaching(a, b, c, x):
    return F.mse_loss(a(x), x), F.mse_loss(b(a(x)), x), c(b(x)).mean()


def apart(a, b, c, x):
    return F.mse_loss(a(x), x), F.mse_loss(b(a(x).detach()), x), c(x).mean()


def main(batches):
    nets = [nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)]
    opts = [torch.optim.SGD(n.parameters(), 0.05) for n in nets]
    nets, opts = amp.initialize(nets, opts, opt_level="O1")
    a, b, c = nets
    for x in batches:
        ROUND
"""
CLEAR, STEP = "for o in opts:\n    o.zero_grad()\n", "for o in opts:\n    o.step()\n"
SCALED = "    with amp.scale_loss(l, o) as s:\n        s.backward()\n"
PAIRS = "for l, o in zip(losses, opts):\n"
REACHING = "losses = [F.mse_loss(a(x), x), F.mse_loss(b(a(x)), x), c(b(x)).mean()]\n"
APART = "losses = [F.mse_loss(a(x), x), F.mse_loss(b(a(x).detach()), x), c(b(x).detach()).mean()]\n"


@pytest.mark.parametrize(
    ("rounds", "grade"),
    [
        (APART + CLEAR + PAIRS + SCALED + STEP, "safe"),
        ("losses = apart(a, b, c, x)\n" + CLEAR + PAIRS + SCALED + STEP, "safe"),
        (APART + "[o.zero_grad() for o in opts]\n" + PAIRS + SCALED + STEP, "safe"),
        (REACHING + PAIRS + "    o.zero_grad()\n" + SCALED + "    o.step()\n", "safe"),  # each ahead of its own step
        (REACHING + CLEAR + "with amp.scale_loss(sum(losses), opts) as s:\n    s.backward()\n" + STEP, "review"),
        (REACHING + CLEAR + PAIRS + SCALED + STEP, "manual"),
        ("losses = reaching(a, b, c, x)\n" + CLEAR + PAIRS + SCALED + STEP, "manual"),
        (REACHING + PAIRS + "    o.zero_grad()\n" + SCALED + STEP, "manual"),
        (REACHING + PAIRS + SCALED + "    o.step()\n    o.zero_grad()\n", "manual"),
        (
            REACHING + CLEAR + PAIRS + "    for other in opts[1:]:\n        other.zero_grad()\n" + SCALED + STEP,
            "manual",
        ),
    ],
)
def test_what_others_have_of_a_loss(rounds: str, grade: str) -> None:
    text = TEXT.replace("ROUND", rounds.rstrip().replace("\n", "\n        "))
    units = engine.migrate_module(text, Settings()).units
    assert {unit.applicability.value for unit in units} == {grade}
