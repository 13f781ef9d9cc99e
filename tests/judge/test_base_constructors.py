"""What a base's constructor sets is known behind each run of it, and the first call of a method that runs behind a
constructor, as unknown code made the object, is one like any other."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

from .support import verdict_of

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


OVERWRITTEN = """\
import torch
import torch.nn.functional as F
from apex import amp


class SimpleTrainer:
    def __init__(self, model, loader, optimizer):
        self.model = model
        self.loader = iter(loader)
        self.optimizer = optimizer
        self.norms = []

    def train(self, rounds):
        for self.iter in range(rounds):
            self.run_step()

    def run_step(self):
        x, y = next(self.loader)
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class AMPTrainer(SimpleTrainer):
    def __init__(self, model, loader, optimizer):
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        super().__init__(model, loader, optimizer)

    def run_step(self):
        x, y = next(self.loader)
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()


def main(model, loader):
    AMPTrainer(model, loader, torch.optim.SGD(model.parameters(), lr=0.1)).train(2)
"""


def test_a_scaler_that_it_sets_behind_the_right_one_is_no_end_of_mixed_precision() -> None:
    (unit,) = (result := migrate_module(OVERWRITTEN, Settings())).units
    assert unit.applicability is Applicability.SAFE, unit
    right = result.new_text or ""
    default = '    scaler = torch.amp.GradScaler("cuda", enabled=False)\n\n'
    assert right.count(default) == 1
    set_behind = '        self.scaler = torch.amp.GradScaler("cuda", enabled=False)\n        self.norms = []\n'
    wrong = right.replace(default, "").replace("        self.norms = []\n", set_behind)
    (found,) = verdict_of(OVERWRITTEN, wrong).differences
    assert found.kind in ("casts", "scale-lost")
    assert not verdict_of(OVERWRITTEN, right).differences


PREPARES = """\
self._prepare(model, optimizer)
        super().__init__(self.model, loader, self.optimizer)

    def _prepare(self, model, optimizer):
        self._begin(model, optimizer)

    def _begin(self, model, optimizer):
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""


def test_what_initializes_ahead_of_it_is_found_two_calls_deep() -> None:
    head, _, rest = OVERWRITTEN.partition('model, optimizer = amp.initialize(model, optimizer, opt_level="O1")\n')
    text = head + PREPARES + rest.replace("        super().__init__(model, loader, optimizer)\n", "")
    (unit,) = (result := migrate_module(text, Settings())).units
    assert unit.applicability is Applicability.SAFE, unit
    assert '    scaler = torch.amp.GradScaler("cuda", enabled=False)\n\n' in (result.new_text or "")
