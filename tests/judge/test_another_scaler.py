"""A scaler that an expression may hold, where another one was made later."""

from __future__ import annotations

import pytest

from tests.judge.support import judged_case

TEXT = """\
from apex import amp


def train(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
MADE = '    scaler = torch.amp.GradScaler("cuda")\n'


@pytest.mark.parametrize(
    ("another", "said", "same"),
    [
        ("", "scaler", True),
        ("", "next(iter([scaler]))", True),
        ('    other = torch.amp.GradScaler("cuda")\n', "next(iter([scaler]))", True),
        ('    other = torch.amp.GradScaler("cuda")\n', "next(iter([other]))", False),
    ],
)
def test_which_of_two_steps(another: str, said: str, same: bool) -> None:
    case = judged_case(TEXT)
    assert case is not None and MADE in case.text
    planted = case.text.replace(MADE, MADE + another).replace("scaler.step(", f"{said}.step(")
    assert (case.judged(planted) is None) is same
