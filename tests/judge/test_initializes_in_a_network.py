"""A network's own method that initializes, as a hook that a trainer calls: it is followed in the new program as in the
old one, though nothing is left in it."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from apex import amp


class Task(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x)

    def training_step(self, x):
        return self(x).pow(2).mean()

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]

    def configure_apex(self, amp, model, optimizers):
        model, optimizers = amp.initialize(model, optimizers, opt_level="O1")
        return model, optimizers


class Trainer:
    def fit(self, module, batches):
        self.module = module.cuda()
        self.optimizers, self.schedulers = self.split(module.configure_optimizers())
        self.module, self.optimizers = module.configure_apex(amp, self.module, self.optimizers)
        for x in batches:
            self.run(x)
        for scheduler in self.schedulers:
            scheduler.step()

    def split(self, out):
        if isinstance(out, torch.optim.Optimizer):
            return [out], []
        optimizers, schedulers = out
        return optimizers, schedulers

    def run(self, x):
        for optimizer in self.optimizers:
            loss = self.module.training_step(x)
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            BETWEEN
            optimizer.step()
            optimizer.zero_grad()


Trainer().fit(Task(), data)
"""


def _migrated(between: str) -> tuple[Applicability, str]:
    result = migrate_module(TEXT.replace("BETWEEN", between), Settings())
    return result.units[0].applicability, result.new_text or ""


def test_it_is_followed_in_both() -> None:
    grade, text = _migrated("pass")
    assert grade is not Applicability.MANUAL
    assert "amp.initialize" not in text
    assert "scheduler.step()" in text and "scaler.step(scheduler)" not in text


def test_what_differs_behind_it_is_found() -> None:
    assert _migrated("print(self.module.layer.weight.grad.norm()); self.peek()")[0] is not Applicability.SAFE
