"""What Apex keeps on an optimizer is not there natively; whether it was initialized can be asked."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
import torch
from torch import nn
from apex import amp


def train(args, model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    skipped = 0
    for x in batches:
        loss = model(x).sum()
        optimizer.zero_grad()
        if hasattr(optimizer, "_amp_stash"):
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        ASKED
        optimizer.step()
    return skipped
"""
ASKED = {
    "pass": "safe",
    "print(optimizer.stash)": "safe",
    'print(getattr(optimizer, "defaults"))': "safe",
    "skipped += optimizer._amp_stash.already_patched": "manual",
    'skipped += getattr(optimizer, "_amp_stash").already_patched': "manual",
    "optimizer._lazy_init_maybe_master_weights()": "manual",
}


@pytest.mark.parametrize("asked", ASKED)
def test_grade(asked: str) -> None:
    result = engine.migrate_module(TEXT.replace("ASKED", asked), Settings())
    assert [unit.applicability.value for unit in result.units] == [ASKED[asked]]
    if ASKED[asked] == "manual":
        assert any("keeps on its optimizers" in finding.message for finding in result.findings)
