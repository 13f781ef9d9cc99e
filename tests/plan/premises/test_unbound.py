"""A name of Apex where only another function of the file imports it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings, Severity

TRAINER = """\
import torch
TOP

class Trainer:
    def __init__(self, args, model, optimizer):
        self.args, self.model, self.optimizer = args, model, optimizer
        if args.fp16:
            IMPORT
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def train(self, loader):
        for x, y in loader:
            loss = self.model(x, y)
            self.optimizer.zero_grad()
            if self.args.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
"""
INSIDE = "from apex import amp"


@pytest.mark.parametrize(
    ("top", "inside", "stays"),
    [
        ("", INSIDE, True),
        ("from apex import amp", "pass", False),
        ("from apex import amp", INSIDE, False),  # both
        ("", f"global amp; {INSIDE}", False),
    ],
)
def test_a_loss_that_is_scaled_where_amp_has_no_value(top: str, inside: str, stays: bool) -> None:
    """Half of such a unit was migrated, and `amp.scale_loss` left behind without an import."""
    old = TRAINER.replace("TOP", top).replace("IMPORT", inside)
    result = migrate_module(old, Settings())
    new = result.new_text or old
    told = [f for f in result.findings if "has no value here" in f.message]
    assert bool(told) is stays
    assert ("scaler.step(self.optimizer)" in new) is not stays
    assert ("amp.scale_loss" in new) is stays
    assert all(f.suggestion == f"{INSIDE} at the top of the file, and run again" for f in told)


SCRIPT = """\
import torch


def train(args, model, loader, optimizer):
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = model(x, y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def main(args):
    if args.fp16:
        from apex import amp
    train(args, *setup(args))
"""


def test_amp_that_only_main_imports_stays_with_its_import() -> None:
    """No use is Apex's, so there was no unit: the import went, as nobody reads it, and the rest was called done."""
    result = migrate_module(SCRIPT, Settings())
    assert result.new_text is None
    told = [f for f in result.findings if f.severity is Severity.MANUAL]
    assert [(f.line, f.lines) for f in told] == [(6, (9, 16))] and "line 16" in told[0].message
    assert told[0].suggestion == f"{INSIDE} at the top of the file, and run again"


def test_another_part_beside_it_is_looked_at_as_well() -> None:
    """Its second look knows nothing of other files: that was an internal error."""
    both = SCRIPT.replace(INSIDE, f"{INSIDE}\n        from apex.parallel import DistributedDataParallel as DDP")
    result = migrate_module(both, Settings())
    assert result.new_text == SCRIPT  # nobody reads DDP
    assert [f.line for f in result.findings if f.severity is Severity.MANUAL] == [6]
