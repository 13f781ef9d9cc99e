"""Where a native scaler steps in one arm and Apex's optimizer in the other, gradients are unscaled ahead of both."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
import torch.nn.functional as F
from apex import amp


class Trainer:
    def __init__(self, model, backend):
        self.model, self.backend, self.rounds = model, backend, 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.native = torch.cuda.amp.GradScaler() if backend == "native" else None
        if backend == "apex":
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def train_step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        if self.rounds % 2 == 0:
            self.optimizer.zero_grad()
        if self.backend == "apex":
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        elif self.backend == "native":
            self.native.scale(loss).backward()
        else:
            loss.backward()
        if self.rounds % 2:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            if self.backend == "native":
                OTHER
            else:
                self.optimizer.step()
        self.rounds += 1


trainer = Trainer(torch.nn.Linear(4, 2), "apex")
trainer.train_step(torch.rand(2, 4), torch.tensor([0, 1]))
"""
CLIP = "            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)\n            if self.backend"
MOVED = "                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)\n                self.scaler.step"


def _migrated(other: str) -> tuple[Applicability, str]:
    result = migrate_module(TEXT.replace("OTHER", other), Settings())
    (unit,) = result.units
    return unit.applicability, result.new_text or ""


def test_a_clip_stays_ahead_of_both_steps() -> None:
    applicability, text = _migrated("self.native.step(self.optimizer); self.native.update()")
    assert applicability is Applicability.SAFE
    assert CLIP in text
    assert f"            self.scaler.unscale_(self.optimizer)\n{CLIP}" in text


@pytest.mark.parametrize("other", ["pass", "self.native.update()", "self.native.step(self.model)"])
def test_an_arm_that_takes_no_step_leaves_the_step_out(other: str) -> None:
    applicability, text = _migrated(other)
    assert applicability is Applicability.REVIEW
    assert MOVED in text


WRAPPED = """\
class Scheduled:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self, closure=None, where=0.0):
        for group in self.optimizer.param_groups:
            group["lr"] = 0.1 * (1 - where)
        if closure is None:
            self.optimizer.step()
        else:
            self.optimizer.step(closure)


"""


SET_UP = """\
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if backend == "apex":
            self.model, optimizer = amp.initialize(self.model, optimizer, opt_level="O1")
        self.optimizer = Scheduled(optimizer)
        self.native = torch.cuda.amp.GradScaler() if backend == "native" else None

"""


def test_a_wrapper_of_the_optimizer_is_handed_to_either() -> None:
    text = TEXT.replace("OTHER", "self.native.step(self.optimizer, where=0.5); self.native.update()")
    text = text.replace("self.optimizer.step()", "self.optimizer.step(where=0.5)")
    text = text.replace("amp.scale_loss(loss, self.optimizer)", "amp.scale_loss(loss, self.optimizer.optimizer)")
    first, last = text.index("        self.optimizer = torch"), text.index("    def train_step")
    text = f"{text[:first]}{SET_UP}{text[last:]}".replace("class Trainer:", f"{WRAPPED}class Trainer:")
    result = migrate_module(text, Settings())
    assert result.units[0].applicability is not Applicability.MANUAL
    assert result.new_text is not None and CLIP in result.new_text
