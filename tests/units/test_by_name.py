"""What a call runs that says by which name: ``tell("begin")`` runs no ``end``."""

from __future__ import annotations

import ast

import pytest

from migrate.units import events, lifted, readers, steps
from tests.asking import context, unit

TEXT = """\
import torch
from apex import amp


class Trains:
    def begin(self, run):
        run.optimizer.zero_grad()

    def end(self, run):
        with amp.scale_loss(run.loss, run.optimizer) as scaled:
            scaled.backward()
        run.optimizer.step()


class Looks:
    def begin(self, run):
        pass

    def end(self, run):
        pass

    def look(self, run):
        print(run.model.weight.grad)


class Run:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer)
        self.hooks = [Trains(), Looks()]

    def tell(self, name):
        for hook in self.hooks:
            FOUND

    def round(self, x):
        self.tell("begin")
        self.loss = self.model(x).sum()
        self.tell("end")
        self.tell("look")
"""
FORMS = [
    "getattr(hook, name)(self)",
    "method = getattr(hook, name, None)\n            if method is not None:\n                method(self)",
]


@pytest.mark.parametrize("form", FORMS)
def test_only_these_are_run(form: str) -> None:
    ctx = context(TEXT.replace("FOUND", form))
    one = unit(ctx)
    one.steps = steps.find_steps(ctx, one)
    scope = ctx.m.scope_of[next(f for f in ctx.m.all(ast.FunctionDef) if f.name == "round")]
    told = {ctx.m.src(call.args[0]): call for call in ctx.m.calls("tell") if isinstance(call.args[0], ast.Constant)}
    assert [s.call for s in lifted.lifted_backwards(ctx, one, scope)] == [told['"end"']]
    assert [s.call for s in lifted.lifted_steps(ctx, one, scope)] == [told['"end"']]
    assert [event.what for event in events.events(ctx, one, scope)] == ["backward", "step"]
    looks = [word for word, call in told.items() if readers.reads_gradients(ctx, one, ctx.m.statement(call))]
    assert looks == ['"look"']
