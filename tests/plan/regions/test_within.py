"""Two units of one file: what both would write is written once."""

from __future__ import annotations

import ast

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings
from migrate.plan.regions.marks import Region
from migrate.rules.apx030_autocast import unwrapped
from migrate.writing import begun
from tests.asking import context

GAN = """\
import torch
from apex import amp

G, D = Gen().cuda(), Dis().cuda()
opt_g = torch.optim.Adam(G.parameters())
opt_d = torch.optim.Adam(D.parameters())
G, opt_g = amp.initialize(G, opt_g, opt_level="O1")
BETWEEND, opt_d = amp.initialize(D, opt_d, opt_level="O1")
for x, y in loader:
    opt_g.zero_grad()
    fake = G(x)
    loss_g = D(fake).mean()
    if weight > 0:
        with torch.no_grad():
            real = D(y)
        loss_g = loss_g + (D(fake) - real).abs().mean()
    with amp.scale_loss(loss_g, opt_g) as scaled_loss:
        scaled_loss.backward()
    opt_g.step()
    opt_d.zero_grad()
    loss_d = D(fake.detach()).mean()
    with amp.scale_loss(loss_d, opt_d) as scaled_loss:  # of D
        scaled_loss.backward()                          # of D
        # opt_d.synchronize()
    opt_d.step()
"""


@pytest.mark.parametrize(("between", "scalers"), [("", 1), ("print(G)\n", 2)])
def test_what_two_units_write_alike(between: str, scalers: int) -> None:
    """One scaler where nothing but the calls stands between them, and no name for a loss where the other unit scales
    its own under the same; comments below a block that goes stand where the block stood."""
    new = migrate_module(GAN.replace("BETWEEN", between), Settings()).new_text
    assert new is not None
    assert new.count('scaler = torch.amp.GradScaler("cuda")\n') == scalers
    assert "    scaler.scale(loss_g).backward()\n" in new
    assert "    scaler.scale(loss_d).backward()  # of D\n    # opt_d.synchronize()\n" in new


TRAINER = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Trainer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.fp16 = args.fp16
        self.G = Gen().cuda()
        self.D = Dis().cuda()
        self.sm = nn.Softmax(dim=1)
        self.weight = args.weight
        self.opt_g = torch.optim.SGD(self.G.parameters(), lr=0.1)
        self.opt_d = torch.optim.SGD(self.D.parameters(), lr=0.1)
        if args.fp16:
            self.G, self.opt_g = amp.initialize(self.G, self.opt_g, opt_level="O1")
            self.D, self.opt_d = amp.initialize(self.D, self.opt_d, opt_level="O1")

    def gen(self, images, labels):
        self.opt_g.zero_grad()
        fake = self.G(images)
        loss = F.cross_entropy(fake, labels)
        loss += self.D(F.softmax(fake, dim=1)).mean()
        extra = 0.0
        if self.weight > 0:
            extra = -torch.mean(self.sm(0.5 * fake) ** 2)
            loss += self.weight * extra
        if self.fp16:
            with amp.scale_loss(loss, self.opt_g) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.opt_g.step()
        return fake

    def dis(self, fake, real):
        self.opt_d.zero_grad()
        fake = fake.detach()
        loss = self.D(F.softmax(fake, dim=1)).mean() - self.D(F.softmax(real, dim=1)).mean()
        if self.fp16:
            with amp.scale_loss(loss, self.opt_d) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.opt_d.step()
"""


def test_a_region_in_the_region_of_another_unit() -> None:
    """The softmax belongs to the networks of both: the generator's region reaches over it already."""
    new = migrate_module(TRAINER, Settings()).new_text
    assert new is not None
    assert new.count("torch.autocast(") == 2, new
    assert "            if self.weight > 0:\n                extra = -torch.mean(" in new


AGENT = """\
import copy
import torch
import torch.nn.functional as F
from apex import amp


class Agent:
    def __init__(self):
        self.actor = torch.nn.Linear(3, 2)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic = torch.nn.Linear(5, 1)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())
        self.actor, self.actor_optimizer = amp.initialize(self.actor, self.actor_optimizer, opt_level="O1")
        self.critic, self.critic_optimizer = amp.initialize(self.critic, self.critic_optimizer, opt_level="O1")

    def train(self, state, action, target):
        with torch.no_grad():
            target = target + self.actor_target(state).mean()
        q = self.critic(torch.cat([state, action], 1))
        critic_loss = F.mse_loss(q, target)
        self.critic_optimizer.zero_grad()
        with amp.scale_loss(critic_loss, self.critic_optimizer) as scaled_loss:
            scaled_loss.backward()
        self.critic_optimizer.step()
        actor_loss = -self.critic(torch.cat([state, self.actor(state)], 1)).mean()
        self.actor_optimizer.zero_grad()
        with amp.scale_loss(actor_loss, self.actor_optimizer) as scaled_loss:
            scaled_loss.backward()
        self.actor_optimizer.step()
"""
CRITIC = """\
        with torch.autocast("cuda", dtype=torch.float16):
            with torch.no_grad():
                target = target + self.actor_target(state).mean()
            q = self.critic(torch.cat([state, action], 1))
            critic_loss = F.mse_loss(q, target)
"""


def test_the_longer_of_two_regions_of_a_block() -> None:
    """A target network is the actor's: what it hands on and the loss are a region of that unit, shorter than the
    critic's."""
    result = migrate_module(AGENT, Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE, Applicability.SAFE]
    assert result.new_text is not None
    assert CRITIC in result.new_text and result.new_text.count("torch.autocast(") == 2, result.new_text


EVALUATED = """\
import torch
from apex import amp


class Net:
    def __init__(self, use_amp):
        self.g, self.d = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
        self.opt_g = torch.optim.SGD(self.g.parameters(), lr=0.1)
        self.opt_d = torch.optim.SGD(self.d.parameters(), lr=0.1)
        if use_amp:
            self.g, self.opt_g = amp.initialize(self.g, self.opt_g, opt_level="O1")
            BETWEENself.d, self.opt_d = amp.initialize(self.d, self.opt_d, opt_level="O1")
        self.use_amp = use_amp

    def update_g(self, x):
        self.opt_g.zero_grad()
        loss = -self.d(self.g(x)).mean()
        if self.use_amp:
            with amp.scale_loss(loss, self.opt_g) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.opt_g.step()

    def update_d(self, x):
        self.opt_d.zero_grad()
        loss = self.d(self.g(x).detach()).mean() - self.d(x).mean()
        if self.use_amp:
            with amp.scale_loss(loss, self.opt_d) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.opt_d.step()

    def evaluate(self, x):
        with torch.no_grad():
            fake = self.g(x)
            NEXT
            other = self.g(fake)
            real = self.d(x)
            print(real.argmax(1), self.d(other).argmax(1))
        return other
"""


@pytest.mark.parametrize("following", ["pass", "given = self.d(x)"])
def test_a_region_that_reaches_into_another_units_is_one_with_it(following: str) -> None:
    result = migrate_module(EVALUATED.replace("BETWEEN", "").replace("NEXT", following), Settings())
    assert result.new_text is not None and not [one for one in result.findings if one.rule == "APX031"]
    evaluated = result.new_text.partition("def evaluate")[2]
    assert evaluated.count("torch.autocast") == 1 and evaluated.index("torch.autocast") < evaluated.index("fake =")
    assert evaluated.index("\n            print(") > 0


def test_where_something_stands_between_the_calls_all_networks_are_under_one_too() -> None:
    text = EVALUATED.replace("BETWEEN", "print(self.g)\n            ").replace("NEXT", "given = self.d(x)")
    result = migrate_module(text, Settings())
    assert result.new_text is not None and not [one for one in result.findings if one.rule == "APX031"]


@pytest.mark.parametrize(
    ("wrapped", "left"),
    [((), [(1, 4)]), ((1, 2), [(3, 4)]), ((2,), [(1, 1), (3, 4)]), ((1, 2, 3, 4), []), ((0, 5), [(1, 4)])],
)
def test_what_another_unit_left_of_a_region_gets_one(wrapped: tuple[int, ...], left: list[tuple[int, int]]) -> None:
    """Of another condition, both cannot be one."""
    ctx = context("def run():\n" + "".join(f"    a{n} = {n}\n" for n in range(6)))
    (function,) = ctx.m.all(ast.FunctionDef)
    block, work = ctx.m.block(function.body[0]), begun(ctx, migrated=True)
    work.wrapped |= {block.body[n] for n in wrapped}
    assert [(one.first, one.last) for one in unwrapped(work, Region(block, 1, 4, "evaluation"))] == left
