"""A loss that goes through a frozen network leaves no gradients there: what freezes it, and what may not."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate import engine
from migrate.model import Settings

GAN = """\
import torch
from torch import nn
from torch.nn import functional as F
from apex import amp

def set_requires_grad(nets, requires_grad=False):
    if not isinstance(nets, list):
        nets = [nets]
    for net in nets:
        if net is not None:
            for param in net.parameters():
                param.requires_grad = requires_grad

def freeze_some(net):
    for name, p in net.named_parameters():
        if "bias" in name:
            p.requires_grad = False

def thaw(net):
    net.requires_grad_(True)

def main(batches):
    G, D = nn.Linear(2, 2), nn.Linear(2, 1)
    opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
    opt_d = torch.optim.SGD(D.parameters(), lr=0.1)
    [G, D], [opt_g, opt_d] = amp.initialize([G, D], [opt_g, opt_d], opt_level="O1")
    for z, x in batches:
        opt_g.zero_grad()
        opt_d.zero_grad()
FREEZE
        fake = G(z)
        loss_g = F.softplus(-D(fake)).mean()
        with amp.scale_loss(loss_g, opt_g) as scaled:
            scaled.backward()
        D.requires_grad_(True)
        loss_d = F.softplus(D(fake.detach())).mean() + F.softplus(-D(x)).mean()
        with amp.scale_loss(loss_d, opt_d) as scaled:
            scaled.backward()
        opt_g.step()
        opt_d.step()
"""


def grades(text: str) -> list[str]:
    return [unit.applicability.value for unit in engine.migrate_module(text, Settings()).units]


@pytest.mark.parametrize(
    ("freeze", "grade"),
    [
        ("for p in D.parameters():\n    p.requires_grad = False", "safe"),
        ("for p in D.parameters():\n    p.requires_grad_(False)", "safe"),
        ("D.requires_grad_(False)", "safe"),
        ("set_requires_grad(D, False)", "safe"),
        ("set_requires_grad([D], requires_grad=False)", "safe"),
        ("set_requires_grad(D)", "safe"),
        ("for net in [D]:\n    net.requires_grad_(False)", "safe"),
        ("pass", "manual"),
        ("set_requires_grad(D, True)", "manual"),
        ("set_requires_grad(D, z.any())", "manual"),
        ("set_requires_grad(D, *[True])", "manual"),
        ("set_requires_grad(D, **{'requires_grad': True})", "manual"),
        ("G.requires_grad_(False)", "manual"),
        ("freeze_some(D)", "manual"),
        ("if z.any():\n    D.requires_grad_(False)", "manual"),
        ("D.requires_grad_(False)\nthaw(D)", "manual"),
        ("D.requires_grad_(False)\nif z.any():\n    D.weight.requires_grad = True", "manual"),
        ("for p in D.parameters():\n    if p.dim() > 1:\n        p.requires_grad = False", "manual"),
    ],
)
def test_what_freezes(freeze: str, grade: str) -> None:
    assert grades(GAN.replace("FREEZE", indent(freeze, " " * 8))) == [grade]


def test_a_loop_around_the_call_that_thaws_later() -> None:
    text = GAN.replace("FREEZE", "        D.requires_grad_(False)")
    again = text.replace(
        "        fake = G(z)\n", "        fake = G(z)\n        for _ in range(2):\n            y = D(fake)\n"
    )
    again = again.replace("F.softplus(-D(fake)).mean()", "F.softplus(-y).mean()")
    assert grades(again) == ["safe"]
    thawed = again.replace("            y = D(fake)\n", "            y = D(fake)\n            thaw(D)\n")
    assert grades(thawed) == ["manual"]


SOME_CLEARED = """\
import torch
from torch import nn
from apex import amp

def main(batches):
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x in batches:
        for p in net.parameters():
            if p.requires_grad:
                p.grad = None
        for p in net.parameters():
            p.requires_grad = WHETHER
        loss = net(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("whether", "grade"), [("True", "safe"), ("False", "manual"), ("x.any()", "manual")])
def test_those_that_need_gradients_are_all_that_have_some_where_none_is_frozen(whether: str, grade: str) -> None:
    assert grades(SOME_CLEARED.replace("WHETHER", whether)) == [grade]


TWO = """\
import copy
import torch
from torch import nn
from apex import amp

class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(2, 1)

    def forward(self, x):
        return self.one(x)

def freeze(net, on=False):
    for p in net.parameters():
        p.requires_grad = on

def set_requires_grad(nets, on=False):
    for net in nets:
        for p in net.parameters():
            p.requires_grad = on

def main(batches):
    G = nn.Linear(2, 2)
    MADE
    opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
    opt_1 = torch.optim.SGD(D1.parameters(), lr=0.1)
    opt_2 = torch.optim.SGD(D2.parameters(), lr=0.1)
    [G, D1, D2], [opt_g, opt_1, opt_2] = amp.initialize([G, D1, D2], [opt_g, opt_1, opt_2], opt_level="O1")
    for z, x in batches:
        opt_g.zero_grad()
        FREEZE
        loss_g = -(D1(G(z)) + D2(G(z))).mean()
        with amp.scale_loss(loss_g, opt_g) as scaled:
            scaled.backward()
        opt_g.step()
        D1.requires_grad_(True)
        D2.requires_grad_(True)
        fake = G(z).detach()
        loss_1 = (D1(fake) - D1(x)).mean()
        with amp.scale_loss(loss_1, opt_1) as scaled:
            scaled.backward()
        opt_1.step()
        opt_1.zero_grad()
        loss_2 = (D2(fake) - D2(x)).mean()
        with amp.scale_loss(loss_2, opt_2) as scaled:
            scaled.backward()
        opt_2.step()
        opt_2.zero_grad()
"""


@pytest.mark.parametrize(
    "made",
    ["D1, D2 = Critic(), Critic()", "D1 = Critic(); D2 = Critic().cuda()", "D1 = Critic(); D2 = copy.deepcopy(D1)"],
)
@pytest.mark.parametrize(
    ("freeze", "grade"),
    [
        ("D1.requires_grad_(False); D2.requires_grad_(False)", "safe"),
        ("freeze(D1); freeze(D2)", "safe"),
        ("set_requires_grad([D1, D2])", "safe"),
        ("nets = [D1, D2]; set_requires_grad(nets)", "safe"),
        ("\n        for d in (D1, D2):\n            d.requires_grad_(False)", "safe"),
        ("D1.requires_grad_(False)", "manual"),
        ("D2.requires_grad_(False)", "manual"),
        ("freeze(D1)", "manual"),
        ("set_requires_grad([D2])", "manual"),
        ("\n        for p in D1.parameters():\n            p.requires_grad = False", "manual"),
    ],
)
def test_what_freezes_one_of_two_networks_leaves_the_other(made: str, freeze: str, grade: str) -> None:
    assert grades(TWO.replace("MADE", made).replace("FREEZE", freeze)) == [grade]
