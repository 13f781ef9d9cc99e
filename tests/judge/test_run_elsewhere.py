"""A call of another file's function that runs the network it is handed is a forward to the judge as well."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Applicability, Outside

from .support import judged_case

TEXT = """\
import torch
from apex import amp
from runs import score


def main(loader):
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x in loader:
        optimizer.zero_grad()
        loss = score(net, x)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
RUNS = "def score(model, x):\n    return model(x).sum()\n"
LOOKS = "def score(model, x):\n    return sum(p.sum() for p in model.parameters()) * x.sum()\n"
REGION = """\
        with torch.autocast("cuda", dtype=torch.float16):
            loss = score(net, x)
"""


@pytest.mark.parametrize(("text", "seen"), [(RUNS, True), (LOOKS, False)])
def test_it_has_to_stand_in_a_region(text: str, seen: bool) -> None:
    case = judged_case(TEXT, outside=Outside(elsewhere=elsewhere([outline(text)])))
    if not seen:
        assert case is None  # nothing is known to compute the loss
        return
    assert case is not None and case.grade is Applicability.SAFE
    assert case.text.count(REGION) == 1
    found = case.judged(case.text.replace(REGION, "        loss = score(net, x)\n"))
    assert found is not None and found.line == 12
