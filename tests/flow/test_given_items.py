"""Functions that an object makes for its items, in ``__getitem__``: ``hooks["backward"]()``."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.flow.touching import touching
from migrate.flow.values import Values

TRAINER = """\
class Norms:
    trainer = None
    quiet = 0

    def set_trainer(self, trainer):
        self.trainer = trainer

    def on_backward(self):
        return self.trainer.model.weight.grad.norm()

    def on_epoch(self):
        return 0


{group}

class Trainer:
    def __init__(self, model):
        self.model = model
        self.hooks = Group([Norms()])

    def step(self):
        {asked}


Trainer(model).step()
"""
GROUP = """\
class Group:
    def __init__(self, hooks):
        self.hooks, self.quiet = hooks, no_call

    def {method}(self, name):
        def call(*args):
            for hook in self.hooks:
                getattr(hook, name)(*args)
        return {given}

    def own(self):
        return None
"""
BY_ITEM = GROUP.format(method="__getitem__", given="call")


@pytest.mark.parametrize(
    ("group", "asked", "looks"),
    [
        (BY_ITEM, 'self.hooks["on_backward"]()', True),
        (BY_ITEM, 'call = self.hooks["on_backward"]\n        call()', True),
        (GROUP.format(method="__getitem__", given="name"), 'self.hooks["on_backward"]()', False),
        (GROUP.format(method="get", given="call"), 'self.hooks["on_backward"]()', False),
    ],
)
def test_a_function_made_for_an_item_is_followed(group: str, asked: str, looks: bool) -> None:
    m = Module(TRAINER.format(group=group, asked=asked))
    step = next(f for f in m.all(ast.FunctionDef) if f.name == "step")
    assert (step in touching(m, Values(m))) is looks


def test_what_is_handed_to_such_a_function_reaches_what_it_calls() -> None:
    m = Module(TRAINER.format(group=BY_ITEM, asked='self.hooks["set_trainer"](self)'))
    v = Values(m)
    (read,) = (n for n in m.all(ast.Attribute) if m.src(n) == "self.trainer" and isinstance(n.ctx, ast.Load))
    assert "Trainer" in {o.label for o in v.of(read)}
