"""What a base's constructor sets is known behind each run of it, and the first call of a method that runs behind a
constructor, as unknown code made the object, is one like any other."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp


class Base:
    def __init__(self, opt):
        self.opt = opt
        self.training = opt.training

    def test(self):
        with torch.no_grad():
            self.forward()


class Model(Base):
    def __init__(self, opt):
        Base.__init__(self, opt)
        self.net = torch.nn.Linear(4, 2)
        if self.training:
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=opt.lr)
            if opt.apex:
                self.net, self.optimizer = amp.initialize(self.net, self.optimizer, opt_level="O1")

    def forward(self):
        self.out = self.net(self.x)

    def backward(self):
        self.loss = self.out.mean()
        if self.opt.apex:
            with amp.scale_loss(self.loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            self.loss.backward()

    def optimize_parameters(self):
        self.forward()
        self.optimizer.zero_grad()
        self.backward()
        self.optimizer.step()
"""


def test_its_options_are_the_same_behind_it() -> None:
    (unit,) = migrate_module(TEXT, Settings()).units
    assert unit.applicability is Applicability.SAFE, unit
