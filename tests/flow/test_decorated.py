"""What decorated names run, and what decorators run around functions."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.flow.decorated import Decorated, wrappers
from migrate.flow.values import Values

INNER = "def inner(*args):\n        return f(*args)\n    return inner\n"
DECO = f"def deco(f):\n    {INNER}"
USE = "\ndef work():\n    pass\n\nwork()\n"


def at(decorator: str, above: str) -> str:
    return above + USE.replace("def work", f"@{decorator}\ndef work")


METHOD = "class Log:\n    def deco(self, f):\n        def inner():\n            return f()\n        return inner\n"
METHOD += "\nlog = Log()\n"
STATIC = METHOD.replace("(self, f)", "(f)").replace("    def deco", "    @staticmethod\n    def deco")
FACTORY = DECO.replace("def deco", "def made():\n  def deco").replace("    ", "      ") + "  return deco\n"
CLASS = "class Log:\n    def __init__(self, f):\n        self.f = f\n"
OBJECT = METHOD.replace("deco", "__call__")
#: A program, and the calls of `work` and of what runs it: by the line and name of a call the functions that it runs.
CALLS = {
    "gives it back": (at("deco", "def deco(f):\n    return f\n"), "work() runs work"),
    "gives it back and calls it": (
        at("deco", "def deco(f):\n    f()\n    return f\n"),
        "f() runs work, work() runs work",
    ),
    "a closure": (at("deco", DECO), "f(*args) runs work, work() runs inner"),
    "a closure by another name": (
        at("deco", DECO.replace("return inner", "made = inner\n    return made")),
        "f(*args) runs work, work() runs inner",
    ),
    "the function by another name": (
        at("deco", "def deco(f):\n    g = f\n    def inner():\n        return g()\n    return inner\n"),
        "g() runs work, work() runs inner",
    ),
    "a lambda": (at("deco", "def deco(f):\n    return lambda: f()\n"), "f() runs work, work() runs lambda"),
    "a lambda that is one": (at("deco", "deco = lambda f: lambda: f()\n"), "f() runs work, work() runs lambda"),
    "either": (
        at("deco", "def deco(f):\n    if x:\n        return f\n    " + INNER),
        "f(*args) runs work, work() runs work inner",
    ),
    "another function": (
        at("deco", "def other():\n    pass\ndef deco(f):\n    return other\n"),
        "work() runs other",
    ),
    "wraps that is called": (
        at("deco", DECO.replace("return inner", "return wraps(f)(inner)")),
        "f(*args) runs work, work() runs inner",
    ),
    "a partial": (
        at("deco", "def around(f, x):\n    f()\ndef deco(f):\n    return partial(around, f)\n"),
        "work() runs around",
    ),
    "a factory": (at("made()", FACTORY), "f(*args) runs work, work() runs inner"),
    "a method": (at("log.deco", METHOD), "f() runs work, work() runs inner"),
    "an object": (at("log", OBJECT), "f() runs work, work() runs inner"),
    "an object that is made there": (at("Log()", OBJECT), "f() runs work, work() runs inner"),
    "a class": (
        at("Log", CLASS + "    def __call__(self):\n        self.f()\n"),
        "self.f() runs work, work() runs __call__",
    ),
    "a class that is not called": (at("Log", CLASS), "work() runs work"),
    "two": (
        at("deco\n@other", DECO + "def other(g):\n    def inside():\n        g()\n    return inside\n"),
        "f(*args) runs inside, g() runs work, work() runs inner",
    ),
    "of two functions": (
        at("deco", DECO).replace("\nwork()", "\n@deco\ndef more():\n    pass\n\nwork()"),
        "f(*args) runs work more, work() runs inner",
    ),
    "one that is not here": (at("deco", "from lib import deco\n"), "work() runs work"),
    "one without a parameter": (at("deco", "def deco():\n    pass\n"), "work() runs work"),
    "the last of a name": (
        at("deco", "def one(f):\n    return f\n" + DECO.replace("deco", "two") + "deco = one\ndeco = two\n"),
        "f(*args) runs work, work() runs inner",
    ),
    "by what keeps it": (
        "JOBS = []\ndef keep(f):\n    JOBS.append(f)\n    return f\n" + DECO
        + USE.replace("def work", "@deco\n@keep\ndef work").replace("\nwork()", "\nJOBS[0]()"),
        "JOBS[0]() runs inner work, f(*args) runs work",
    ),
}


def _word(node: ast.AST) -> str:
    return getattr(node, "name", "lambda")


@pytest.mark.parametrize("case", CALLS)
def test_what_calls_run(case: str) -> None:
    text, expected = CALLS[case]
    m = Module(text)
    decorated = Decorated(m, Values(m))
    ran = {m.src(call): [_word(one) for one in decorated.run_by(call)] for call in m.all(ast.Call)}
    said = (f"{call} runs {' '.join(names)}" for call, names in ran.items() if names and "partial" not in call)
    wanted = [one for one in sorted(said) if one.split()[0] not in ("made()", "Log()")]
    assert ", ".join(wanted) == expected


#: Programs with a decorator whose wrapper is called `inner`, or is a lambda, or `around`.
AROUND = {
    "a closure": at("deco", DECO),
    "a lambda that is one": at("deco", "deco = lambda inner: lambda: inner()\n").replace("inner", "f"),
    "a method": at("log.deco", METHOD),
    "a method of the class": at("Log.deco", STATIC),
    "an object": at("log", OBJECT),
    "a factory that is a method": at(
        "log.made()",
        "class Log:\n    def made(self):\n        def deco(f):\n            def inner():\n                f()\n"
        "            return inner\n        return deco\n\nlog = Log()\n",
    ),
    "what a partial calls": at("deco", "def inner(f, x):\n    f()\ndef deco(f):\n    return partial(inner, f)\n"),
    "a partial": at("partial(made, 1)", "def made(x, f):\n    def inner():\n        f()\n    return inner\n"),
    "a class": at("Log", "class Log:\n    def __call__(self):\n        def inner(): pass\n        inner()\n"),
}


@pytest.mark.parametrize("case", AROUND)
def test_what_runs_around(case: str) -> None:
    m = Module(AROUND[case])
    (work,) = m.defined("work")
    assert {_word(one) for one in wrappers(m, Values(m))[work]} & {"inner", "lambda"}


@pytest.mark.parametrize("decorator", ["register", "lib.deco", "property"])
def test_nothing_runs_around(decorator: str) -> None:
    m = Module(at(decorator, "import lib\n"))
    assert not wrappers(m, Values(m))
