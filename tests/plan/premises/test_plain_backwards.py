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


TWO = """\
import torch
from apex import amp
from nets import Critic, Net

model, critic = Net().cuda(), Critic().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
critic, critic_optimizer = amp.initialize(critic, critic_optimizer, opt_level="O1")


def train(model, critic, batches, optimizer, critic_optimizer):
    for x in batches:
        optimizer.zero_grad()
        critic_optimizer.zero_grad()
        loss = critic(model(x)).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        FIRST
        loss = -critic(model(x)).sum()
        with amp.scale_loss(loss, critic_optimizer) as scaled_critic_loss:
            scaled_critic_loss.backward()
        SECOND
        critic_optimizer.step()


train(model, critic, batches, optimizer, critic_optimizer)
"""


@pytest.mark.parametrize(
    ("first", "second", "migrated"),
    [
        ("optimizer.step(); critic_optimizer.zero_grad()", "pass", True),
        ("pass", "optimizer.step()", False),  # the critic's gradients were scaled yet, where the model's were not
    ],
)
def test_a_backward_that_is_scaled_for_another_unit(first: str, second: str, migrated: bool) -> None:
    result = engine.migrate_module(TWO.replace("FIRST", first).replace("SECOND", second), Settings())
    assert ("GradScaler(" in (result.new_text or "")) is migrated


MANAGER = """\
import contextlib
import torch
from apex import amp
from nets import Net


@contextlib.contextmanager
def handed(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled:
        BODY


def train(batches):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in batches:
        loss = model(x).sum()
        optimizer.zero_grad()
        with handed(loss, optimizer) as total:
            total.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("body", "grade"),
    [
        ("yield scaled", "safe"),
        ("yield loss", "manual"),  # a backward without a scale in a block of Apex's
        ("scaled.backward(retain_graph=True)\n    yield loss", "review"),  # one behind it is scaled now
    ],
)
def test_what_a_context_manager_hands_out_goes_by_any_name(body: str, grade: str) -> None:
    result = engine.migrate_module(MANAGER.replace("BODY", body), Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]


AGENT = """\
import torch
from apex import amp


class Agent:
    def __init__(self, config):
        self.actor, self.critic = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.acts = torch.optim.Adam(self.actor.parameters())
        self.judges = torch.optim.Adam(self.critic.parameters())
        if config.fp16:
            self.actor, self.acts = amp.initialize(self.actor, self.acts, opt_level="O1")
            self.critic, self.judges = amp.initialize(self.critic, self.judges, opt_level="O1")

    def train(self, args, state, target):
        off = (self.critic(state) - target).pow(2).mean()
        self.critic.zero_grad()
        if args.fp16:
            with amp.scale_loss(off, self.judges) as scaled:
                scaled.backward()
        else:
            off.backward()
        self.judges.step()
        loss = -self.critic(self.actor(state)).mean()
        self.actor.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, self.acts) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.acts.step()
"""


def test_in_the_other_arm_of_another_units_guard() -> None:
    result = engine.migrate_module(AGENT, Settings())
    assert sorted(unit.applicability.value for unit in result.units) == ["review", "safe"]
    assert "self.scaler.scale(off).backward()" in (result.new_text or "")
