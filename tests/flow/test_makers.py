"""Functions that make an optimizer whenever they are called: two calls give two."""

from __future__ import annotations

from textwrap import dedent

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values
from tests.asking import asked, said

ASKS = "\na, b = Net(), Other()\none = make(a)\ntwo = make(b)\nask(one)\nask(two)\n"
TWO = {
    "what it returns": "def make(net):\n    return Adam(net.parameters())",
    "of a module": "def make(net):\n    return torch.optim.Rprop(net.parameters())",
    "a class of any name, of torch.optim": "def make(net):\n    return optim.Muon(net.parameters())",
    "by a name": "def make(net):\n    return getattr(torch.optim, NAME)(net.parameters())",
    "under a name": "def make(net):\n    opt = SGD(net.parameters())\n    opt.zero_grad()\n    return opt",
    "of several": (
        "def make(net):\n    if adam:\n        opt = Adam(net.parameters())\n    else:\n"
        "        opt = SGD(net.parameters())\n    return opt"
    ),
    "in either arm": "def make(net):\n    return Adam(net.parameters()) if adam else SGD(net.parameters())",
    "or nothing": "def make(net):\n    if net is None:\n        return None\n    return Adam(net.parameters())",
    "of another maker": (
        "def adam(params):\n    return Adam(params)\ndef make(net):\n    return adam(net.parameters())"
    ),
    "a lambda": "make = lambda net: Adam(net.parameters())",
    "of Apex": "from apex.optimizers import FusedAdam\ndef make(net):\n    return FusedAdam(net.parameters())",
}
ONE = {
    "one that is kept": "made = Adam(p)\ndef make(net):\n    return made",
    "one that was handed over": "def make(net, opt=Adam(p)):\n    opt = opt or Adam(net.parameters())\n    return opt",
    "one of a cache": "@lru_cache(None)\ndef make(net):\n    return Adam(net.parameters())",
    "one for all": "def make(net):\n    global opt\n    opt = Adam(net.parameters())\n    return opt",
    "one or a kept one": (
        "made = Adam(p)\ndef make(net):\n    if net is None:\n        return made\n    return Adam(net.parameters())"
    ),
    "no optimizer": "def make(net):\n    return Sequential(net)",
    "by another name too": (
        "made = Adam(p)\nclass C:\n    def other(self, net):\n        return made\n"
        "def other(net):\n    return Adam(net.parameters())\ndef make(net):\n    return other(net)"
    ),
    "of a class that is here": "class Adam:\n    pass\ndef make(net):\n    return Adam()",
    "one that calls itself": "def make(net):\n    return make(net.inner)",
}


@pytest.mark.parametrize("text", TWO.values(), ids=TWO)
def test_each_call_gives_its_own(text: str) -> None:
    m = Module(dedent(text) + ASKS)
    one, two = map(Values(m).of, asked(m))
    assert len(one) == len(two) == 1
    assert not one & two


@pytest.mark.parametrize("text", ONE.values(), ids=ONE)
def test_they_may_be_one(text: str) -> None:
    m = Module(dedent(text) + ASKS)
    one, two = map(Values(m).of, asked(m))
    assert one == two


def test_inside_it_is_any_of_them() -> None:
    made = "    opt = Adam(net.parameters())\n    every.append(opt)\n    ask(opt)\n    return opt"
    m = Module("every = []\ndef make(net):\n" + made + ASKS + "ask(every[0])")
    v = Values(m)
    inside, one, two, kept = map(v.of, asked(m))
    assert inside == kept == one | two


def test_what_is_made_in_a_function_that_it_calls_is_any_of_them_there() -> None:
    inner = "def adam(net):\n    opt = Adam(net.parameters())\n    ask(opt)\n    return opt\n"
    m = Module(inner + "def make(net):\n    return adam(net)" + ASKS)
    inside, one, two = map(Values(m).of, asked(m))
    assert not one & two
    assert inside == one | two


PAIRS = "\n(a, one), (b, two) = make(x), make(y)\nask(one)\nask(two)\nask(a)\nask(b)\n"
BESIDE = {
    "a network": "def make(x):\n    net = Net(x)\n    return net, Adam(net.parameters())",
    "under names": "def make(x):\n    net = Net(x)\n    opt = Adam(net.parameters())\n    return net, opt",
    "what Apex hands back": (
        "def make(x):\n    net = Net(x)\n    opt = Adam(net.parameters())\n    net, opt = amp.initialize(net, opt)\n"
        "    return net, opt"
    ),
    "as Apex hands it back": (
        "def make(x):\n    net = Net(x)\n    opt = Adam(net.parameters())\n    return amp.initialize(net, opt)"
    ),
}
TOGETHER = {
    "what a training leaves": (
        "def make(x):\n    net = Net(x)\n    opt = Adam(net.parameters())\n    net(x).backward()\n    opt.step()\n"
        "    return net, opt"
    ),
    "one of two": "def make(x):\n    return (Net(x), Adam(p)) if x else (Net(x), made)\nmade = Adam(p)",
    "rows of two kinds": (
        "def make(x):\n    if x:\n        return Net(x), Adam(p), 1\n    return Net(x), Adam(p)"
    ),
    "one that is kept": "made = Adam(p)\ndef make(x):\n    return Net(x), made",
    "another function's": (
        "def make(x):\n    net = Net(x)\n    opt = Adam(p)\n    net, opt = wrap(net, opt)\n    return net, opt\n"
        "made = Adam(p)\ndef wrap(net, opt):\n    return net, made"
    ),
    "the other way round": (
        "def make(x):\n    net, opt = Net(x), Adam(p)\n    opt, net = amp.initialize(net, opt)\n    return net, opt"
    ),
}


@pytest.mark.parametrize("text", BESIDE.values(), ids=BESIDE)
def test_each_call_gives_its_own_beside_other_things(text: str) -> None:
    m = Module("from apex import amp\n" + text + PAIRS)
    one, two, a, b = map(Values(m).of, asked(m))
    assert len(one) == len(two) == 1
    assert not one & two
    assert a == b
    assert said(a) == "Net()"


@pytest.mark.parametrize("text", TOGETHER.values(), ids=TOGETHER)
def test_they_may_be_one_beside_other_things(text: str) -> None:
    m = Module("from apex import amp\n" + text + PAIRS)
    one, two, *_ = map(Values(m).of, asked(m))
    assert one == two


def test_a_method() -> None:
    text = """
        class Trainer:
            def make(self, net):
                return torch.optim.Adam(net.parameters())
            def begin(self):
                self.one = self.make(self.a)
                self.two = self.make(self.b)
                ask(self.one)
                ask(self.two)
    """
    m = Module(dedent(text))
    one, two = map(Values(m).of, asked(m))
    assert not one & two
    assert said(one) == said(two) == "Adam()"


def test_of_one_that_is_called_once_it_is_the_one_that_is_made_in_it() -> None:
    m = Module("def make(net):\n    ask(Adam(net.parameters()))\n    return Adam(net.parameters())\nask(make(x))")
    v = Values(m)
    _, given = asked(m)
    (obj,) = v.of(given)
    assert obj.key is not given
