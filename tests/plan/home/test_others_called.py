"""A call that may run a function of the program or code that nobody here knows is not handed the scaler."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import copy

import torch
from apex import amp


class Average:
    def __init__(self, module, other=None):
        self.module = MADE

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        self.module.eval()
        return self.module(*args, **kwargs)


class Trainer:
    def __init__(self, model, average=None, half=False):
        self.model, self.average = model, average
        if not isinstance(average, Average):
            self.average = Average(model, average)
        self.opt = torch.optim.Adam(model.parameters())
        if half:
            self.model, self.opt = amp.initialize(self.model, self.opt, opt_level="O1")
        self.half = half

    def train(self, loader):
        for x in loader:
            self.opt.zero_grad()
            loss = self.model(x).mean()
            if self.half:
                with amp.scale_loss(loss, self.opt) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.opt.step()

    def generate(self, x):
        with torch.no_grad():
            return self.average(x)


def main(model, loader, x):
    trainer = Trainer(model, half=True)
    trainer.train(loader)
    again = Trainer(model, average=trainer.average, half=True)
    again.train(loader)
    return again.generate(x)
"""


def test_a_copy_of_any_network() -> None:
    for made in ("copy.deepcopy(module) if other is None else other", "other or copy.deepcopy(module).to(0)"):
        new = migrate_module(TEXT.replace("MADE", made), Settings()).new_text
        assert new is not None
        assert "return self.module(*args, **kwargs)\n" in new
        assert "def forward(self, *args, **kwargs):" in new
        assert "return self.average(x)" in new
        assert new.index("enabled=self.scaler.is_enabled()", new.index("def generate")) < new.index("self.average(x)")


WRAPPED = """\
import torch
from apex import amp


class Step(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, optimizer):
        loss = self.net(x).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def main(net, loader, parallel):
    optimizer = torch.optim.Adam(net.parameters())
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    step = Step(net)
    if parallel:
        step = torch.nn.parallel.DistributedDataParallel(step.cuda())
    for x in loader:
        step(x, optimizer)
"""


def test_what_wraps_a_network_of_the_program_hands_it_on() -> None:
    new = migrate_module(WRAPPED, Settings()).new_text
    assert new is not None and "step(x, optimizer, scaler)" in new
