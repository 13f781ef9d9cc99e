"""A loss that is given another value inside of Apex's block is scaled as it was."""

import pytest

from .support import judged_case

SCRIPT = """\
import torch
from apex import amp


def train(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            {ahead}
            scaled_loss.backward()
            {behind}
        optimizer.step()
"""


@pytest.mark.parametrize("ahead", ["loss = loss / 2", "loss /= 2", "loss.div_(2)", "del loss"])
def test_a_loss_that_changes_ahead_of_its_backward(ahead: str) -> None:
    case = judged_case(SCRIPT.format(ahead=ahead, behind="pass"))
    assert case is not None and case.grade == "safe"
    assert "scaled_loss = scaler.scale(loss)" in case.text
    moved = case.text.replace("scaled_loss.backward()", "scaler.scale(loss).backward()")
    found = case.judged(moved)
    assert found is not None and found.line == 11
    assert "Apex had scaled the loss before it is given another value" in found.said


@pytest.mark.parametrize("ahead", ["print(loss.item())", "history.append(loss)", "loss.detach()", "total = loss / 2"])
def test_a_loss_that_is_only_looked_at(ahead: str) -> None:
    case = judged_case(SCRIPT.format(ahead=ahead, behind="loss = loss.item()"))
    assert case is not None and case.grade == "safe"
    assert "scaler.scale(loss).backward()" in case.text
