"""Losses that an object of the program keeps, and whose total is scaled: a region stands where they are made."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp


BAG
    def backward(self, optimizer):
        with amp.scale_loss(self.TOTAL, optimizer) as scaled:
            scaled.backward()


net = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net, opt = amp.initialize(net, opt, opt_level="O1")
for x, y in data:
    bag = Bag()
    out = net(x)
    PUT
    opt.zero_grad()
    bag.backward(opt)
    opt.step()
"""
CALLED, ITEM = 'bag.add("ce", F.cross_entropy(out, y))', 'bag["ce"] = F.cross_entropy(out, y)'
INIT = "class Bag:\n    def __init__(self):\n        self.kept = {}\n\n    def ADD(self, name, value):\n        HOW\n"
TOTAL = "\n    @property\n    def total(self):\n        return MADE\n"


def bag_of(add: str, how: str, made: str) -> str:
    return INIT.replace("ADD", add).replace("HOW", how) + TOTAL.replace("MADE", made)


SUM = "sum(self.kept.values())"
BAGS = {
    "a dictionary": (bag_of("add", "self.kept[name] = value", SUM), CALLED),
    "a list": (bag_of("add", "self.kept.append(value)", "sum(self.kept)").replace("{}", "[]"), CALLED),
    "a sum": (bag_of("add", "self.loss = self.loss + value", "self.loss"), CALLED),
    "its own items": (bag_of("__setitem__", "self.kept[name] = value", SUM), ITEM),
    "a dictionary itself": ("class Bag(dict):" + TOTAL.replace("MADE", "sum(self.values())"), ITEM),
}


@pytest.mark.parametrize("case", BAGS)
@pytest.mark.parametrize("method", [False, True])
def test_a_total_of_kept_losses(case: str, method: bool) -> None:
    bag, put = BAGS[case]
    text = TEXT.replace("BAG\n", bag + "\n").replace("PUT", put).replace("TOTAL", "total()" if method else "total")
    result = migrate_module(text.replace("    @property\n", "") if method else text, Settings())
    assert result.new_text is not None, [f.message for f in result.findings]
    region = result.new_text.split("torch.float16):\n", 1)[1]
    assert region.startswith("        out = net(x)\n")
    assert "F.cross_entropy(out, y)" in region.splitlines()[1]


def test_one_that_nobody_fills_stays() -> None:
    bag = bag_of("other", "print(value)", SUM)
    text = TEXT.replace("BAG\n", bag + "\n").replace("PUT", "bag.other(1, out)").replace("TOTAL", "total")
    assert migrate_module(text, Settings()).new_text is None
