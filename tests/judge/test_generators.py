"""A generator that trains, wherever it is read to its end."""

from __future__ import annotations

import pytest

from migrate.model import Applicability
from tests.judge.support import judged_case

TEXT = """\
import torch
from torch import nn
from apex import amp


def train(net, optimizer, data):
    for x, y in data:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


def main(data):
    net = nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    READ
"""
CLIP = "        nn.utils.clip_grad_norm_"
READ = {
    "a list": "return list(train(net, optimizer, data))",
    "a sum": "return sum(train(net, optimizer, data)) / len(data)",
    "a comprehension": "return [v for v in train(net, optimizer, data)]",
    "pairs": "return {i: v for i, v in enumerate(train(net, optimizer, data))}",
    "a list that is gone through": "for v in list(train(net, optimizer, data)):\n        print(v)",
    "more of a list": "losses = []\n    losses += list(train(net, optimizer, data))",
}


@pytest.mark.parametrize("how", READ)
def test_it_is_followed(how: str) -> None:
    case = judged_case(TEXT.replace("READ", READ[how]))
    assert case is not None and case.grade is Applicability.SAFE
    found = case.judged(case.text.replace("        scaler.unscale_(optimizer)\n", ""))
    assert found is not None and "still scaled" in found.said


def test_one_that_nobody_reads_to_its_end_is_not() -> None:
    case = judged_case(TEXT.replace("READ", "return next(train(net, optimizer, data))"))
    assert case is not None and case.grade is not Applicability.SAFE
