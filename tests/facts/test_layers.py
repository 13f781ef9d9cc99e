"""Networks that a file makes of torch's own layers, and the names that keep one, by its text."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline
from migrate.facts.layers import of_layers

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
_KEPT = """\
# a name of the file
NET = nn.Sequential(nn.Linear(4, 6), nn.Tanh())


def gap(a):
    return NET(a)

# a tuple
STEM, TOP = nn.Linear(4, 6), nn.Linear(6, 2)


def gap(a):
    return TOP(STEM(a))

# made when asked
_N = None


def gap(a):
    global _N
    if _N is None:
        _N = nn.Linear(4, 6)
    return _N(a)

# made by another function
_N = None


def load():
    global _N
    _N = nn.Linear(4, 6)
    return _N


def gap(a):
    net = load()
    return net(a)

# an item
_C = {}


def load(name):
    if name not in _C:
        _C[name] = nn.Linear(4, 6)
    return _C[name]


def gap(a):
    f = load('a')
    return f(a)

# a list
_P = []


def gap(a):
    _P.append(nn.Linear(4, 4))
    for f in _P:
        a = f(a)
    return a

# a row that is written out
HEADS = [nn.Linear(4, 4) for _ in range(2)]


def gap(a):
    for f in HEADS:
        a = f(a)
    return a

# a table of a function
def gap(a):
    nets = {"a": nn.Linear(4, 6), "b": nn.Linear(4, 6)}
    return nets["a"](a)

# an attribute of a function
def gap(a):
    if not hasattr(gap, 'f'):
        gap.f = nn.Linear(4, 6)
    return gap.f(a)

# a class method
class Holder:
    f = None

    @classmethod
    def get(cls):
        if cls.f is None:
            cls.f = nn.Linear(4, 6)
        return cls.f


def gap(a):
    f = Holder.get()
    return f(a)

# a default
def gap(a, f=nn.Sequential(nn.Linear(4, 6), nn.Tanh())):
    return f(a)

# a local name
def gap(a):
    f = nn.Linear(4, 6)
    return f(a)

# a function that another one gives back
def make():
    f = nn.Linear(4, 6)

    def distance(a):
        return f(a)
    return distance


gap = make()

# an object that is called
class Scorer:
    @property
    def trunk(self):
        self._f = nn.Linear(4, 6)
        return self._f

    def __call__(self, a):
        return self.trunk(a)


gap = Scorer()

# by another name
from torch.nn import Linear
top = Linear(4, 6)


def gap(a):
    return top(a)
"""
KEPT = dict(one.split("\n", 1) for one in _KEPT.removeprefix("# ").split("\n# "))


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_a_network_of_layers_that_a_file_keeps_runs(body: str) -> None:
    assert "gap" in elsewhere([outline(HEAD + body)]).running


@pytest.mark.parametrize("taken", ["from nets import NET as N", "import nets as N"])
def test_what_another_file_keeps_runs_by_the_name_that_it_is_taken_by(taken: str) -> None:
    called = "N.NET" if taken.startswith("import") else "N"
    user = outline(f"{taken}\n\n\ndef gap(a):\n    return {called}(a)\n")
    nets = outline(HEAD + "NET = nn.Linear(4, 6)\n")
    assert {"gap", "NET"} <= elsewhere([user, nets]).running
    assert "gap" not in elsewhere([user]).running


def test_a_method_of_an_object_that_a_file_keeps_runs() -> None:
    text = "class S:\n    def near(self, a):\n        f = nn.Linear(4, 6)\n        return f(a)\n\n\nkeeper = S()\n"
    text = HEAD + text
    assert "keeper.near" in elsewhere([outline(text)]).running


@pytest.mark.parametrize(
    "body",
    [
        "twice = torch.tensor(2)\n\n\ndef gap(a):\n    return twice.add(a)\n",
        "loss = nn.L1Loss()\n\n\ndef gap(a):\n    return loss(a, a)\n",
        "pool = nn.AvgPool1d(2)\n\n\ndef gap(a):\n    return pool(a)\n",
        "w = nn.Parameter(torch.ones(2))\n\n\ndef gap(a):\n    return w(a)\n",
        "net = nn.Linear(4, 4)\n\n\ndef gap(net, a):\n    return net(a)\n",  # a parameter of that name
        "net = nn.Linear(4, 4)\n\n\ndef gap(a):\n    net = str\n    return net(a)\n",
    ],
)
def test_other_names_do_not(body: str) -> None:
    assert "gap" not in elsewhere([outline(HEAD + body)]).running


@pytest.mark.parametrize(
    ("maker", "layers"),
    [
        ("nn.Conv2d", True),
        ("torch.nn.GRU", True),
        ("torchvision.models.resnet18", True),
        ("models.vgg16", True),
        ("torch.hub.load", True),
        ("nn.MSELoss", False),
        ("nn.ReLU", False),
        ("nn.Parameter", False),
        ("models.make_optimizer", False),
        ("Conv2d.from_file", False),
    ],
)
def test_what_makes_one(maker: str, layers: bool) -> None:
    assert of_layers(maker) is layers
