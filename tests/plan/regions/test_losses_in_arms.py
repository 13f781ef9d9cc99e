"""The loss of a validation in an arm behind the forward, in the same block, keeps its casts."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp


def main(model, loader, val_loader, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    evaluate(model, val_loader, criterion)


def evaluate(model, loader, criterion):
    total = 0.0
    for x, y in loader:
        with torch.no_grad():
            out = model(x)
            BEHIND
            if y is not None:
                kept = out[:, 1:]
                loss = criterion(kept, y)
                total += loss.item()
    return total
"""
REGION = 'with torch.autocast("cuda", dtype=torch.float16):'


@pytest.mark.parametrize("behind", ["pass", "out = out.view(-1, 4)"])
def test_in_the_first_arm(behind: str) -> None:
    result = migrate_module(TEXT.replace("BEHIND", behind), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert f"{REGION}\n                    loss = criterion(kept, y)" in (result.new_text or "")


def test_in_the_other_one() -> None:
    other = "is None:\n                print(x)\n            else:"
    new = migrate_module(TEXT.replace("BEHIND", "pass").replace("is not None:", other), Settings()).new_text or ""
    assert f"{REGION}\n                    loss = criterion(kept, y)" in new


def test_what_is_no_tensor_any_more_needs_none() -> None:
    text = TEXT.replace("BEHIND", "out = out.cpu().numpy()")
    assert f"{REGION}\n                    loss" not in (migrate_module(text, Settings()).new_text or "")
