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


MADE = """\
import torch
from apex import amp


def build(model, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    BEGINS
    print(hasattr(optimizer, "_amp_stash"))
    return optimizer


def train(args, model, batches):
    optimizer = build(model, args)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in batches:
        loss = model(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""


def test_who_makes_an_optimizer_is_told_no_by_any() -> None:
    """The one scaler had to be there, too, where the optimizer is not initialized yet."""
    result = engine.migrate_module(MADE.replace("BEGINS", "pass"), Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    assert 'print(hasattr(optimizer, "_amp_stash"))' in (result.new_text or "")


def test_who_makes_and_initializes_it_is_not() -> None:
    begins = 'if args.fp16:\n        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")'
    again = MADE.replace("BEGINS", begins).replace(
        f'    {begins.replace(chr(10) + "    ", chr(10))}\n    for', "    for"
    )
    result = engine.migrate_module(again, Settings())
    assert "_amp_stash" not in (result.new_text or "")
