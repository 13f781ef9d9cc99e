"""What an earlier run in the same process left on is told of what runs before ``initialize``, and is no difference to
the judge."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from tests.judge.support import judged_case

TEXT = """\
from contextlib import contextmanager
import torch
import torch.nn.functional as F
from apex import amp

net = torch.nn.Linear(4, 1)


def score():
    return net(torch.ones(2, 4)).mean().item()


@contextmanager
def scored():
    print(score())
    yield


def train():
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
BEFORE
    for x, y in data:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()


train()
train()
"""
SWITCHED = 'model, optimizer = amp.initialize(net, optimizer, opt_level="O1")\n'


@pytest.mark.parametrize(
    "before",
    [
        "score()\n",
        "if score() > 1:\n    print('before')\n",
        "for _ in range(2):\n    score()\n",
        "with scored():\n    print('before')\n",  # an item of a `with` has no line of its own
        "match score():\n    case 1.0:\n        score()\n",
    ],
)
def test_what_an_earlier_run_left_on_was_not_meant(before: str) -> None:
    text = TEXT.replace("BEFORE\n", indent(before + SWITCHED, "    "))
    case = judged_case(text)
    assert case is not None and case.grade is Applicability.REVIEW and not case.verdict.differences
    assert {one.rule for one in migrate_module(text, Settings()).findings} == {"APX035"}
    once = judged_case(text.removesuffix("train()\n"))
    assert once is not None and once.grade is Applicability.SAFE and not once.verdict.differences


def test_a_loop_comes_by_initialize_again() -> None:
    """There the casts that are on are those of the same run: the second round's score had them."""
    before = "for _ in range(2):\n    score()\n" + indent(SWITCHED, "    ")
    case = judged_case(TEXT.replace("BEFORE\n", indent(before, "    ")).removesuffix("train()\n"))
    assert case is not None and case.grade is Applicability.SAFE
    region = 'with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):\n            score()'
    assert case.text.count(region) == 1
    found = case.judged(case.text.replace(region, "if True:\n            score()"))
    assert found is not None and "now without autocast" in found.said


PARTS = """\
import torch
import torch.nn as nn
from apex import amp


class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.fc = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(self.main(x))


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.fc = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(self.main(x))


g, d = G(), D()
opt_g = torch.optim.SGD(g.main.parameters(), lr=0.1)
opt_d = torch.optim.SGD(d.main.parameters(), lr=0.1)
[g, d], [opt_g, opt_d] = amp.initialize([g, d], [opt_g, opt_d], opt_level="O1")
for x in loader:
    loss_d = d(g(x)).mean()
    with amp.scale_loss(loss_d, opt_d) as scaled:
        scaled.backward()
    opt_d.step()
    d.main.zero_grad()
    CLEARED
    loss_g = g(x).pow(2).mean()
    with amp.scale_loss(loss_g, opt_g) as scaled:
        scaled.backward()
    opt_g.step()
    opt_g.zero_grad()
"""


@pytest.mark.parametrize(
    ("cleared", "grade"),
    [
        ("pass", Applicability.MANUAL),
        ("d.fc.zero_grad()", Applicability.MANUAL),
        ("g.main.zero_grad()", Applicability.SAFE),
        ("g.zero_grad()", Applicability.SAFE),
    ],
)
def test_parts_of_two_models_that_are_called_the_same_are_two(cleared: str, grade: Applicability) -> None:
    result = migrate_module(PARTS.replace("CLEARED", cleared), Settings())
    assert [unit.applicability for unit in result.units] == [grade]
