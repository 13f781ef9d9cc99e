"""Whose parameters an optimizer has."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from migrate.units.ownership import owned_model, owns_all, share_parameters
from tests.asking import asked, context

NAMED = "model.named_parameters()"
DECAY = f"[p for n, p in {NAMED} if not skip(n)]"
NO_DECAY = f"[p for n, p in {NAMED} if skip(n)]"

#: What an optimizer is made of, and whether that is all that `model` has.
OWNS = {
    "model.parameters()": True,
    "params=model.parameters()": True,
    "lr=0.1, params=model.parameters()": True,
    "list(model.parameters())": True,
    "tuple(model.parameters())": True,
    "sorted(model.parameters())": False,
    "filter(lambda p: p.requires_grad, model.parameters())": True,
    "filter(lambda p: p.dim() > 1, model.parameters())": False,
    "[p for p in model.parameters() if p.requires_grad]": True,
    "(p for p in model.parameters())": True,
    "[p for p in model.parameters() if p.dim() > 1]": False,
    "[p * 2 for p in model.parameters()]": False,
    "[{'params': model.parameters(), 'lr': 1}]": True,
    "[{'lr': 1}]": False,
    "params": True,
    "twice": False,
    "groups": True,
    "model.head.parameters()": False,
    "other.parameters()": False,
    "model.buffers()": False,
    "": False,
    "f(model)": False,
    f"[{{'params': {DECAY}}}, {{'params': {NO_DECAY}}}]": True,
    f"[{{'params': {DECAY}}}, {{'params': {DECAY}}}]": False,
    f"[{{'params': {DECAY}}}, {{'params': {NO_DECAY.replace('skip', 'other')}}}]": False,
    f"[{{'params': {DECAY}}}, {{'params': {NO_DECAY.replace('model', 'other')}}}]": False,
    f"[{{'params': {DECAY[:-1]} and p.requires_grad]}}, {{'params': {NO_DECAY}}}]": True,
    f"[{{'params': {DECAY.replace(NAMED, f'list({NAMED})')}}}, {{'params': {NO_DECAY}}}]": True,
    f"[{{'params': {DECAY.replace(NAMED, 'named')}}}, {{'params': {NO_DECAY}}}]": True,
    f"[{{'params': {DECAY.replace(NAMED, 'params')}}}, {{'params': {NO_DECAY}}}]": False,
    f"[{{'params': {DECAY.replace(NAMED, 'twice')}}}, {{'params': {NO_DECAY}}}]": False,
    f"[{{'params': {DECAY}}}]": False,
    f"[{{'params': {DECAY}}}, {{'params': {NO_DECAY}}}, {{'params': x}}]": False,
}
TOP = """\
model, other = Model(), Model()
params = model.parameters()
twice = model.parameters()
twice = other.parameters()
groups = [{'params': list(model.parameters())}]
named = list(model.named_parameters())
"""


@pytest.mark.parametrize("made_of", OWNS)
def test_owns_all(made_of: str) -> None:
    ctx = context(TOP + f"optimizer = SGD({made_of})\nask(optimizer, model)")
    optimizer, model = asked(ctx.m)
    assert owns_all(ctx, ctx.v.of(optimizer), model) == OWNS[made_of]


def test_a_group_that_is_added() -> None:
    ctx = context(TOP + "optimizer = SGD(params)\noptimizer.add_param_group(x)\nask(optimizer, model)")
    optimizer, model = asked(ctx.m)
    assert not owns_all(ctx, ctx.v.of(optimizer), model)


def test_either_of_two_optimizers() -> None:
    ctx = context(TOP + "o = SGD(params) if x else Adam(other.parameters())\nask(o, model)")
    optimizer, model = asked(ctx.m)
    assert not owns_all(ctx, ctx.v.of(optimizer), model)
    ctx = context(TOP + "o = SGD(params) if x else Adam(params)\nask(o, model)")
    optimizer, model = asked(ctx.m)
    assert owns_all(ctx, ctx.v.of(optimizer), model)


OWN_CLASS = """\
class T:
    def __init__(self):
        self.net = Model()
        self.o = SGD(self.net.parameters())
    def run(me):
        pass
        ask(me.o)
"""

HANDED = """\
class T:
    def __init__(self, model, o):
        self.model, self.o = model, o
    def run(me):
        me.model.train()
        ask(me.o)
def main():
    model, other = Model(), Model()
    optimizer = SGD(model.parameters())
    T(model, optimizer)
"""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("def f(net):\n    ask(o)\nm = Model()\no = SGD(m.parameters())\nf(m)", "m"),
        ("def f(net):\n    o = SGD(net.parameters())\n    ask(o)\nf(Model())", "net"),
        ("def f(x):\n    ask(o)\ndef g():\n    m = Model()\n    global o\n    o = SGD(m.parameters())\n    f(1)", None),
        ("os = [SGD(m.parameters()) for m in models]\nask(os[0])", None),
        ("m = Model()\nparams = m.parameters()\no = SGD(params)\nask(o)", "m"),
        ("m = Model()\nparams = m.parameters()\nparams = x\no = SGD(params)\nask(o)", None),
        (
            f"{TOP}groups = [{{'params': {DECAY}}}, {{'params': {NO_DECAY}}}]\no = SGD(groups)\nask(o)".replace(
                "groups = [{'params': list(model.parameters())}]\n", ""
            ),
            "model",
        ),
        (f"{TOP}group = [{{'params': {DECAY}}}]\no = SGD(group)\nask(o)", None),
        ("o = SGD(m.head.parameters())\nask(o)", None),
        (OWN_CLASS, "me.net"),
        (OWN_CLASS + "        me.net = nn.Sequential(head, me.net)\n", None),
        (OWN_CLASS.replace("SGD(self.net", "SGD(other.net"), None),
        (HANDED, "me.model"),
        (HANDED.replace("T(model", "T(other"), None),
        (HANDED + "    T(other, Adam(other.parameters()))", None),
        (HANDED.replace("= model, o", "= nn.Sequential(head, model), o"), None),
        (HANDED.replace("        me.model.train()\n", "").replace("self.model, self.o = model, o", "self.o = o"), None),
        (OWN_CLASS.replace("    def run", "class Other(T):\n    def run"), None),
    ],
)
def test_the_model_of_an_optimizer(text: str, answer: str | None) -> None:
    ctx = context(text)
    (optimizer,) = asked(ctx.m)
    assert owned_model(ctx, ctx.v.of(optimizer), ctx.m.function(optimizer)) == answer


SHARE = {
    "a, b = SGD(x.parameters()), Adam(x.parameters())": "x",
    "a, b = SGD(x.parameters()), Adam(y.parameters())": None,
    "a, b = SGD(x.parameters()), Adam(x.head.parameters())": "x",
    "a, b = SGD(x.head.parameters()), Adam(x.parameters())": "x.head",
    "a, b = SGD(x.parameters()), Adam(xy.parameters())": None,
    "p = x.parameters()\na, b = SGD(p), Adam(params=list(x.parameters()))": "x",
    "a, b = SGD([p for p in x.parameters() if f(p)]), Adam(x.parameters())": None,
    "a = b = SGD(x.parameters())": None,
}


@pytest.mark.parametrize("text", SHARE)
def test_shared_parameters(text: str) -> None:
    ctx = context(text + "\nask(a, b)")
    one, other = (ctx.v.of(question) for question in asked(ctx.m))
    found = share_parameters(ctx, one, other)
    assert (None if found is None else ast.unparse(found)) == SHARE[text]


def test_names_of_two_functions_are_two_modules() -> None:
    text = """
        def one(net):
            return SGD(net.parameters())
        def two(net):
            return SGD(net.parameters())
        ask(one(x), two(y))
    """
    ctx = context(dedent(text))
    one, other = (ctx.v.of(question) for question in asked(ctx.m))
    assert share_parameters(ctx, one, other) is None


#: What becomes of a model behind the optimizer that was made of its parameters, and whether that still has them all.
LATER = {
    "model = nn.Sequential(head, model)": False,
    "model = nn.Sequential(OrderedDict(head=head, model=model))": False,
    "model = Both(model)": False,
    "model = DistributedDataParallel(model)": True,
    "model = model.cuda()": True,
    "model.fc = nn.Linear(8, 2)": False,
    "model.epoch = 3": True,
    "ema.fc = nn.Linear(8, 2)": True,
    "ema = Both(model)": True,
    "model = other(model)": True,
}


@pytest.mark.parametrize("later", LATER)
def test_a_model_that_becomes_a_part_of_another(later: str) -> None:
    text = """
        class Both(nn.Module):
            def __init__(self, model):
                self.model = model
        def other(net):
            return net
        model, ema = Model(), Model()
        {}
        optimizer = SGD(model.parameters())
        {}
        ask(optimizer, model)
    """
    for ahead, behind, answer in (("", later, LATER[later]), (later, "", True)):
        ctx = context(dedent(text).format(ahead, behind))
        optimizer, model = asked(ctx.m)
        assert owns_all(ctx, ctx.v.of(optimizer), model) == answer
