"""Arguments in a row: ``fit(*common, **options)``, where both are written out above the call."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from torch import nn
from apex import amp


def fit(model, optimizer, batches, epochs=1, clip=None):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()


def built(model, optimizer):
    return model, optimizer


def main(batches):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    GIVEN
    CALL
"""
ROW = "common = (model, optimizer, batches)"
TABLE = 'options = {"optimizer": optimizer, "epochs": 2}'
FINE = {
    "a tuple": (ROW, "fit(*common)"),
    "a list": ("common = [model, optimizer]", "fit(*common, batches, clip=1.0)"),
    "in place": ("", "fit(*(model, optimizer, batches))"),
    "some": ("common = (optimizer, batches)", "fit(model, *common)"),
    "a dictionary": (TABLE, "fit(model, batches=batches, **options)"),
    "dict": ("options = dict(optimizer=optimizer)", "fit(model, batches=batches, **options)"),
    "a function's result": ("parts = built(model, optimizer)", "fit(*parts, batches)"),
    "made where it is handed on": ("", "fit(*built(model, optimizer), batches, clip=1.0)"),
    "twice, once plainly": (ROW, "fit(*common)\n    fit(model, optimizer, batches)"),
}
OPEN = {
    "changed": (f"{TABLE}\n    options['clip'] = 1.0", "fit(model, batches=batches, **options)"),
    "one of two": (f"{ROW}\n    common = (model, other(), batches)", "fit(*common)"),
    "made by a call": ("common = made(model, optimizer, batches)", "fit(*common)"),
    "behind another": ("rest = batches", "fit(*rest, model, optimizer)"),
}


def migrated(given: str, call: str) -> tuple[Applicability, str]:
    result = migrate_module(TEXT.replace("GIVEN", given).replace("CALL", call), Settings())
    (unit,) = result.units
    return unit.applicability, result.new_text or ""


@pytest.mark.parametrize("case", FINE)
def test_the_scaler_is_handed_on_by_its_name(case: str) -> None:
    given, call = FINE[case]
    grade, text = migrated(given, call)
    assert grade is Applicability.SAFE
    assert "def fit(model, optimizer, batches, epochs=1, clip=None, *, scaler):" in text
    assert all(line.endswith("scaler=scaler)") for line in text.splitlines() if line.startswith("    fit("))


@pytest.mark.parametrize("case", OPEN)
def test_what_may_be_another_row(case: str) -> None:
    given, call = OPEN[case]
    result = migrate_module(TEXT.replace("GIVEN", given).replace("CALL", call), Settings())
    assert all(unit.applicability is Applicability.MANUAL for unit in result.units)
