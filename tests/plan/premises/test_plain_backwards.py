"""A plain backward that runs only where mixed precision is off: nobody has to be told of it."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
from apex import amp


def train(model, optimizer, batches, args):
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        if GUARD:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
            LEAVE
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("guard", "leave", "told"),
    [
        ("args.amp", "continue", False),
        ("args.amp", "break", False),
        ("args.amp", "optimizer.zero_grad()", True),  # it goes on to the other one
        ("x.large", "continue", True),
    ],
)
def test_behind_an_arm_that_is_left(guard: str, leave: str, told: bool) -> None:
    result = engine.migrate_module(TEXT.replace("GUARD", guard).replace("LEAVE", leave), Settings())
    assert any(finding.rule == "APX042" for finding in result.findings) is told
    if not told:
        assert [unit.applicability.value for unit in result.units] == ["safe"]
