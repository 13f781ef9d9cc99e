"""A decorator around a method that takes the step looks at gradients, ahead of what it decorates or behind it."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import functools

import torch
from apex import amp


def watched(function):
    @functools.wraps(function)
    def inner(self):
        WATCH
        return function(self)

    return inner


class Loop:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    @watched
    def apply(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def once(self, x):
        loss = self.model(x).sum()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.apply()
"""


@pytest.mark.parametrize(
    ("watch", "unscaled"), [("print(self.model.weight.grad.norm())", True), ("print(self.model.weight.norm())", False)]
)
def test_gradients_are_unscaled_ahead_of_the_call(watch: str, unscaled: bool) -> None:
    result = migrate_module(TEXT.replace("WATCH", watch), Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    assert ("self.scaler.unscale_(self.optimizer)\n        self.apply()" in (result.new_text or "")) is unscaled


MADE = """\
def inner(self):
    print(self.model.weight.grad.norm())
    return function(self)
return inner
"""
LOG = "class Log:\n    def watched(self, function):\n" + indent(MADE, " " * 8)
AROUND = "def around(label, function):\n" + indent(MADE, "    ")
#: What stands in the place of the decorator, and how it is put at the method.
SHAPES = {
    "a method": (LOG + "log = Log()\n", "log.watched"),
    "a static method": (
        LOG.replace("    def", "    @staticmethod\n    def", 1).replace("(self, f", "(f"),
        "Log.watched",
    ),
    "an object": (LOG.replace("watched", "__call__") + "log = Log()\n", "log"),
    "an object that is made there": (LOG.replace("watched", "__call__"), "Log()"),
    "a factory that is a method": (
        "class Log:\n    def named(self, label):\n        def watched(function):\n" + indent(MADE, " " * 12)
        + "        return watched\nlog = Log()\n",
        'log.named("step")',
    ),
    "a lambda": (AROUND + 'watched = lambda function: around("step", function)\n', "watched"),
    "a partial": (AROUND, 'functools.partial(around, "step")'),
    "a part of a table": ("def watched(function):\n" + indent(MADE, "    ") + "HOW = {1: watched}\n", "HOW[1]"),
}


@pytest.mark.parametrize("case", SHAPES)
def test_decorators_of_other_shapes(case: str) -> None:
    above, decorator = SHAPES[case]
    head, _, rest = TEXT.partition("def watched")
    text = head + above + rest[rest.index("class Loop") :].replace("@watched", f"@{decorator}")
    result = migrate_module(text, Settings())
    assert [unit.applicability.value for unit in result.units] == ["safe"]
    assert "self.scaler.unscale_(self.optimizer)\n        self.apply()" in (result.new_text or "")
