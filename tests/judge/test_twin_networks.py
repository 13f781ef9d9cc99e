"""Two networks of one class, each with an optimizer of its own: what runs one leaves the other alone."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """
import torch
import torch.nn as nn
from apex import amp


class Net(nn.Module):
    def __init__(self, body=None):
        super().__init__()
        self.body, self.head = body or nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.body(x))


def build(lr):
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    return net, optimizer


def begun(lr):
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    return amp.initialize(net, optimizer, opt_level="O1")


SHARED = nn.Linear(2, 2)


def built_on(body):
    net = nn.Sequential(body, nn.Linear(2, 1))
    return net, torch.optim.Adam(net.parameters())


def change(net):
    global two
    two = net


def main(batches):
    body = nn.Linear(2, 2)
MADE
    for x in batches:
        opt1.zero_grad()
        opt2.zero_grad()
        loss1 = one(x).abs().mean()
        loss2 = LOSS.abs().mean()
        with amp.scale_loss(loss1, opt1) as scaled:
            scaled.backward()
        with amp.scale_loss(loss2, opt2) as scaled:
            scaled.backward()
        opt1.step()
        opt2.step()
"""
BEGIN = "[one, two], [opt1, opt2] = amp.initialize([one, two], [opt1, opt2], opt_level='O1')"
EACH = "opt1 = torch.optim.SGD(one.parameters(), lr=0.1)\nopt2 = torch.optim.SGD(two.parameters(), lr=0.1)\n" + BEGIN
AT_ONCE = "opt1, opt2 = torch.optim.SGD(one.parameters()), torch.optim.SGD(two.parameters())\n" + BEGIN


@pytest.mark.parametrize(
    ("made", "loss", "grade"),
    [
        ("one, two = Net(), Net()\n" + EACH, "two(x)", "safe"),
        ("one, two = Net().cuda(), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\n" + EACH, "two(x)", "safe"),
        ("one, opt1 = build(0.1)\ntwo, opt2 = build(0.2)\n" + BEGIN, "two(x)", "safe"),
        ("one, opt1 = begun(0.1)\ntwo, opt2 = begun(0.2)", "two(x)", "safe"),
        ("one, two = Net(), Net()\n" + EACH, "(one(x) - two(x))", "manual"),  # reaches both
        ("one, two = Net(body), Net(body)\n" + EACH, "two(x)", "manual"),  # have a part in common
        ("one, two = Net(SHARED), Net(SHARED)\n" + EACH, "two(x)", "manual"),
        ("one, two = Net(), Net()\ntwo.body = one.body\n" + EACH, "two(x)", "manual"),
        ("one, two = Net(), Net()\n" + EACH.replace("[one, two], [opt1", "[two, one], [opt1", 1), "two(x)", "manual"),
        ("one, two = Net(), Net()\n" + AT_ONCE, "two(x)", "safe"),
        ("one, two = Net(body), Net(body)\n" + AT_ONCE, "two(x)", "manual"),
        ("one = two = Net()\n" + EACH, "two(x)", "manual"),
        ("global two\none, two = Net(), Net()\n" + EACH + "\nchange(one)", "two(x)", "manual"),
        ("one, two = Net(), Net()\nif len(batches) > 3:\n    two = one\n" + EACH, "two(x)", "manual"),
        ("one, opt1 = built_on(body)\ntwo, opt2 = built_on(body)\n" + BEGIN, "two(x)", "manual"),
        ("one, opt1 = build(0.1)\ntwo, opt2 = build(0.2)\n" + BEGIN, "(one(x) - two(x))", "manual"),
    ],
)
def test_which_gradients_a_loss_reaches(made: str, loss: str, grade: str) -> None:
    lines = "\n".join(f"    {line}" for line in made.splitlines())
    units = engine.migrate_module(TEXT.replace("MADE", lines).replace("LOSS", loss), Settings()).units
    assert {unit.applicability.value for unit in units} == {grade}


HELPER = """
import torch
import torch.nn as nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        return self.head(x)


class Pair:
    def __init__(self):
        self.a, self.b = Net(), Net()
        self.opt_a = torch.optim.Adam(self.a.parameters())
        self.opt_b = torch.optim.Adam(self.b.parameters())
        nets, optimizers = amp.initialize([self.a, self.b], [self.opt_a, self.opt_b], opt_level="O1")
        self.a, self.b = nets
        self.opt_a, self.opt_b = optimizers

    def backward(self, net, optimizer, x):
        loss = LOSS.abs().mean()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()

    def step(self, x):
        CLEAR
        self.backward(self.a, self.opt_a, x)
        self.backward(OTHER, self.opt_b, x)
        self.opt_a.step()
        self.opt_b.step()


pair = Pair()
for x in batches:
    pair.step(x)
"""
BOTH = "self.opt_a.zero_grad()\n        self.opt_b.zero_grad()"


@pytest.mark.parametrize(
    ("loss", "other", "clear", "grade"),
    [
        ("net(x)", "self.b", BOTH, "safe"),
        ("net(x)", "net=self.b", BOTH, "safe"),
        ("net(x)", "self.a", BOTH, "manual"),
        ("(net(x) - self.a(x))", "self.b", BOTH, "manual"),
        ("net(x)", "self.b if x.sum() > 0 else self.a", BOTH, "manual"),
        ("net(x)", "self.b", "self.opt_a.zero_grad()", "manual"),
    ],
)
def test_a_helper_is_handed_the_network(loss: str, other: str, clear: str, grade: str) -> None:
    text = HELPER.replace("LOSS", loss).replace("OTHER", other).replace("CLEAR", clear)
    if other.startswith("net="):
        text = text.replace(f"{other}, self.opt_b, x", f"{other}, optimizer=self.opt_b, x=x")
    units = engine.migrate_module(text, Settings()).units
    assert {unit.applicability.value for unit in units} == {grade}
