"""Hooks that are called after every backward and look at gradients in the rounds in which the step follows."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Hook:
    def after_backward(self, trainer):
        pass

    def after_epoch(self, trainer):
        pass


class Norm(Hook):
    def __init__(self):
        self.seen = []

    def after_backward(self, trainer):
        LOOK

    def after_epoch(self, trainer):
        print(len(self.seen))


class Trainer:
    def __init__(self, model, hooks, every):
        self.model, self.hooks, self.every = model, hooks, every
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def tell(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def epoch(self, loader):
        for i, x in enumerate(loader):
            self.steps = (i + 1) % self.every == 0
            loss = self.model(x).sum() / self.every
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
            self.tell("after_backward")
            if self.steps:
                CLIP
                self.optimizer.step()
                self.optimizer.zero_grad()
        self.tell("after_epoch")


def main(model, loader):
    Trainer(model, [Norm(), Hook()], 2).epoch(loader)
"""
NORM = "self.seen.append(trainer.model.weight.grad.norm())"
CLIP = "torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)"
EARLY = """\
            if self.steps:
                self.scaler.unscale_(self.optimizer)
            self.tell("after_backward")
"""


def migrated(look: str, clip: str = "pass") -> tuple[str, str]:
    result = migrate_module(TEXT.replace("LOOK", look).replace("CLIP", clip), Settings())
    (unit,) = result.units
    return unit.applicability.value, result.new_text or ""



@pytest.mark.parametrize("clip", ["pass", CLIP])
def test_gradients_are_unscaled_in_these_rounds(clip: str) -> None:
    applicability, new = migrated(f"if trainer.steps:\n            {NORM}", clip)
    assert applicability == "safe"
    assert EARLY in new and new.count("unscale_") == 1


def test_it_does_not_ask() -> None:
    applicability, new = migrated(NORM)
    assert applicability == "manual" and not new


def test_it_looks_at_them_in_the_others_as_well() -> None:
    applicability, _ = migrated(f"if not trainer.steps:\n            {NORM}")
    assert applicability == "manual"
