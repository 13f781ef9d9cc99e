"""A function hands out the optimizer that a table of its file keeps: the scaler lives beside the table."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp

STATE = {}
OTHER = {}


def optimizer():
    return STATE["optimizer"]


def run(batches):
    model = torch.nn.Linear(5, 2)
    optim = torch.optim.SGD(model.parameters(), lr=0.2)
    STATE["model"], STATE["optimizer"] = amp.initialize(model, optim, opt_level="O1")
    for x, y in batches:
        loss = F.cross_entropy(STATE["model"](x), y)
        optimizer().zero_grad()
        with amp.scale_loss(loss, optimizer()) as scaled_loss:
            scaled_loss.backward()
        optimizer().step()


run([])
"""
GETTER = '    return STATE["optimizer"]\n'
STAYS = {
    "one of two tables": (GETTER, '    if OTHER:\n        return OTHER["optimizer"]\n' + GETTER),
    "in two runs": ("run([])\n", "run([])\nrun([])\n"),
}


def test_beside_the_table() -> None:
    result = migrate_module(TEXT, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert result.new_text is not None
    assert '\nscaler = torch.amp.GradScaler("cuda")\n' in result.new_text
    assert "        scaler.step(optimizer())\n        scaler.update()\n" in result.new_text


@pytest.mark.parametrize(("old", "new"), STAYS.values(), ids=STAYS)
def test_stays(old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    result = migrate_module(TEXT.replace(old, new), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.MANUAL]
