"""What a constructor of another file calls of what it is handed."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Neighbours, Settings

OTHER = """\
class Rollout:
    def __init__(self, policy, size=3):
        self.values = policy.act(size)


class Counter:
    def __init__(self, policy):
        self.heads = policy.heads()


class Holder:
    def __init__(self, policy):
        self.policy = policy
"""
PROGRAM = """\
import torch
from apex import amp
from torch import nn
from storage import Counter, Holder, Rollout


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def heads(self):
        return 2

    def forward(self, x):
        return self.fc(x)

    def act(self, x):
        return self(x).sum(1)


policy = Policy()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
policy, optimizer = amp.initialize(policy, optimizer, opt_level="O1")
for x in data:
    made = MADE
    loss = policy(x).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "inside"),
    [
        ("Rollout(policy)", True),
        ("Rollout(size=x, policy=policy)", True),
        ("Counter(policy)", False),  # the method runs no part of the network
        ("Holder(policy)", False),
        ("Rollout(x)", False),
    ],
)
def test_a_constructor_that_runs_a_method(made: str, inside: bool) -> None:
    others = Neighbours(elsewhere=elsewhere([outline(OTHER)]))
    new = migrate_module(PROGRAM.replace("MADE", made), Settings(), others).new_text
    assert new is not None
    before = new[: new.index(f"made = {made}")]
    assert ("torch.autocast" in before) is inside
