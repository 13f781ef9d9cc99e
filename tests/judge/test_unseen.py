"""Gradients that are read by what runs unseen: a decorator, the end of a block, a property, a special method."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
import functools
from torch import nn
from apex import amp


def sized(model):
    return model.weight.grad.norm()


def logged(run):
    @functools.wraps(run)
    def inner(self, *args):
        print(LOGGED)
        return run(self, *args)
    return inner


class Watch:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        print(WATCHED)


class Base:
    @property
    def weights(self):
        return self.model.weight

    @property
    def energy(self):
        return self.model.weight.grad.norm()

    @functools.cached_property
    def kept(self):
        return sized(self.model)

    def _asked(self):
        return sized(self.model)

    asked = property(_asked)
    listed = property(lambda self: self.model.weight.grad)
    weighed = property(lambda self: self.model.weight)


class Trainer(Base):
    def __init__(self, model, optimizer):
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    REPORTED
    def report(self):
        print("a round is over")

    BACK
    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()

    STEPPED
    def step(self):
        self.optimizer.step()

    def fit(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            loss = self.model(x).sum()
            BLOCK
                self.backward(loss)
            BETWEEN
            self.step()
"""
PLAIN = {
    "LOGGED": "self.model.weight",
    "WATCHED": "self.model.weight",
    "REPORTED": "",
    "BACK": "",
    "STEPPED": "",
    "BLOCK": "if True:",
    "BETWEEN": "pass",
}
BY_CALL = "sized(self.model)"
SEEN = {
    "nothing is read": ({}, "safe", False),
    "a decorator ahead of a step": ({"LOGGED": "self.model.weight.grad", "STEPPED": "@logged"}, "safe", True),
    "a decorator that calls what reads": ({"LOGGED": BY_CALL, "STEPPED": "@logged"}, "safe", True),
    "a decorator of a backward": ({"LOGGED": "self.model.weight.grad", "BACK": "@logged"}, "manual", False),
    "a decorator between them": (
        {"LOGGED": "self.model.weight.grad", "REPORTED": "@logged", "BETWEEN": "self.report()"},
        "safe",
        True,
    ),
    "a decorator that looks at weights": ({"STEPPED": "@logged"}, "safe", False),
    "the end of a block": ({"WATCHED": "self.model.weight.grad", "BLOCK": "with Watch(self.model):"}, "safe", True),
    "the end of a block that calls what reads": (
        {"WATCHED": BY_CALL, "BLOCK": "with Watch(self.model):"},
        "safe",
        True,
    ),
    "the end of a block that looks at weights": ({"BLOCK": "with Watch(self.model):"}, "safe", False),
    "a property of a base": ({"BETWEEN": "print(self.energy)"}, "safe", True),
    "a property that is kept": ({"BETWEEN": "print(self.kept)"}, "safe", True),
    "a property made of a function": ({"BETWEEN": "print(self.asked)"}, "safe", True),
    "a property made of a lambda": ({"BETWEEN": "print(self.listed)"}, "safe", True),
    "a lambda that looks at weights": ({"BETWEEN": "print(self.weighed)"}, "safe", False),
    "a parameter's default": (
        {"BETWEEN": "def told(size=sized(self.model)):\n                return size"},
        "safe",
        True,
    ),
    "a default that stands there": (
        {"BETWEEN": "async def told(*, size=self.model.weight.grad.norm()):\n                return size"},
        "safe",
        True,
    ),
    "the body of a class": ({"BETWEEN": "class Told:\n                size = sized(self.model)"}, "safe", True),
    "a method's default": (
        {"BETWEEN": "class Told:\n                def told(self, size=sized(mine)):\n                    return size"},
        "safe",
        True,
    ),
    "a default behind a condition": (
        {"BETWEEN": "if x.late:\n                def told(size=sized(self.model)):\n                    return size"},
        "safe",
        True,
    ),
    "the body of a class behind a condition": (
        {"BETWEEN": "if x.late:\n                class Told:\n                    size = sized(self.model)"},
        "safe",
        True,
    ),
    "a default that looks at weights": (
        {"BETWEEN": "def told(size=self.model.weight.norm()):\n                return size"},
        "safe",
        False,
    ),
    "a function that would look": (
        {"BETWEEN": "def told():\n                return sized(self.model)"},
        "safe",
        False,
    ),
    "a property that looks at weights": ({"BETWEEN": "print(self.weights)"}, "safe", False),
}


@pytest.mark.parametrize("case", SEEN)
def test_what_runs_unseen(case: str) -> None:
    said, grade, unscaled = SEEN[case]
    text = TEXT
    for name, written in (PLAIN | said).items():
        text = text.replace(name, written)
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]
    assert ("unscale_" in (result.new_text or "")) is unscaled


JUMPING = """\
from torch import nn
from apex import amp


class Watch:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        print(READ)


def train(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in batches:
        with Watch(model):
            optimizer.zero_grad()
            loss = model(x).sum()
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            if x.late:
                JUMP
            optimizer.step()
"""


@pytest.mark.parametrize("jump", ["break", "return", "continue", "raise ValueError"])
def test_a_block_that_is_left_by_a_jump(jump: str) -> None:
    """Behind the first two no other block begins that could be the one that reads."""
    text = JUMPING.replace("JUMP", jump).replace("READ", "self.model.weight.grad")
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == ["manual"]
    assert any("`x.late` holds" in finding.message for finding in result.findings)


@pytest.mark.parametrize(
    ("jump", "grade"),
    [("break", "safe"), ("return", "safe"), ("continue", "review"), ("raise ValueError", "safe"), ("assert 0", "safe")],
)
def test_a_block_that_looks_at_weights_is_left_by_a_jump(jump: str, grade: str) -> None:
    """Gradients that the next round throws away are told (APX060)."""
    text = JUMPING.replace("JUMP", jump).replace("READ", "self.model.weight")
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]


def test_a_block_that_no_jump_leaves() -> None:
    """At its end gradients are those that the step has unscaled."""
    text = JUMPING.replace("JUMP", "print(x)").replace("READ", "self.model.weight.grad")
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]


@pytest.mark.parametrize("jump", ["assert not x.late", "check(x)"])
@pytest.mark.parametrize(("read", "grade"), [("self.model.weight.grad", "manual"), ("self.model.weight", "safe")])
def test_a_block_that_an_exception_leaves(jump: str, read: str, grade: str) -> None:
    text = JUMPING.replace("if x.late:\n                JUMP", jump).replace("READ", read)
    text += "\n\ndef check(x):\n    if x.late:\n        raise ValueError\n"
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]


FAILING = """\
from apex import amp


def train(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    try:
        for x in batches:
            optimizer.zero_grad()
            loss = model(x).sum()
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            assert not x.late
            optimizer.step()
    LEFT
        print(READ)
"""


@pytest.mark.parametrize(
    ("left", "read", "grade"),
    [
        ("finally:", "model.weight.grad", "manual"),
        ("finally:", "model.weight", "safe"),
        ("except AssertionError:", "model.weight.grad", "manual"),
        ("except AssertionError:", "model.weight", "review"),  # somebody goes on while the scaler waits (APX061)
    ],
)
def test_an_assertion_that_fails(left: str, read: str, grade: str) -> None:
    text = FAILING.replace("LEFT", left).replace("READ", read)
    result = engine.migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == [grade]
