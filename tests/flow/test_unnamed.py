"""Gradients that are read where no ``.grad`` stands."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from migrate.nodes import walk
from tests.asking import context, marked

TOP = """\
from operator import attrgetter, attrgetter as getter, methodcaller
import torch
import torch.nn as nn
def norms(ps):
    for p in ps:
        yield p.grad.norm()
def sizes_of(ps):
    yield [size(p) for p in ps]
def size(p):
    return p.grad.norm()
class Acc:
    def __iadd__(self, model):
        self.total = model.weight.grad
        return self
    def __str__(self):
        return str(self.total)
class Layer:
    @property
    def size(self):
        return self.m.weight.grad.norm()
    def __lt__(self, other):
        return self.size < other.size
class Rows:
    def __init__(self, entries):
        self.entries = entries
class Line:
    def __str__(self):
        return str(self.m.weight.grad)
class Lazy:
    def __init__(self, fn):
        self.fn = fn
    def __str__(self):
        return self.fn()
class Step:
    @property
    def norm(self):
        return self.m.weight.grad.norm()
    @property
    def name(self):
        return "step"
class Named:
    def __lt__(self, other):
        return self.name < other.name
class Told:
    def __set__(self, owner, model):
        print(model.weight.grad)
class Watch:
    told = Told()
    @property
    def model(self):
        return self._model
    @model.setter
    def model(self, model):
        print(model.weight.grad)
class Slower(torch.optim.lr_scheduler.LambdaLR):
    def get_lr(self):
        return [g.grad for g in self.groups]
class Plain(torch.optim.lr_scheduler.LambdaLR):
    def get_lr(self):
        return [1]
FORMAT = "{p.grad}"
grad_of, other, weights = getter("grad"), attrgetter("weight.grad"), attrgetter("weight")
raw = torch.Tensor.grad.__get__
it, again, sizes = norms(model.parameters()), (p.grad for p in params), map(size, params)
it = norms(model.parameters())
first, through = 1, sizes_of(params)
plain, there = map(str, params), filter(lambda p: p.grad is not None, params)
size_of, name_of = methodcaller("size"), methodcaller("name")
layers, named, table = [Layer(), Layer()], [Named()], {"a": Layer()}
lazily = {"a": Lazy(lambda: size(p))}
step, rows, many = Step(), Rows({"line": Line()}), {"a": [("b", Line())]}
acc, watch, slower, plainly = Acc(), Watch(), Slower(opt), Plain(opt)
"""
READS = {
    "next(through)": True,
    "next(first)": False,
    'getattr(p, "grad")': True,
    'getattr(p, "data")': False,
    "grad_of(p)": True,
    "other(p)": True,
    "weights(p)": False,
    "map(grad_of, params)": True,
    "raw(p)": True,
    '"{0.grad}".format(p)': True,
    '"{0.data}".format(p)': False,
    "FORMAT.format(p=p)": True,
    'eval("p.grad")': True,
    'eval("1 + 1")': False,
    "eval(text)": True,
    "eval(model.text)": False,
    "eval(str(model.text))": False,
    "eval(str(text))": True,
    'eval(getattr(model, "text"))': False,
    "eval(text)(model)": False,
    '[eval(name) for name in ("text", "p.grad")]': True,
    '[eval(name) for name in ("text", "model.name")]': False,
    "model.eval()": False,
    "next(it)": True,
    "list(again)": True,
    "sum(sizes)": True,
    "next(plain)": False,
    "list(there)": False,
    'it.send("now")': True,
    'methodcaller("size")(p)': True,
    "map(size_of, ps)": True,
    "map(name_of, ps)": False,
    "max(layers)": True,
    "sorted(table)": True,
    "max(named)": False,
    "layers[0]": True,
    "len(layers)": False,
    "layers[:]": False,
    '"%s" % many': True,
    '"%s: %s" % (1, many)': True,
    '" ".join("%s %s" % kv for kv in rows.entries.items())': True,
    'f"{rows.entries}"': True,
    "str(lazily)": True,
    "json.dumps(lazily, default=str)": True,
    "writer.writerow(many)": True,
    "queue.put(many)": False,
    "len(many)": False,
    "json.dumps(named)": False,
    '"%s" % named': False,
    '"%d" % len(named)': False,
    "str(many)": True,
    "print(*many)": True,
    "getattr(step, text)": True,
    'getattr(step, "norm")': True,
    'getattr(step, "name")': False,
    'getattr(step, "n" + text)': True,
    'getattr(step, "name_" + text)': False,
    "getattr(named[0], 'n' + text)": False,
    '[getattr(step, f) for f in ("name", "other")]': False,
    '[getattr(step, f) for f in ("name", "norm")]': True,
    'attrgetter("norm")(step)': True,
    'attrgetter("name")(step)': False,
}
STATEMENTS = {
    "acc += model": True,
    "acc.total = 1": True,  # a use of the object, as is
    "watch.told = model": True,
    "watch.model = model": True,
    "watch.other = model": False,
    "slower.step()": True,
    "plainly.step()": False,
    "match p:\n    case nn.Parameter(grad=g):\n        pass": True,
    "match p:\n    case nn.Parameter(data=g):\n        pass": False,
}


def reads(body: str) -> bool:
    first, *rest = body.split("\n")
    lines = ["global acc", f"{first}  # ?", *rest]
    text = f"{TOP}def train(model, opt, params, p, text):\n" + indent("\n".join(lines), "    ")
    ctx = context(text)
    (stmt,) = marked(ctx.m)
    return any(ctx.unnamed.spells(node) or ctx.unnamed.run_by(node) for node in walk(stmt))


@pytest.mark.parametrize("expression", READS)
def test_expressions(expression: str) -> None:
    assert reads(f"value = {expression}") is READS[expression]


@pytest.mark.parametrize("made", ["def eval(model, loader):\n    return model(loader)\n", "from engine import eval\n"])
def test_what_evaluates_a_model_runs_no_text(made: str) -> None:
    ctx = context(made + "def train(model, loader):\n    value = eval(model, loader)  # ?\n")
    (stmt,) = marked(ctx.m)
    assert not any(ctx.unnamed.spells(node) or ctx.unnamed.run_by(node) for node in walk(stmt))


@pytest.mark.parametrize("body", STATEMENTS)
def test_statements(body: str) -> None:
    assert reads(body) is STATEMENTS[body]


ENDS = {
    "ExitStack": True,
    "contextlib.AsyncExitStack": True,
    "Other": True,  # what it does with a reader that it is handed is not known
}
PUT = {
    "stack.callback(size, p)": True,
    "stack.push(size)": True,
    "stack.callback(print, p)": False,
    "stack.enter_context(Ends(p))": True,
    "stack.enter_context(open(p))": False,
    "stack.close()": False,
    "stacks.callback(size, p)": False,
}


def ends(kind: str, put: str) -> bool:
    text = (
        f"{TOP}class Ends:\n    def __enter__(self): pass\n    def __exit__(self, *exc):\n        print(self.p.grad)\n"
        f"def train(p, stacks):\n    with {kind}() as stack:  # ?\n        {put}\n"
    )
    ctx = context(text)
    (stmt,) = marked(ctx.m)
    assert isinstance(stmt, ast.stmt)
    return ctx.unnamed.at_end(stmt)


@pytest.mark.parametrize("kind", ENDS)
def test_what_is_a_stack(kind: str) -> None:
    assert ends(kind, "stack.callback(size, p)") is ENDS[kind]


@pytest.mark.parametrize("put", PUT)
def test_what_is_put_on_a_stack_runs_at_its_end(put: str) -> None:
    assert ends("ExitStack", put) is PUT[put]


TRAINER = """\
from abc import ABC
from engine import Other
class Base(BASE):
    def __init__(self, model):
        self.model, self.count = model, 0
        self.report = print
    def one(self, loss):
        loss.backward()
        CALL  # ?
        self.optimizer.step()
    def known(self):
        self.count += 1
class Sub(Base):
    def below(self):
        pass
class Data:
    def all(self):
        CALL
"""
CALLED = {
    ("ABC", "self.tune()"): True,
    ("object", "self.tune(1)"): True,
    ("ABC", "self.known()"): False,
    ("ABC", "self.below()"): False,  # some subclass has it
    ("ABC", "self.report()"): False,
    ("ABC", "self.log(loss)"): False,  # as its name says
    ("ABC", "self.model.tune()"): False,
    ("Other", "self.tune()"): False,  # the base may have it, and is not here
}


@pytest.mark.parametrize(("base", "call"), CALLED)
def test_a_method_that_no_class_has_may_look(base: str, call: str) -> None:
    ctx = context(TRAINER.replace("BASE", base).replace("CALL", call))
    (stmt,) = marked(ctx.m)
    assert any(map(ctx.unnamed.spells, walk(stmt))) is CALLED[base, call]
    other = max(ctx.m.all(ast.Expr), key=ctx.m.start)
    assert not any(map(ctx.unnamed.spells, walk(other)))
