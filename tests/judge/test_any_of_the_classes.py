"""A method of a base runs for an object of each class that is derived from it, where nobody here says of which."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

from .support import verdict_of

TEXT = """\
import torch
from apex import amp
from registry import TRAINERS


class Trainer:
    def __init__(self, cfg):
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg["lr"])
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def train_step(self, batch):
        raise NotImplementedError

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()

    def fit(self, batches):
        for batch in batches:
            self.train_step(batch)


@TRAINERS.register("plain")
class Plain(Trainer):
    def train_step(self, batch):
        loss = self.model(batch).mean()
        self.optimizer.zero_grad()
        self.backward(loss)
        self.optimizer.step()


@TRAINERS.register("mixed")
class Mixed(Trainer):
    def train_step(self, batch):
        loss = self.model(batch + batch.flip(0)).mean()
        self.optimizer.zero_grad()
        self.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()


def main(cfg, batches):
    TRAINERS[cfg["trainer"]](cfg).fit(batches)
"""


def test_it_runs_for_each() -> None:
    (unit,) = migrate_module(TEXT, Settings()).units
    assert unit.applicability is Applicability.SAFE, unit


def test_what_one_of_them_does_is_seen() -> None:
    new = migrate_module(TEXT, Settings()).new_text
    assert new is not None
    assert not verdict_of(TEXT, new).differences
    without = new.replace("        self.scaler.unscale_(self.optimizer)\n", "")
    assert without != new and verdict_of(TEXT, without).differences
