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
    ("top", "inside", "said"),
    [
        ("", INSIDE, True),
        ("", f"try:\n                {INSIDE}\n            except ImportError:\n                raise", True),
        ("from apex import amp", "pass", False),
        ("from apex import amp", INSIDE, False),  # both
        ("", f"global amp; {INSIDE}", False),
    ],
)
def test_a_loss_that_is_scaled_where_amp_has_no_value(top: str, inside: str, said: bool) -> None:
    """What the line is to do is plain: it is migrated as if the import were the file's own, and the report says so."""
    result = migrate_module(TRAINER.replace("TOP", top).replace("IMPORT", inside), Settings())
    assert result.new_text is not None and "scaler.step(self.optimizer)" in result.new_text
    assert "apex" not in result.new_text
    told = [f.severity for f in result.findings if "has no value here" in f.message]
    assert told == [Severity.REVIEW] * said


SCRIPT = """\
import torch


def train(args, model, loader, optimizer):
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = model(x, y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def main(args):
    if args.fp16:
        from apex import amp
    train(args, *setup(args))
"""


@pytest.mark.parametrize(("inside", "use"), [(INSIDE, "amp"), ("import apex", "apex.amp")])
def test_amp_that_only_main_imports(inside: str, use: str) -> None:
    """No use is Apex's, so there was no unit: the import went, as nobody reads it, and the rest was called done."""
    result = migrate_module(SCRIPT.replace(INSIDE, inside).replace("amp.", f"{use}."), Settings())
    assert result.new_text is not None and "scaler.step(optimizer)" in result.new_text
    assert [f.line for f in result.findings if f.severity is Severity.REVIEW] == [6]


def test_a_star_may_bring_the_name() -> None:
    """The initialize went alone, and ``amp.scale_loss`` stayed, as a name that may be anything."""
    result = migrate_module(SCRIPT.replace("import torch\n", "import torch\nfrom common import *\n"), Settings())
    assert result.new_text is not None and "apex" not in result.new_text and "scaled_loss" not in result.new_text
    (said,) = [f.message for f in result.findings if f.severity is Severity.REVIEW]
    assert "(unless `from common import *` brings one)" in said


def test_another_part_beside_it_is_looked_at_as_well() -> None:
    """Its second look knows nothing of other files: that was an internal error."""
    both = SCRIPT.replace(INSIDE, f"{INSIDE}\n        from apex.parallel import DistributedDataParallel as DDP")
    result = migrate_module(both, Settings())
    assert result.new_text is not None and "apex" not in result.new_text
