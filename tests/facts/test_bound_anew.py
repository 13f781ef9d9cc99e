"""A name of Apex that the next imports give another value is not Apex's."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp, optimizers
BETWEEN
import torch.cuda.amp as amp


def main(model):
    scaler = amp.GradScaler()
    optimizer = optimizers.FusedAdam(model.parameters())
"""


@pytest.mark.parametrize(
    ("between", "goes"),
    [("import os", True), ("from os import path", True), ("handle = amp.init()", False), ("build()", False)],
)
def test_another_import_has_it(between: str, goes: bool) -> None:
    result = migrate_module(TEXT.replace("BETWEEN", between), Settings())
    text = result.new_text or ""
    assert ("apex" not in text and "torch.optim.AdamW(" in text) is goes
    assert any(finding.severity.value == "manual" for finding in result.findings) is not goes


EITHER = """\
import torch

try:
    from torch.cuda import amp
except ImportError:
    from apex import amp


def train(model, optimizer, x):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    scaler = amp.GradScaler()
    with amp.scale_loss(model(x).sum(), optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""


def test_what_may_be_torchs_is_told_so() -> None:
    result = migrate_module(EITHER, Settings())
    assert result.new_text is None
    assert any("amp.GradScaler is torch's own" in finding.message for finding in result.findings)
