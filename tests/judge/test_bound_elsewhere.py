"""A method that another object keeps runs on the object that it was taken of."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Cache:
    def __init__(self, model, backward):
        self.model, self.backward = model, backward

    def run(self, parts):
        for x in parts:
            self.backward(self.model(x).pow(2).mean())


class Trainer:
    def __init__(self, model, fp16):
        self.model, self.fp16 = model, fp16
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        self.cache = Cache(self.model, self.backward)

    def backward(self, loss):
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()

    def train(self, batches):
        for parts in batches:
            self.optimizer.zero_grad()
            self.cache.run(parts)
            self.optimizer.step()


def main(model, fp16, batches):
    Trainer(model, fp16).train(batches)
"""


def test_the_scaler_of_the_object_whose_method_it_is() -> None:
    result = migrate_module(TEXT, Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"], [f.message for f in result.findings]
    assert result.new_text is not None and "self.scaler.scale(loss).backward()" in result.new_text
