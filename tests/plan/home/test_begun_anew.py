"""A function that initializes, called by each that trains, or ahead of each stage: Apex began with a new loss scale."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, ModuleResult, Settings

ROUNDS = """\
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
TEXT = f"""\
import torch
from torch import nn
from apex import amp


def begin(model, optimizer, scale):
    return amp.initialize(model, optimizer, opt_level="O1"OPTIONS)


def pretrain(batches):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = begin(model, optimizer, 1.0)
{ROUNDS}    STAGE
    return model


def finetune(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model, optimizer = begin(model, optimizer, 2.0)
{ROUNDS}

def predict(model, batches):
    PREDICT
    return [model(x) for x in batches]


def main(batches):
    model = pretrain(batches)
    finetune(model, batches)
    print(predict(model, batches))
"""
AGAIN = f"model, optimizer = begin(model, optimizer, 4.0)\n{ROUNDS}"
TWO_STAGES = TEXT[: TEXT.index("def finetune")].replace("STAGE", AGAIN)


def _migrated(text: str, options: str = "", predict: str = "pass") -> tuple[Applicability, ModuleResult]:
    text = text.replace("OPTIONS", options).replace("PREDICT", predict).replace("STAGE", "pass")
    result = migrate_module(text, Settings())
    (unit,) = result.units
    return unit.applicability, result


@pytest.mark.parametrize("predict", ["pass", 'model = amp.initialize(model, opt_level="O1")'])
def test_by_each_that_trains(predict: str) -> None:
    """Who initializes a model alone begins no training."""
    grade, result = _migrated(TEXT, predict=predict)
    assert grade is Applicability.SAFE and result.new_text is not None
    assert result.new_text.count("scaler = torch.amp.GradScaler(") == 2


@pytest.mark.parametrize(
    ("options", "grade", "made"),
    [
        ("", Applicability.SAFE, 'GradScaler("cuda")'),
        (", loss_scale=128.0", Applicability.REVIEW, 'GradScaler("cuda", init_scale=128.0)'),
        (", loss_scale=scale", Applicability.MANUAL, ""),  # which the stages have no name for
    ],
)
def test_ahead_of_each_stage(options: str, grade: Applicability, made: str) -> None:
    found, result = _migrated(TWO_STAGES, options)
    assert found is grade
    assert (result.new_text or "").count(made) == 2 if made else result.new_text is None
