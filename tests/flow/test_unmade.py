"""Methods that look at gradients, of objects that are made by a name nobody follows."""

from __future__ import annotations

import ast

import pytest

from migrate.nodes import walk
from tests.asking import context, marked

TOP = """\
import hooks, torch
from torch import nn

class Callback:
    known = []

    def __init_subclass__(cls):
        Callback.known.append(cls)

    def __init__(self, model):
        self.model = model

    def __call__(self, event):
        getattr(self, event)()

    def after_backward(self):
        pass

    def after_step(self):
        pass

    def norm(self):
        pass

class Sizes(Callback):
    def after_backward(self):
        print(self.model.weight.grad.norm())

    @property
    def size(self):
        return self.model.weight.grad.norm()

class Made:
    def clipped(self, model):
        return model.weight.grad.norm()

class Layer(nn.Module):
    def shown(self):
        return self.weight.grad.norm()

made = Made()
"""
RUNS = {
    "eval(name)(model).after_backward()": True,
    "eval(name)(model).after_step()": False,
    "globals()[name](model).after_backward()": True,
    "vars()[name](model).after_backward()": True,
    "getattr(hooks, name)(model).after_backward()": False,
    "name(model).after_backward()": True,
    "torch.optim.SGD(model).after_backward()": False,
    "getattr(torch.optim, name)(model).after_backward()": False,
    "getattr(eval(name)(model), 'after_backward')()": True,
    "getattr(eval(name)(model), 'after_step')()": False,
    "getattr(eval(name)(model), event)()": True,
    "eval(name)(model)('after_backward')": True,
    "[cls(model).after_backward() for cls in Callback.__subclasses__()]": True,
    "[cls(model).after_backward() for cls in Callback.known]": True,
    "[cls(model).norm() for cls in Callback.known]": False,
    "given.after_backward()": True,
    "given.after_step()": False,
    "given.clipped(model)": False,  # an object of that class is made here, and is no argument
    "eval(name)(model).clipped(model)": True,
    "eval(name)(model).shown()": False,  # a network, whose calls are another matter
    "eval(name)(model).size": False,
}


@pytest.mark.parametrize(("text", "runs"), RUNS.items())
def test_runs(text: str, runs: bool) -> None:
    ctx = context(f"{TOP}\ndef told(model, name, event, given):\n    {text}  # ?\n")
    (stmt,) = marked(ctx.m)
    calls = [n for n in walk(stmt) if isinstance(n, ast.Call)]
    found = [f for call in calls for f in (*ctx.unnamed.run_by(call), *ctx.v.callees(call))]
    assert any(f in ctx.unnamed.looking for f in found) is runs
