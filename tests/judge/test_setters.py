"""An assignment runs a property's setter: what that does of note is compared, and its getter says what was set."""

from __future__ import annotations

import re

import pytest

from migrate.model import Applicability
from tests.judge.support import Case, judged_case

TEXT = """\
from torch import nn
from apex import amp


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self._mixed = False

    @property
    def mixed(self):
        return self._mixed

    @mixed.setter
    def mixed(self, on):
        if on:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        self._mixed = on

    def fit(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            loss = self.model(x).sum()
            if self.mixed:
                with amp.scale_loss(loss, self.optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()


def main(model, optimizer, batches, on):
    trainer = Trainer(model, optimizer)
    trainer.mixed = SET
    trainer.fit(batches)
"""


def case_of(said: str) -> Case:
    case = judged_case(TEXT.replace("SET", said))
    assert case is not None
    return case


@pytest.mark.parametrize("said", ["True", "on"])
def test_a_setter_that_initializes_is_followed(said: str) -> None:
    case = case_of(said)
    assert not case.verdict.differences and case.verdict.unknown is None
    assert case.grade is not Applicability.MANUAL


@pytest.mark.parametrize(
    ("fault", "instead"),
    [
        (r" +self\.scaler\.update\(\)\n", ""),
        (r" +self\.scaler\.unscale_\(self\.optimizer\)\n", ""),
        (r"self\.scaler\.step\(self\.optimizer\)", "self.optimizer.step()"),
        (r"( +self\.scaler\.step.*\n)( +self\.scaler\.update\(\)\n)", r"\2\1"),
        (r"enabled=bool\(on\)", "enabled=False"),
        (r" +self\.scaler = .*\n", ""),
    ],
)
@pytest.mark.parametrize("said", ["True", "on"])
def test_a_fault_behind_it_is_found(said: str, fault: str, instead: str) -> None:
    case = case_of(said)
    planted = re.sub(fault, instead, case.text, count=1)
    assert planted != case.text
    assert case.judged(planted) is not None


def test_what_no_assignment_sets_is_off() -> None:
    assert case_of("False").verdict.unknown == "no path was found on which Apex scales a loss"
