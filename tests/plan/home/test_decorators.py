"""Decorators that hand a function's arguments on, and those that may call it otherwise."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Outside, Settings

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


def kept(stmt: str) -> str:
    """A decorator that does something else with what it is handed, or what it made."""
    made = wrapper("return function(*args, **kwargs)\n", "def inner(*args, **kwargs):\n")
    return made.replace("    return inner", f"    {stmt}\n    return inner")


METHOD = indent(wrapper("return f(*args, **kwargs)\n").replace("function", "f"), "    ")
OBJECT = "class Timer:\n    def __init__(self, label):\n        self.label = label\n\n"
OBJECT += METHOD.replace("timed(f", "__call__(self, f", 1)
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
    "has parameters ahead of the scaler": (
        wrapper("return function(model, *args, **kwargs)\n", "def inner(model, *args, **kwargs):\n"),
        "timed",
    ),
    "a lambda": ("def timed(function):\n    return lambda *args, **kwargs: function(*args, **kwargs)\n\n\n", "timed"),
    "a lambda that is one": (
        "def around(function):\n    def inner(*a, **k):\n        return function(*a, **k)\n    return inner\n\n\n"
        "timed = around\n\n\n",
        "timed",
    ),
    "wraps that is called": (
        wrapper("return function(*args, **kwargs)\n").replace(
            "return inner", "return functools.wraps(function)(inner)"
        ),
        "timed",
    ),
    "update_wrapper": (
        wrapper("return function(*args, **kwargs)\n", "def inner(*args, **kwargs):\n").replace(
            "return inner", "return functools.update_wrapper(inner, function)"
        ),
        "timed",
    ),
    "counts": (
        wrapper("inner.calls += 1\nreturn function(*args, **kwargs)\n").replace(
            "    return inner", "    inner.calls = 0\n    return inner"
        ),
        "timed",
    ),
    "at times the function itself": (
        wrapper("return function(*args, **kwargs)\n").replace(
            "(function):\n", "(function):\n    if OFF:\n        return function\n", 1
        ),
        "timed",
    ),
    "raises again": (
        wrapper("try:\n    return function(*args, **kwargs)\nexcept ValueError as error:\n    log(error)\n    raise\n"),
        "timed",
    ),
    "a static method": ("class Timer:\n    @staticmethod\n" + METHOD, "Timer.timed"),
    "a method": (
        "class Timer:\n" + METHOD.replace("(f", "(self, f", 1) + "\n\ntimer = Timer()\n\n\n",
        "timer.timed",
    ),
    "an object": (OBJECT, 'Timer("step")'),
    "an object with a name": (OBJECT + 'timer = Timer("step")\n\n\n', "timer"),
    "the last that a name is given": (
        wrapper("return function(*args, **kwargs)\n") + "def no(f):\n    f(1)\n\n\ndeco = no\ndeco = timed\n\n",
        "deco",
    ),
}
TIMER = "@contextlib.contextmanager\ndef timer(SELFlabel):\n    yield\n    told(label)\n"
CONTEXT = "import contextlib\n\n\n" + TIMER.replace("SELF", "") + "\n\n"
GOES["a context manager"] = (CONTEXT, 'timer("train")')
GOES["a context manager that is a method"] = (
    "import contextlib\n\n\nclass Log:\n" + indent(TIMER.replace("SELF", "self, "), "    ") + "\n\nlog = Log()\n\n\n",
    'log.timer("train")',
)
STAYS = {
    "a generator": (CONTEXT.replace("@contextlib.contextmanager\n", ""), 'timer("train")'),
    "a context manager that is not made": (CONTEXT, "timer"),
    "tries again": (wrapper("for _ in range(3):\n    function(*args, **kwargs)\n"), "timed"),
    "swallows": (wrapper("try:\n    return function(*args, **kwargs)\nexcept ValueError:\n    pass\n"), "timed"),
    "calls at times": (wrapper("if ready():\n    return function(*args, **kwargs)\n"), "timed"),
    "adds an argument": (wrapper("return function(*args, 1, **kwargs)\n"), "timed"),
    "changes the arguments": (wrapper("args = args[:2]\nreturn function(*args, **kwargs)\n"), "timed"),
    "reads the arguments": (wrapper("told(args[1])\nreturn function(*args, **kwargs)\n"), "timed"),
    "keeps the function": (wrapper("table.append(function)\nreturn function(*args, **kwargs)\n"), "timed"),
    "calls twice": (wrapper("function(*args, **kwargs)\nreturn function(*args, **kwargs)\n"), "timed"),
    "has parameters of its own": (
        wrapper("return function(1, *args, **kwargs)\n", "def inner(model, *args, **kwargs):\n"),
        "timed",
    ),
    "has more than stand ahead of the scaler": (
        wrapper("return function(a, b, c, *args, **kwargs)\n", "def inner(a, b, c, *args, **kwargs):\n"),
        "timed",
    ),
    "has one with a default": (
        wrapper("return function(model, *args, **kwargs)\n", "def inner(model=None, *args, **kwargs):\n"),
        "timed",
    ),
    "gives a parameter another value": (
        wrapper("model = other\nreturn function(model, *args, **kwargs)\n", "def inner(model, *args, **kwargs):\n"),
        "timed",
    ),
    "calls in a function of its own": (
        wrapper("def later():\n    function(*args, **kwargs)\nTHREADS.append(later)\n"),
        "timed",
    ),
    "calls where another says so": (wrapper("return ready() and function(*args, **kwargs)\n"), "timed"),
    "calls in one arm": (wrapper("return function(*args, **kwargs) if ready() else None\n"), "timed"),
    "returns where it fails": (
        wrapper(
            "try:\n    return function(*args, **kwargs)\n"
            "except ValueError:\n    if told():\n        return 1\n    raise\n"
        ),
        "timed",
    ),
    "keeps the function aside": (kept("TABLE.append(function)"), "timed"),
    "keeps what it made": (kept("TABLE.append(inner)"), "timed"),
    "keeps what it made, by another name": (kept("other = inner\n    TABLE.append(other)"), "timed"),
    "keeps the function by an attribute": (kept("inner.raw = function"), "timed"),
    "calls the function at once": (kept("function(MODEL, OPTIMIZER, 1)"), "timed"),
    "keeps what it made, when it runs": (
        wrapper("TABLE.append(inner)\nreturn function(*args, **kwargs)\n"),
        "timed",
    ),
    "gives back nothing": (wrapper("return function(*args, **kwargs)\n").replace("    return inner\n", ""), "timed"),
    "gives back another": (
        wrapper("return function(*args, **kwargs)\n").replace("return inner", "return cached(inner)"),
        "timed",
    ),
    "may be another": (
        wrapper("return function(*args, **kwargs)\n") + "def no(f):\n    return f(1)\n\n\nHOW = [timed, no]\n\n\n",
        "HOW[which]",
    ),
    "a class": ("class timed:\n    def __init__(self, function):\n        self.function = function\n\n\n", "timed"),
    "a part of a function": (
        "def around(label, function):\n    def inner(opt):\n        return function(opt)\n    return inner\n\n\n",
        'functools.partial(around, "step")',
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
    near = Outside(own=frozenset({"lib", "lib.tracing"}))
    (unit,) = migrate_module(text, Settings(), near).units
    assert unit.applicability is Applicability.MANUAL


def test_what_it_fills_in_itself_is_not_known() -> None:
    """A call that hands on no ``x`` runs something else than the function as it stands."""
    text = TOP + "from lib import timed\n\n\n@timed\n" + TRAIN.lstrip()
    text = text.replace("    step(model, optimizer, x)", "    step(model, optimizer)")
    assert {unit.applicability for unit in migrate_module(text, Settings()).units} == {Applicability.MANUAL}
