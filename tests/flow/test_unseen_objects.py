"""Gradients that are looked at because an object begins, goes, or is given an attribute; and around whole methods."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from migrate.nodes import walk
from tests.asking import context, marked

TOP = """\
import dataclasses
import types
import weakref
import torch.nn as nn
LOG = []
def sized(model):
    return model.weight.grad.norm()
def current():
    return sized(LOG[0])
def weighed(model):
    return model.weight.norm()
@dataclasses.dataclass
class Shot:
    model: dataclasses.InitVar[nn.Module]
    def __post_init__(self, model):
        self.size = sized(model)
@dataclasses.dataclass
class Row:
    size: float = dataclasses.field(default_factory=current)
@dataclasses.dataclass
class Plain:
    size: list = dataclasses.field(default_factory=list)
class Once:
    def __new__(cls, model):
        LOG.append(model.weight.grad)
        return super().__new__(cls)
class Span:
    def __del__(self):
        LOG.append(sized(self.model))
class Scope:
    def __init__(self, model):
        weakref.finalize(self, Scope.write, model)
    @staticmethod
    def write(model):
        LOG.append(sized(model))
class Quiet:
    def __init__(self, model):
        weakref.finalize(self, weighed, model)
    def __del__(self):
        LOG.append(weighed(self.model))
class Told:
    def __setattr__(self, name, value):
        LOG.append(sized(self.model))
class Stat:
    def __init__(self, f):
        self.f = f
    def __get__(self, owner, kind=None):
        return self.f(owner)
class Run:
    size = Stat(lambda run: run.model.weight.grad.norm())
    by_name = Stat(f=sized)
    other = Stat(lambda run: run.model.weight.norm())
def work(model):
    span = Span(model)
    model.run()
def rest(model):
    quiet = Quiet(model)
    model.run()
class Trainer:
    def behind(self):
        pass
    def ahead(self):
        pass
    def bound(self):
        pass
    def named(self):
        pass
    def other(self):
        pass
Trainer.behind = sized
Trainer.other = weighed
setattr(Trainer, "named", sized)
trainer = Trainer()
trainer.bound = types.MethodType(sized, trainer)
told, run = Told(), Run()
span, scope, quiet = Span(), Scope(model), Quiet(model)
def looking(name):
    def deco(cls):
        plain = getattr(cls, name)
        def wrapped(self):
            LOG.append(sized(self.model))
            return plain(self)
        setattr(cls, name, wrapped)
        return cls
    return deco
@looking("back")
class Wrapped:
    def back(self):
        pass
    def other(self):
        pass
def watched(f):
    def inner(self):
        LOG.append(sized(self.model))
        return f(self)
    return inner
class Watching(type):
    def __new__(mcs, name, bases, space):
        return super().__new__(mcs, name, bases, {k: watched(f) for k, f in space.items()})
class Watched(metaclass=Watching):
    def back(self):
        pass
class Base:
    def __init_subclass__(cls):
        plain = cls.back
        def back(self):
            LOG.append(sized(self.model))
            return plain(self)
        cls.back = back
class Derived(Base):
    def back(self):
        pass
wrapped, by_meta, derived = Wrapped(), Watched(), Derived()
"""
READS = {
    "Shot(model)": True,
    "Row()": True,
    "Row": False,
    "Plain()": False,
    "Once(model)": True,
    "del span": True,
    "span = None": True,
    "del scope": True,
    "scope = None": True,
    "del quiet": False,
    "quiet = 1": False,
    "print(span)": False,
    "told.step = 1": True,
    "print(told.step)": False,
    "print(run.size)": True,
    "print(run.by_name)": True,
    "print(run.other)": False,
    "work(model)": True,
    "rest(model)": False,
    "trainer.behind()": True,
    "trainer.named()": True,
    "trainer.bound()": True,
    "trainer.ahead()": False,
    "trainer.other()": False,
    "wrapped.back()": True,
    "wrapped.other()": False,
    "by_meta.back()": True,
    "derived.back()": True,
}


@pytest.mark.parametrize("body", READS)
def test_reads(body: str) -> None:
    ctx = context(f"{TOP}def train(model):\n    global span, scope, quiet\n" + indent(f"{body}  # ?", "    "))
    (stmt,) = marked(ctx.m)
    asked: list[ast.AST] = [*walk(stmt)]
    assert any(ctx.unnamed.spells(node) or bool(ctx.unnamed.run_by(node)) for node in asked) is READS[body]
