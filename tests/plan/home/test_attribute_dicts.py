"""A dictionary whose items are attributes hands model and optimizer on: the scaler goes beside it."""

from __future__ import annotations

import ast

import pytest

from migrate.engine import migrate_module
from migrate.flow.attribute_dicts import has_items_alone, items_are_attributes
from migrate.model import Applicability, Settings

TRAINER = """\
import torch
import torch.nn.functional as F
from argparse import Namespace
from easydict import EasyDict as edict
from munch import Munch
from apex import amp


class Own(dict):
    __getattr__ = dict.get


def munched(**kwargs):
    return Munch(dict(**kwargs))


class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(4, 2).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, things, x, y):
        loss = F.cross_entropy(things.model(x), y)
        things.optimizer.zero_grad()
        with amp.scale_loss(loss, things.optimizer) as scaled_loss:
            scaled_loss.backward()
        things.optimizer.step()

    def train(self, loader):
        things = MADE
        for x, y in loader:
            self.step(things, x, y)
"""
NAMED = "model=self.model, optimizer=self.optimizer"
WRITTEN = '{"model": self.model, "optimizer": self.optimizer}'


@pytest.mark.parametrize(
    "made",
    [
        f"Munch({NAMED})",
        f"munched({NAMED})",
        f"edict({WRITTEN})",
        f"edict(dict({NAMED}))",
        f"Own({NAMED})",
        f"Own({WRITTEN})",
        f"Namespace({NAMED})",
    ],
)
def test_the_scaler_is_handed_on_beside_it(made: str) -> None:
    result = migrate_module(TRAINER.replace("MADE", made), Settings())
    assert result.new_text is not None, result.findings
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert "self.scaler = torch.amp.GradScaler" in result.new_text
    assert "self.step(things, self.scaler, x, y)" in result.new_text
    assert f"        things = {made}\n        for" in result.new_text, "nothing runs there"


def test_what_somebody_else_makes_of_them_stays() -> None:
    result = migrate_module(TRAINER.replace("MADE", f"packed({NAMED})"), Settings())
    assert result.new_text is None


@pytest.mark.parametrize(
    ("cls", "are"),
    [
        ("class C(dict):\n    def __getattr__(self, name):\n        return self[name]", True),
        ("class C(OrderedDict):\n    __getattr__ = dict.__getitem__", True),
        ("class C(dict):\n    def __init__(self, x):\n        self.update(x)\n        self.__dict__ = self", True),
        ("class C(dict):\n    def __init__(self, d):\n        self.__dict__ = d", False),
        ("class C(dict):\n    pass", False),
        ("class C:\n    def __getattr__(self, name):\n        return self.held[name]", False),
    ],
)
def test_which_classes_are_such(cls: str, are: bool) -> None:
    made = ast.parse(cls).body[0]
    assert isinstance(made, ast.ClassDef)
    assert items_are_attributes(made) is are


@pytest.mark.parametrize(
    ("methods", "alone"),
    [
        ("__getattr__ = dict.get", True),
        ("def __init__(self, *args, **kwargs):\n        self.__dict__ = self", True),
        ("def __init__(self, net):\n        self.net = net", False),
        ("def __call__(self, x):\n        return self.net(x)", False),
        ("def step(self):\n        self.optimizer.step()", False),
    ],
)
def test_which_are_no_more_than_their_items(methods: str, alone: bool) -> None:
    made = ast.parse(f"class C(dict):\n    {methods}").body[0]
    assert isinstance(made, ast.ClassDef)
    assert has_items_alone(made) is alone


def test_items_under_names_that_are_not_written_out() -> None:
    text = """\
import torch
from munch import Munch
from apex import amp

nets, optims = Munch(one=torch.nn.Linear(4, 2), other=torch.nn.Linear(4, 2)), Munch()
for name in nets:
    optims[name] = torch.optim.Adam(nets[name].parameters())
    nets[name], optims[name] = amp.initialize(nets[name], optims[name], opt_level="O1")
for x in loader:
    optims.one.zero_grad()
    loss = nets.one(x).mean()
    with amp.scale_loss(loss, optims.one) as scaled_loss:
        scaled_loss.backward()
    optims.one.step()
"""
    result = migrate_module(text, Settings())
    assert result.new_text is not None, result.findings
    assert "scaler.step(optims.one)" in result.new_text
