"""Parameters that two networks share, with an optimizer each: a loss of one leaves gradients in the other's."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """
import copy
import lib
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(2, 2)

    def forward(self, x):
        return self.one(x)


class Enc(nn.Module):
    def __init__(self, head=None):
        super().__init__()
        self.dim = 2
        self.emb, self.block = nn.Linear(2, 2), Block()
        self.head = head if head is not None else nn.Linear(2, 2)
        self.emb.weight = self.head.weight

    def forward(self, x):
        return self.head(self.block(self.emb(x)))


class Dec(nn.Module):
    def __init__(self, head=None, of=None):
        super().__init__()
        self.body, self.block = nn.Linear(2, 2), Block()
        self.head = head if head is not None else nn.Linear(2, 2)
        if of is not None:
            TYING

    def forward(self, x):
        return self.head(self.block(self.body(x)))

    def tie(self, other):
        self.head = other.head
        return self

    def take(self, head):
        self.head = head


def tie(net, other):
    net.head.weight = other.head.weight


def main(batches):
    MADE
    opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
    opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
    [a, b], [opt_a, opt_b] = amp.initialize([a, b], [opt_a, opt_b], opt_level="O1")
    for x, y in batches:
        opt_a.zero_grad()
        opt_b.zero_grad()
        loss_a, loss_b = F.mse_loss(a(x), y), b(x).pow(2).mean()
        with amp.scale_loss(loss_a, opt_a) as scaled:
            scaled.backward()
        with amp.scale_loss(loss_b, opt_b) as scaled:
            scaled.backward()
        opt_a.step()
        opt_b.step()
"""
BOTH = "a, b = Enc(), Dec(); "
LIBRARY = "a, b = lib.Encoder(), lib.Decoder(); "


@pytest.mark.parametrize(
    "made",
    [
        BOTH + "b.head = a.head",
        BOTH + "b.head.weight = a.head.weight",
        BOTH + "head = a.head; b.head = head",
        BOTH + "setattr(b, 'head', a.head)",
        BOTH + "setattr(b.head, 'weight', a.head.weight)",
        BOTH + "b.add_module('head', a.head)",
        BOTH + "b.head.register_parameter('weight', a.head.weight)",
        BOTH + "b._modules['head'] = a.head",
        BOTH + "b.head._parameters['weight'] = a.head.weight",
        BOTH + "b.tie(a)",
        BOTH + "tie(b, a)",
        BOTH + "b.take(a.head)",
        BOTH + "b.head = nn.Sequential(a.head, nn.ReLU())",
        "a, b = Enc(), Enc(); tie(b, a)",
        "a = Enc(); b = Dec(a.head)",
        "a = Enc(); b = Dec(of=a)",
        "head = nn.Linear(2, 2); a, b = Enc(head), Dec(head)",
        "a, b = Enc(), Enc(); b.head = a.head",
        "a = Enc(); b = Enc(a.head)",
        "a = nn.Sequential(Block(), nn.ReLU(), Block()); b = nn.Sequential(a[0], nn.Tanh(), Block())",
        "a = nn.Sequential(nn.Linear(2, 2), nn.ReLU()); b = nn.Sequential(a[0], nn.Tanh(), nn.Linear(2, 2))",
        "a, b = nn.Sequential(Block(), nn.ReLU()), nn.Sequential(Block(), nn.Tanh()); b[0] = a[0]",
        "a = Enc(); b = copy.copy(a)",
        LIBRARY + "b.lm_head = a.lm_head",
        LIBRARY + "b.cls.weight = a.embed.weight",
    ],
)
def test_what_one_loss_leaves_in_what_both_have_is_seen(made: str) -> None:
    """A GradScaler unscales what both have twice, Apex did once."""
    assert _grade(made) == "manual"


@pytest.mark.parametrize(
    "made",
    [
        BOTH,
        BOTH + "b.head.weight.data = a.head.weight.data.clone()",
        BOTH + "b.head.load_state_dict(a.head.state_dict())",
        BOTH + "b.head = copy.deepcopy(a.head)",
        "a = Enc(); b = copy.deepcopy(a)",
        "a, b = Enc(), Enc()",
        BOTH + "b.dim = a.dim",
        "a = Enc(); b = Dec(Block())",
        "a, b = Enc(Block()), Dec(Block())",
        LIBRARY + "b.num_classes = a.num_classes",
        LIBRARY + "b.config = a.config",
        LIBRARY + "b.head = nn.Linear(a.head.in_features, 2)",
        LIBRARY + "b.head = Block()",
    ],
)
def test_what_shares_nothing_is_none(made: str) -> None:
    assert _grade(made) == "safe"


def _grade(made: str) -> str:
    text = TEXT.replace("MADE", made).replace("TYING", "self.head.weight = of.head.weight")
    (grade,) = {unit.applicability.value for unit in engine.migrate_module(text, Settings()).units}
    return grade
