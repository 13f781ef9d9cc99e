"""Exceptions that nobody wrote down: a reader of gradients on their way sees what is there in that moment."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

LEFT = """\
import sys
from contextlib import contextmanager
from apex import amp


class Watch:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        print(READ)


@contextmanager
def watching(self):
    try:
        yield
    finally:
        print(READ)


def read(self):
    print(READ)


def note(x, seen):
    seen.append(int(x.name))


def train(self, optimizer, batches, limits):
    self.model, optimizer = amp.initialize(self.model, optimizer, opt_level="O1")
    OUTER
        for x in batches:
            optimizer.zero_grad()
            loss = self.model(x).sum()
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            BETWEEN
            optimizer.step()
            limits.append(loss.item())
    BEHIND
"""
WEIGHTS, GRADIENTS = "self.model.weight", "self.model.weight.grad"
BLOCKS = {
    "finally": ("try:", "finally:\n        read(self)"),
    "an own block": ("with Watch(self.model):", ""),
    "a generator's block": ("with watching(self):", ""),
    "a handler": ("try:", "except (KeyError, ValueError, SystemExit, AssertionError):\n        read(self)"),
}
FAILING = {
    "int": "number = int(x.name)",
    "exit": "if x.late:\n                sys.exit(1)",
    "lookup": "limit = limits[x.name]",
    "quotient": "rate = x.number / x.seconds",
    "unknown": "report(loss)",
    "assertion": "assert x.fine",
    "a function": "note(x, limits)",
}


def graded(block: str, between: str, read: str) -> str:
    outer, behind = BLOCKS[block]
    text = LEFT.replace("READ", read).replace("OUTER", outer).replace("BETWEEN", between).replace("BEHIND", behind)
    (unit,) = engine.migrate_module(text, Settings()).units
    return unit.applicability.value


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("failing", FAILING)
def test_gradients_are_read_on_its_way(block: str, failing: str) -> None:
    assert graded(block, FAILING[failing], GRADIENTS) == "manual"


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("failing", FAILING)
def test_weights_are(block: str, failing: str) -> None:
    assert graded(block, FAILING[failing], WEIGHTS) in ("safe", "review")


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("fine", ["late = x.late", "number = x.number + 1", "print(x)", "x = x[1:]"])
def test_what_does_not_fail(block: str, fine: str) -> None:
    assert graded(block, fine, GRADIENTS) in ("safe", "review")


@pytest.mark.parametrize("block", BLOCKS)
def test_what_fails_behind_the_step(block: str) -> None:
    """Gradients are unscaled there in both."""
    assert graded(block, "pass", GRADIENTS) in ("safe", "review")


DECORATED = """\
import functools
from apex import amp


def guarded(run):
    @functools.wraps(run)
    def inner(self, *args):
        try:
            return run(self, *args)
        LEFT
            print(READ)
    return inner


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    @guarded
    def fit(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            loss = self.model(x).sum()
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
            BETWEEN
            self.optimizer.step()


def main(model, optimizer, batches):
    Trainer(model, optimizer).fit(batches)
"""


@pytest.mark.parametrize("left", ["finally:", "except OSError:"])
@pytest.mark.parametrize(
    ("between", "read", "grade"),
    [
        ("number = int(x.name)", GRADIENTS, "manual"),
        ("number = int(x.name)", WEIGHTS, "safe"),
        ("number = x.number", GRADIENTS, "safe"),
    ],
)
def test_a_decorator_reads_on_its_way(left: str, between: str, read: str, grade: str) -> None:
    text = DECORATED.replace("LEFT", left).replace("BETWEEN", between).replace("READ", read)
    (unit,) = engine.migrate_module(text, Settings()).units
    assert unit.applicability.value == grade
