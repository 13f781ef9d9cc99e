"""Decorators that hand a function's arguments on, and those that may call it otherwise."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Neighbours, Settings

TOP = "import functools\nimport torch\nfrom apex import amp\n\n\n"
TRAIN = """\

def step(model, optimizer, x):
    loss = model(x).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()


model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    step(model, optimizer, x)
"""


def wrapper(body: str, header: str = "@functools.wraps(function)\ndef inner(*args, **kwargs):\n") -> str:
    inner = header + indent(body, "    ")
    return "def timed(function):\n" + indent(inner, "    ") + "    return inner\n\n\n"


FACTORY = "def timed(name):\n    start(name)\n" + indent(wrapper("return function(*args, **kwargs)\n"), "    ")
FACTORY = FACTORY.replace("    def timed(function)", "    def deco(function)").rstrip() + "\n    return deco\n\n\n"
GOES = {
    "timed": (
        wrapper("begin = now()\nresult = function(*args, **kwargs)\ntold(function.__name__, begin)\nreturn result\n"),
        "timed",
    ),
    "with a finally": (wrapper("try:\n    return function(*args, **kwargs)\nfinally:\n    told()\n"), "timed"),
    "with arguments of its own": (FACTORY, 'timed("train")'),
    "without wraps": (wrapper("return function(*args, **kwargs)\n", "def inner(*args, **kwargs):\n"), "timed"),
    "torch's": ("", "torch.enable_grad()"),
}
STAYS = {
    "tries again": (wrapper("for _ in range(3):\n    function(*args, **kwargs)\n"), "timed"),
    "swallows": (wrapper("try:\n    return function(*args, **kwargs)\nexcept ValueError:\n    pass\n"), "timed"),
    "calls at times": (wrapper("if ready():\n    return function(*args, **kwargs)\n"), "timed"),
    "adds an argument": (wrapper("return function(*args, 1, **kwargs)\n"), "timed"),
    "changes the arguments": (wrapper("args = args[:2]\nreturn function(*args, **kwargs)\n"), "timed"),
    "reads the arguments": (wrapper("told(args[1])\nreturn function(*args, **kwargs)\n"), "timed"),
    "keeps the function": (wrapper("table.append(function)\nreturn function(*args, **kwargs)\n"), "timed"),
    "calls twice": (wrapper("function(*args, **kwargs)\nreturn function(*args, **kwargs)\n"), "timed"),
    "has parameters": (
        wrapper("return function(model, *args, **kwargs)\n", "def inner(model, *args, **kwargs):\n"),
        "timed",
    ),
    "calls it by itself": ("from lib import registry\n\n\n", 'registry.register("step")'),
    "an object of this file": ("from lib import Tracer\n\ntracer = Tracer()\n\n\n", "tracer.spans"),
}
FOREIGN = {
    "a name": ("from lib import timed\n\n\n", "timed"),
    "a part of one": ("from lib import scope\n\n\n", "scope.inject"),
    "called": ("import lib.tracing\n\n\n", 'lib.tracing.spans("step")'),
}


def grade(above: str, decorator: str) -> Applicability:
    text = TOP + above + f"@{decorator}\n" + TRAIN.lstrip()
    (unit,) = migrate_module(text, Settings()).units
    return unit.applicability


@pytest.mark.parametrize("case", GOES)
def test_the_scaler_goes_through(case: str) -> None:
    assert grade(*GOES[case]) is Applicability.SAFE


@pytest.mark.parametrize("case", STAYS)
def test_it_does_not(case: str) -> None:
    assert grade(*STAYS[case]) is Applicability.MANUAL


@pytest.mark.parametrize("case", FOREIGN)
def test_one_of_a_package_is_taken_to_hand_on(case: str) -> None:
    assert grade(*FOREIGN[case]) is Applicability.REVIEW


@pytest.mark.parametrize("case", FOREIGN)
def test_one_of_the_tree_that_is_not_read_is_not(case: str) -> None:
    text = TOP + FOREIGN[case][0] + f"@{FOREIGN[case][1]}\n" + TRAIN.lstrip()
    near = Neighbours(own=frozenset({"lib", "lib.tracing"}))
    (unit,) = migrate_module(text, Settings(), near).units
    assert unit.applicability is Applicability.MANUAL


def test_what_it_fills_in_itself_is_not_known() -> None:
    """A call that hands on no ``x`` runs something else than the function as it stands."""
    text = TOP + "from lib import timed\n\n\n@timed\n" + TRAIN.lstrip()
    text = text.replace("    step(model, optimizer, x)", "    step(model, optimizer)")
    assert {unit.applicability for unit in migrate_module(text, Settings()).units} == {Applicability.MANUAL}
