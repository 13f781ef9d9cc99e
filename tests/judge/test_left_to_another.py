"""Gradients that one optimizer's last backward left, and which another one made of the same parameters steps with."""

from __future__ import annotations

import pytest

from migrate.model import Applicability
from tests.judge.support import judged_case

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def fit(model, optimizer, data):
    for i, (x, y) in enumerate(data):
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        if i % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()


def main(data):
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
    first = torch.optim.SGD(model.parameters(), lr=0.1)
    model, first = amp.initialize(model, first, opt_level="O1")
    fit(model, first, data)
    BETWEEN
    second = torch.optim.SGD(OF.parameters(), lr=0.01)
    NAME, second = amp.initialize(NAME, second, opt_level="O1")
    fit(NAME, second, data)
"""
MADE = "nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))"


@pytest.mark.parametrize(
    ("between", "of", "same"),
    [
        ("pass", "model[2]", False),
        ("first.zero_grad()", "model[2]", True),
        ("model.zero_grad()", "model[2]", True),
        ("del first", "model[2]", False),
        (f"other = {MADE}", "other[2]", True),
    ],
)
def test_a_second_stage_steps_with_what_the_first_one_left(between: str, of: str, same: bool) -> None:
    """Apex had unscaled it at once; natively it is scaled by a scale that nobody divides by any more."""
    case = judged_case(TEXT.replace("BETWEEN", between).replace("OF", of).replace("NAME", of.partition("[")[0]))
    assert case is not None
    assert not case.verdict.differences if same else {d.kind for d in case.verdict.differences} == {"step-scaled"}
    assert (case.grade is Applicability.SAFE) is same


def test_one_scaler_made_twice_in_one_place_has_two_scales() -> None:
    text = TEXT.replace("main(data)", "stage(data, model)").replace("    model = nn.", "    model = model or nn.")
    text = text.partition("    BETWEEN")[0] + "\n\nnet = nn.Linear(5, 3)\nfor part in (1, 2):\n    stage([], net)\n"
    case = judged_case(text)
    assert case is not None and {d.kind for d in case.verdict.differences} == {"step-scaled"}
