"""Results of another type that one file hands to what puts them into a tensor in another."""

from __future__ import annotations

import pytest

from migrate.facts.handed_types import gives_other_types, hands_over, puts_handed

BANK = """\
import torch


class Bank:
    def push(self, f):
        self.feats[torch.arange(len(f))] = f

    def put(self, i, f):
        self.feats[3] = f

    def count(self, f):
        self.seen[self.mask] = 1.0

    def like(self, f, at):
        out = torch.zeros_like(f)
        out[at] = f
        return out


def enqueue(queue, keys, at):
    queue.index_copy_(0, at, keys)
"""
NET = """\
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.GELU())
        self.w = nn.Parameter(torch.randn(6, 8))

    def states(self, x):
        return torch.einsum("bi,ij->bj", x, self.w)

    def logits(self, x):
        return self.body(x) @ self.w.t()

    def forward(self, x):
        return self.body(x)


class Plain(nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""
TRAIN = """\
import copy
import torch
import torch.nn as nn


def layers():
    return nn.Sequential(nn.Linear(6, 8), nn.GELU())


class Moco(nn.Module):
    def __init__(self):
        self.q = layers()
        self.k = copy.deepcopy(self.q)

    def step(self, x, bank, net):
        MOVE


def main(bank):
    other, model = 1, Net().cuda()
    plain = Plain().cuda()
    for x in loader:
        LINE
"""


def test_what_a_file_puts_and_gives() -> None:
    assert puts_handed(BANK) == {"push", "enqueue"}
    assert not gives_other_types(BANK).names
    assert puts_handed(NET) == frozenset()
    given = gives_other_types(NET)
    assert (given.functions, given.networks) == ({"states": "einsum"}, {"Net": "gelu"})
    broken = "import torch\ndef f(:\n    x[at] = softmax"
    assert not puts_handed(broken) and not gives_other_types(broken).names


@pytest.mark.parametrize(
    ("line", "handed"),
    [
        ("bank.push(model(x).detach())", {"push"}),
        ("z = model(x)\n        enqueue(queue, z, at)", {"enqueue"}),
        ("bank.push(f=model(x))", {"push"}),
        ("bank.push(model.states(x))", {"push"}),
        ("bank.push(torch.einsum('i,j', x.float(), y.float()))", {"push"}),
        ("bank.push(model(x).float())", set()),
        ("bank.push(plain(x))", set()),
        ("bank.push(model.logits(x))", set()),
        ("bank.put(3, model(x))", set()),
        ("bank.push(x)", set()),
    ],
)
@pytest.mark.parametrize("of_network", [False, True])
def test_who_is_handed_one(line: str, handed: set[str], of_network: bool) -> None:
    move = line.replace("model(", "self.k(").replace("model.", "net.") if of_network else "pass"
    if of_network and "plain" in line:
        return
    text = TRAIN.replace("LINE", "pass" if of_network else line).replace("MOVE", move)
    given = gives_other_types(NET)
    assert hands_over(text, given.functions, given.networks, puts_handed(BANK)) == handed
