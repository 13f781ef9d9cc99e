"""An evaluation for objects that initialize nothing, beside classes of the same base whose objects do."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

SOLVERS = """\
import torch
import torch.nn.functional as F


class Solver:
    def __init__(self, paras):
        self.fp16 = paras.fp16

    def enable(self):
        if self.fp16:
            from apex import amp
            self.amp = amp
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")


class Trainer(Solver):
    def set_model(self):
        self.model = torch.nn.Linear(4, 3).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.enable()

    def run(self, loader):
        for x, y in loader:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            if self.fp16:
                with self.amp.scale_loss(loss, self.optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            self.optimizer.step()


class Tester(Solver):
    def set_model(self):
        self.model = torch.nn.Linear(4, 3).cuda()

    def run(self, loader):
        with torch.no_grad():
            return [self.model(x).argmax(1) for x in loader]
"""
SAID = "this runs for objects of `Tester`, and Apex is initialized for such of `Trainer` (line 16) alone"


SCALED = """\
            if self.fp16:
                with self.amp.scale_loss(loss, self.optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", True),
        ("trainer = Trainer(paras)\ntrainer.set_model()\ntrainer.run(loader)\ntester = Tester(paras)\n", False),
        ("class Both(Trainer, Tester):\n    pass\n", False),  # and such an object runs both
    ],
)
def test_whose_process_may_have_initialized_nothing_is_told(more: str, told: bool) -> None:
    plain = SOLVERS.replace(SCALED, "            loss.backward()\n")
    result = migrate_module(f"{plain}\n\n{more}", Settings())
    assert result.new_text is not None and "enabled=bool(self.fp16)" in result.new_text
    assert any(f.rule == "APX035" and SAID in f.message for f in result.findings) is told


def test_the_scaler_of_an_object_that_initializes_nothing_is_off() -> None:
    result = migrate_module(SOLVERS, Settings())
    assert result.new_text is not None and result.new_text.count("enabled=self.scaler.is_enabled()") == 2
    assert not any(SAID in f.message for f in result.findings)
