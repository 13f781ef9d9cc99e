"""Which calls run the model."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from migrate.units import options
from migrate.units.compute import Compute, generates, only_yields
from migrate.units.unit import Context
from tests.asking import asked, context, marked, unit

TOP = """\
import torch
import torch.nn as nn
from apex import amp
model, optimizer = amp.initialize(build(), torch.optim.SGD(params, lr=0.1))
"""


def compute(text: str) -> tuple[Context, Compute]:
    ctx = context(TOP + text)
    one = unit(ctx)
    one.options = {i.call: options.read(ctx.m, ctx.conditions, i) for i in one.initializes}
    return ctx, Compute(ctx, one)


NET = "class Net(nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 2)\n"
OWN = "from apex import amp\nnet, opt = amp.initialize(Net(), optimizer)\n"

RUNS = {
    # the model itself
    "called": "model(x)",
    "its forward": "model.forward(x)",
    "a method of its own": "model.encode(x)",
    "a density": "model.log_prob(x)",
    "a part": "model.head(x)",
    "a part of the wrapped": "model.module.head(x)",
    "an item": "model.layers[0](x)",
    "a wrapped one": "nn.DataParallel(model)(x)",
    "moved": "model.cuda()(x)",
    "a running average": "deepcopy(model)(x)",
    "by a function that trains none": "forward_pass(model, x)",
    "by keyword": "forward_pass(net=model, x=x)",
    "in a list": "forward_pass([model], x)",
    "the wrapped one": "forward_pass(model.module, x)",
    "one of several": "forward_pass(model[0], x)",
    "an evaluation": "evaluate(model, loader)",
    "of some name": "_run_validate_epoch(loader, model)",
    "a checkpointed one": "torch.utils.checkpoint.checkpoint(model, x)",
    "a checkpointed part": "checkpoint_sequential(model.layers, 2, x)",
    "the statistics of its norms": "torch.optim.swa_utils.update_bn(loader, model)",
    "what a library made to evaluate it": "create_supervised_evaluator(model, metrics).run(loader)",
}
RUNS_NOT = {
    "what a library made to train it": "create_supervised_trainer(model, optimizer).run(loader)",
    "what a library made of another": "create_supervised_evaluator(other, metrics).run(loader)",
    "its mode": "model.train()",
    "where it is": "model.to(device)",
    "its state": "model.state_dict()",
    "its parameters": "model.parameters()",
    "zero_grad": "model.zero_grad()",
    "saved by a method": "model.save_pretrained(path)",
    "loaded by a method": "model.from_pretrained(path)",
    "how long it was trained": "model.get_elapsed_epochs()",
    "begun anew": "model.reset()",
    "its weights in a row": "model.rnn.flatten_parameters()",
    "a mask of lengths": "model.sequence_mask(lengths, longest)",
    "loaded by another word": "weights_load(model, path)",
    "a weight": "model.fc.weight.norm()",
    "a number": "model.stride.item()",
    "its configuration": "model.config.update(x)",
    "its logger": "model.logger.info(x)",
    "its optimizer": "model.optimizer.zero_grad()",
    "saved": "save_checkpoint(model, path)",
    "torch.save": "torch.save(model.state_dict(), path)",
    "wrapped": "nn.DataParallel(model)",
    "counted": "count_parameters(model)",
    "printed": "print(model)",
    "in an object": "Runner(model)",
    "an attribute handed on": "loss_of(model.stride, x)",
    "no model": "other(x)",
    "the optimizer": "optimizer.step()",
    "amp": "amp.master_params(optimizer)",
    "an export": "torch.jit.trace(model, x)",
    "all in one": "train(model, loader)",
    "taken apart as a text": "model.name.split(',')",
    "asked as a dictionary": "model.get('a', None)",
    "put into a list": "layers.extend([model, model])",
    "in a text": "' '.join(model.names)",
    "in a text with gaps": "'{}'.format(model.name)",
    "in a path": "os.path.join(model.folder, model)",
    "an array": "np.mean(model.losses)",
    "shaped": "model.flatten()",
}


ALL_OF_A_TRAINER = """\
import torch
from apex import amp
class Trainer:
    def __init__(self, net, params, loader):
        self.net, self.params = net, params
        self.rows = loader.get_iterator()
        self.losses = torch.zeros(3)
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        models, self.optimizer = amp.initialize([getattr(self, n) for n in params.names], self.optimizer)
    def step(self, x):
        ask(CALL)
"""


@pytest.mark.parametrize(
    ("call", "runs"),
    [
        ("self.net(x)", True),
        ("self.params.metrics.parse(',')", False),
        ("self.losses.combine(x)", False),
        ("self.rows.following(x)", False),
    ],
)
def test_what_is_no_model_of_all_attributes(call: str, runs: bool) -> None:
    ctx = context(ALL_OF_A_TRAINER.replace("CALL", call))
    one = unit(ctx)
    one.options = {i.call: options.read(ctx.m, ctx.conditions, i) for i in one.initializes}
    (question,) = asked(ctx.m)
    assert Compute(ctx, one).forwards(question) is runs


@pytest.mark.parametrize("call", [*RUNS.values(), *RUNS_NOT.values()], ids=[*RUNS, *RUNS_NOT])
def test_runs_the_model(call: str) -> None:
    ctx, one = compute(f"ask({call})\n")
    (question,) = asked(ctx.m)
    assert isinstance(question, ast.Call)
    assert one.strong(question) == (call in RUNS.values())


#: A body of a method, and whether a call of it runs the model.
METHODS = {
    "return self.fc(x)": True,
    "return self.layers[0](x)": True,
    "for layer in self.layers:\n    x = layer(x)": True,
    "return [f(x) for f in self.heads]": True,
    "for layer, y in zip(self.layers, x):\n    layer(y)": True,
    "layer = self.fc\nreturn layer(x)": True,
    "layer = getattr(self, name)\nreturn layer(x)": True,
    "return self.weight @ x": True,
    "return x @ self.weight": True,
    "return F.linear(x, self.weight)": True,
    "return self.half_way(x)": True,
    "return self.table.lookup(x)": True,
    "return x + self.offset": False,
    "return F.linear(x, other)": False,
    "return x @ x": False,
    "for layer in layers:\n    x = layer(x)": False,
    "return self.state_dict()": False,
    "self.names.append(x)": False,
    "self.count = x": False,
    "return self.counted(x)": False,
    "loss = self.fc(x)\nloss.backward()": False,
}


@pytest.mark.parametrize("body", METHODS)
def test_runs_itself(body: str) -> None:
    more = "    def half_way(self, x):\n        return self.fc(x)\n    def counted(self, x):\n        self.count = x\n"
    asks = f"    def asked(self, x, layers):\n{indent(body, '        ')}\n"
    ctx = context(NET + asks + more + OWN + "ask(net.asked(x, y))\n")
    one = unit(ctx)
    one.options = {i.call: options.read(ctx.m, ctx.conditions, i) for i in one.initializes}
    (question,) = asked(ctx.m)
    assert isinstance(question, ast.Call)
    compute = Compute(ctx, one)
    assert compute.strong(question) == compute.runs_model(question) == METHODS[body]


def test_a_layer_that_a_method_hands_out() -> None:
    ctx = context(NET + "    def last(self):\n        return self.fc\n" + OWN + "ask(net.last()(x))\n")
    (question,) = asked(ctx.m)
    assert isinstance(question, ast.Call)
    assert Compute(ctx, unit(ctx)).strong(question)


HANDED_OUT = """
from nets import Encoder
from apex import amp
net = Encoder()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer = amp.initialize(net, optimizer)
ask(net.get_head()(x))
"""


def test_a_layer_that_a_method_of_another_file_hands_out() -> None:
    ctx = context(HANDED_OUT)
    (question,) = asked(ctx.m)
    assert isinstance(question, ast.Call)
    assert Compute(ctx, unit(ctx)).runs_model(question)


TRAINS_ITSELF = """
from apex import amp
class Meta(nn.Module):
    def __init__(self, net, optimizer):
        self.net, self.optimizer = amp.initialize(net, optimizer)
    def forward(self, x):
        loss = self.net(x)
        BACK
meta = Meta(nn.Linear(2, 2), SGD())
ask(meta(x))
"""


@pytest.mark.parametrize(
    ("back", "model"),
    [("with amp.scale_loss(loss, self.optimizer) as s:\n            s.backward()", False), ("return loss", True)],
)
def test_a_network_that_trains_what_it_holds_is_no_model_where_it_is_called(back: str, model: bool) -> None:
    ctx = context(TRAINS_ITSELF.replace("BACK", back))
    one = unit(ctx)
    one.options = {i.call: options.read(ctx.m, ctx.conditions, i) for i in one.initializes}
    (question,) = asked(ctx.m)
    compute = Compute(ctx, one)
    inner = next(call for call in ctx.m.all(ast.Call) if ctx.m.src(call) == "self.net(x)")
    assert isinstance(question, ast.Call)
    assert compute.runs_model(question) is model
    assert compute.inner(inner) is model


#: Functions of the file, and whether a call of `f(model, x)` runs the model.
FUNCTIONS = {
    "def f(m, x):\n    return m(x)": True,
    "def f(m, x):\n    return g(m, x)\ndef g(m, x):\n    return m(x)": True,
    "def f(m, x):\n    return x": False,
    "def f(m, x):\n    m(x).backward()": False,
    "def f(m, x):\n    yield m(x)": False,
    "def f(m, x):\n    def g():\n        return m(x)\n    return g": True,
    "def f(m, x):\n    raise NotImplementedError": True,
    "f = lambda m, x: m(x)": True,
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions(text: str) -> None:
    ctx, one = compute(text + "\nask(f(model, x))\n")
    (question,) = asked(ctx.m)
    assert isinstance(question, ast.Call)
    assert one.strong(question) == FUNCTIONS[text]


def test_what_else_ran_under_the_casts() -> None:
    text = """
        from apex import amp
        def train():
            model, optimizer = amp.initialize(build(), SGD())
            teacher = load()
            teacher.eval()
            features = nn.Sequential(a, b)
            moved = make_model().cuda()
            loss = criterion()
            loss.train()
            ask(teacher(x), features(x), moved(x))
            ask(other(x), loss(x))
        def elsewhere():
            net = load()
            net.eval()
            ask(net(x))
    """
    ctx = context(text)
    one = unit(ctx)
    one.options = {i.call: options.read(ctx.m, ctx.conditions, i) for i in one.initializes}
    answers = {ast.unparse(q): Compute(ctx, one).strong(q) for q in asked(ctx.m) if isinstance(q, ast.Call)}
    assert answers == {
        "teacher(x)": True,
        "features(x)": True,
        "moved(x)": True,
        "other(x)": False,
        "loss(x)": True,
        "net(x)": False,
    }


WEAK = {
    "y = x.sum()": True,
    "y = x ** 2": True,
    "y = a @ b": True,
    "y = (a - b).mean()": True,
    "y = a.mean()": False,
    "y = a + b": False,
    "y = x.to(device)": False,
    "y = lambda: f(x)": False,
    "y = f(x)": True,
}


@pytest.mark.parametrize("text", WEAK)
def test_what_the_lists_matter_for(text: str) -> None:
    ctx, one = compute(text + "  # ?\n")
    (stmt,) = marked(ctx.m)
    assert one.weak(stmt) == WEAK[text]


FORBIDDEN = {
    "loss.backward()": True,
    "optimizer.zero_grad()": True,
    "model(x)": False,
    "getattr(loss, name)()": True,
    "getattr(loss, 'backward')()": True,
    "getattr(model, 'embed')(x)": False,
    "getattr(Own(), name)(x)": True,
    "getattr(Own(), 'embed')(x)": False,
    "step()": True,
    "data()": False,
    "(yield x)": True,
    "later = lambda: loss.backward()": False,
}


@pytest.mark.parametrize("text", FORBIDDEN)
def test_what_stays_outside(text: str) -> None:
    more = "def step():\n    loss.backward()\ndef data():\n    for x in y:\n        yield x\n"
    more += "class Own:\n    def embed(self, x):\n        return x\n"
    ctx, one = compute(more + f"def f(name):\n    {text}  # ?\n")
    (stmt,) = marked(ctx.m)
    assert one.forbidden(stmt) == FORBIDDEN[text]


GENERATORS = {
    "def f():\n    yield 1": (True, True),
    "def f():\n    x.backward()\n    yield x": (True, False),
    "def f():\n    return 1": (False, False),
    "def f():\n    def g():\n        yield 1\n    return g": (False, True),
    "def f():\n    yield from g()": (True, True),
}


@pytest.mark.parametrize("text", GENERATORS)
def test_generators(text: str) -> None:
    node = ast.parse(text).body[0]
    assert (generates(node), only_yields(node)) == GENERATORS[text]


@pytest.mark.parametrize(
    ("made", "runs"),
    [
        ("partial(model, features=True)", True),
        ("partial(print, model)", False),
        ("[part for part in model.children()][0]", True),
    ],
)
def test_a_model_that_lacks_arguments_is_run_by_its_call(made: str, runs: bool) -> None:
    ctx, one = compute(f"from functools import partial\nrun = {made}\nrun(x)  # ?\n")
    (stmt,) = marked(ctx.m)
    assert one.forwards(stmt) is runs
