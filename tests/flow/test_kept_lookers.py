"""Functions that look at gradients, run by what somebody was given."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.nodes import walk
from tests.asking import context, marked

TOP = """\
import contextlib, copy, functools, itertools, operator, types, weakref
from collections import deque
from hooks import HOOKS
from torch import nn

def size(model):
    return model.weight.grad.norm()

def plain(model):
    return model.weight.norm()

@functools.singledispatch
def report(what):
    print(what)

@report.register(nn.Module)
def _(what):
    print(size(what))

@functools.singledispatch
def told(what):
    print(what)

@told.register(nn.Module)
def _(what):
    print(plain(what))

TABLE = {}

def listed(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)  # inner
    TABLE[function.__name__] = inner
    return inner

@listed
def kept(model):
    print(size(model))

@HOOKS.register("size")
def registered(model):
    print(size(model))

class Stats:
    def __init__(self, model):
        self.model = model
        self.hooks, self.others = {"size": self.size}, {"plain": self.plain}

    @functools.singledispatchmethod
    def report(self, what):
        print(what)

    @report.register(nn.Linear)
    def _(self, what):
        print(size(what))

    def size(self, name="weight"):
        return getattr(self.model, name).grad

    def plain(self, name="weight"):
        return getattr(self.model, name)

    weight = functools.partialmethod(size, "weight")
    bias = functools.partialmethod(plain, "bias")

class Later(functools.partial):
    pass

stats = Stats(model)
model.told = types.MethodType(size, model)
model.plain = types.MethodType(plain, model)
nn.Linear.shown = size
tell, other = operator.methodcaller("size"), operator.methodcaller("forward")
far, near = weakref.WeakMethod(stats.size), weakref.WeakMethod(stats.plain)
queue, copied = deque([stats.size]), copy.copy(stats.hooks)
later = Later(size, model)
stack, empty = contextlib.ExitStack(), contextlib.ExitStack()
stack.callback(size, model)
"""
RUNS = {
    "report(model)": True,
    "report.dispatch(nn.Linear)(model)": True,
    "told(model)": False,
    "stats.report(model)": True,
    "HOOKS['size'](model)": True,
    "HOOKS.run('size')": True,
    "stats.weight()": True,
    "stats.bias()": False,
    "model.told()": True,
    "model.plain()": False,
    "model.shown()": True,
    "tell(stats)": True,
    "list(map(tell, [stats]))": True,
    "other(stats)": False,
    "far()()": True,
    "near()()": False,
    "stats.hooks.get('size')()": True,
    "stats.others.get('plain')()": False,
    "stats.others.get('size', print)()": False,
    "stats.hooks.pop('size')()": True,
    "operator.itemgetter('size')(stats.hooks)()": True,
    "queue.popleft()()": True,
    "copied['size']()": True,
    "[hook() for hook in itertools.chain(stats.hooks.values(), [])]": True,
    "[hook() for hook in itertools.chain(stats.others.values(), [])]": False,
    "later()": True,
    "stack.close()": True,
    "empty.close()": False,
    "stack.callback(size, model)": False,  # only given: it runs later
    "model(x)": False,
    "optimizer.zero_grad()": False,
}


def runs(text: str, line: str) -> bool:
    ctx = context(text.replace(line, f"{line.split('  #')[0]}  # ?"))
    (stmt,) = marked(ctx.m)
    return any(ctx.unnamed.spells(node) for node in walk(stmt))


@pytest.mark.parametrize("expression", RUNS)
def test_calls(expression: str) -> None:
    line = f"value = {expression}"
    text = f"{TOP}def train(model, optimizer, x):\n" + indent(line, "    ")
    assert runs(text, line) is RUNS[expression]


def test_what_a_decorator_keeps() -> None:
    assert runs(TOP, "return function(*args)  # inner")


def test_what_a_decorator_keeps_of_others() -> None:
    """Nothing that it decorates looks at gradients."""
    assert not runs(TOP.replace("print(size(model))", "print(plain(model))"), "return function(*args)  # inner")


@pytest.mark.parametrize(("kept", "ends"), [("stack", True), ("empty", False)])
def test_the_end_of_a_block(kept: str, ends: bool) -> None:
    ctx = context(f"{TOP}with {kept}:  # ?\n    model(x)\n")
    (stmt,) = marked(ctx.m)
    assert ctx.unnamed.at_end(stmt) is ends
