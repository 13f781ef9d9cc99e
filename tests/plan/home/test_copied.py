"""Copies of what holds the scaler, made between unscale_() and update(): GradScaler refuses them."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import copy
import pickle

import torch
import torch.nn.functional as F
from apex import amp


class Run:
    def __init__(self):
        self.model = torch.nn.Linear(4, 3)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        self.norms = []

    def snapshot(self):
        return copy.deepcopy({k: v for k, v in self.__dict__.items() if k != "norms"})
STATE

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 1.0)
        BETWEEN
        self.optimizer.step()
        BEHIND


run = Run()
for x, y in data:
    run.step(x, y)
"""
STATE = "\n    def __getstate__(self):\n        return {**self.__dict__, 'norms': []}"


def said(between: str = "", behind: str = "", state: str = "") -> list[str]:
    text = TEXT.replace("BETWEEN", between).replace("BEHIND", behind).replace("STATE", state)
    result = migrate_module(text, Settings())
    assert result.new_text is not None
    return [f.message for f in result.findings if "copied" in f.message]


@pytest.mark.parametrize(
    "copied",
    [
        "kept = self.snapshot()",
        "kept = copy.deepcopy(self)",
        "kept = pickle.dumps(self.__dict__)",
        "kept = {k: copy.copy(v) for k, v in vars(self).items()}",
        "torch.save({'run': self}, 'run.pt')",
        "if loss > 3:\n            kept = copy.deepcopy(self)",
    ],
)
def test_a_copy_of_the_trainer_behind_the_clip_is_named(copied: str) -> None:
    assert len(said(copied)) == 1


@pytest.mark.parametrize("copied", ["kept = copy.deepcopy(self.model)", "torch.save(self.model.state_dict(), 'm.pt')"])
def test_a_copy_of_its_model_is_not(copied: str) -> None:
    assert not said("self.norms.append(1)", copied) and not said(behind="kept = self.snapshot()")


def test_a_class_that_writes_its_state_out_is_asked_for_that() -> None:
    assert not said("kept = copy.deepcopy(self)", state=STATE)
