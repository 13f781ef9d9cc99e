"""``super()``: the object is its own receiver all along, and only what the classes behind define is found there."""

from __future__ import annotations

import pytest

from migrate.model import Applicability
from tests.judge.support import judged_case

MIXINS = """\
from torch import nn
from apex import amp


class Base:
    def __init__(self, model, optimizer):
        self.optimizer = optimizer
        self.model, self.optimizer = amp.initialize(model, self.optimizer, opt_level="O1")

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()

    def step(self):
        self.optimizer.step()


class Clips:
    def step(self):
        nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 1.0)
        super().step()


class Logs:
    def step(self):
        super().step()
        self.history.append(1)


class Trainer(Logs, Clips, BASE):
    def __init__(self, model, optimizer):
        super().__init__(model, optimizer)
        self.history = []

    def fit(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            self.backward(self.model(x).sum())
            self.step()


def main(model, optimizer, batches):
    Trainer(model, optimizer).fit(batches)
"""


def test_mixins_that_hand_on_to_each_other() -> None:
    case = judged_case(MIXINS.replace("BASE", "Base"))
    assert case is not None and case.grade is Applicability.SAFE
    assert case.text.count("self.scaler.unscale_(self.optimizer)") == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.scaler.unscale_(self.optimizer)", "self.scaler.unscale_(super().optimizer)"),
        ("self.scaler.unscale_(self.optimizer)", "super().scaler.unscale_(self.optimizer)"),
        ("self.scaler.step(self.optimizer)", "self.scaler.step(super().optimizer)"),
    ],
)
def test_what_only_the_object_has_is_not_behind_it(before: str, after: str) -> None:
    case = judged_case(MIXINS.replace("BASE", "Base"))
    assert case is not None and before in case.text
    found = case.judged(case.text.replace(before, after))
    assert found is not None and "only the object itself has it" in found.said


def test_where_the_old_program_asks_for_it_nothing_is_known_behind() -> None:
    """It raises there, as it always did: that is no fault of the new one."""
    text = MIXINS.replace("BASE", "Base").replace("self.optimizer.zero_grad", "super().optimizer.zero_grad")
    case = judged_case(text)
    assert case is not None and case.grade is Applicability.REVIEW and not case.verdict.differences


@pytest.mark.parametrize("defined", ["optimizer = None", "optimizer = property(lambda self: self.__dict__['o'])"])
def test_what_a_class_behind_defines_is(defined: str) -> None:
    text = MIXINS.replace("BASE", "Base").replace("class Base:\n", f"class Base:\n    {defined}\n\n")
    case = judged_case(text)
    assert case is not None
    found = case.judged(case.text.replace("unscale_(self.optimizer)", "unscale_(super().optimizer)"))
    assert found is None or "only the object itself" not in found.said


def test_of_a_base_that_is_not_here_nothing_is_known() -> None:
    text = MIXINS.replace("BASE", "Base").replace("class Base:", "class Base(Library):")
    case = judged_case("from library import Library\n" + text)
    assert case is not None
    found = case.judged(case.text.replace("unscale_(self.optimizer)", "unscale_(super().optimizer)"))
    assert found is None or "only the object itself" not in found.said
