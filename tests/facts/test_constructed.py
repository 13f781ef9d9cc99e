"""What a constructor of another file calls of what it is handed."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.facts.elsewhere import elsewhere, outline
from migrate.model import Outside, Settings

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
    others = Outside(elsewhere=elsewhere([outline(OTHER)]))
    new = migrate_module(PROGRAM.replace("MADE", made), Settings(), others).new_text
    assert new is not None
    before = new[: new.index(f"made = {made}")]
    assert ("torch.autocast" in before) is inside


EVALUATED = """\
import torch
from apex import amp
from bars import run_with_bar, watch
from ignite.engine import create_supervised_evaluator

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
evaluator = create_supervised_evaluator(model, metrics)
for x, y in loader:
    loss = model(x, y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
CALL
"""
BARS = """\
def run_with_bar(engine, loader, said=None):
    engine.run(loader)


def watch(engine):
    engine.on(1)
"""


@pytest.mark.parametrize(
    ("call", "inside"),
    [
        ("run_with_bar(evaluator, rows)", True),
        ("run_with_bar(loader=rows, engine=evaluator)", True),
        ("run_with_bar(rows, evaluator)", False),
        ("watch(evaluator)", False),
    ],
)
def test_a_function_that_runs_what_a_library_made_to_evaluate(call: str, inside: bool) -> None:
    """The evaluation ran in float32, which was not said."""
    others = Outside(elsewhere=elsewhere([outline(BARS)]))
    new = migrate_module(EVALUATED.replace("CALL", call), Settings(), others).new_text
    assert new is not None and (f"    {call}" in new) is inside
