"""What a partial fills is handed what it holds, whatever that is and wherever it comes from."""

from __future__ import annotations

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values
from tests.asking import asked, said

FUNCTION = "def run(a, b, c=None):\n    ask(a, b, c)\n"
METHOD = "class Runs:\n    def run(self, a, b, c=None):\n        ask(a, b, c)\n"
CALLED = METHOD.replace("def run", "def __call__")
ONE, LATER = ("X()", "Y()", ""), ("X()", "Y()", "Z()")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (FUNCTION + "partial(run, X())(Y())", ONE),
        (FUNCTION + "partial(run, X(), c=Z())(Y())", LATER),
        (FUNCTION + "partial(partial(run, X()), Y())(Z())", LATER),
        (FUNCTION + "first = partial(run, X())\npartial(first, Y())(c=Z())", LATER),
        (METHOD + "partial(Runs().run, X())(Y())", ONE),
        (METHOD + "partial(partial(Runs().run, X()), Y())(Z())", LATER),
        (CALLED + "partial(Runs(), X())(Y())", ONE),
        (FUNCTION + "other(f=partial(run, X(), c=Z()))", ("X()", "b", "Z()")),
        (METHOD + "other(partial(Runs().run, X()))", ("X()", "b", "c")),
    ],
)
def test_what_parameters_are_handed(text: str, answer: tuple[str, ...]) -> None:
    m = Module(text + "\n")
    found = [said(Values(m).of(one)) for one in asked(m)]
    assert tuple(one.removesuffix(f", {name}") for one, name in zip(found, "abc", strict=True)) == answer


@pytest.mark.parametrize("taken", ["from other import run as started", "import other\nstarted = other.run"])
@pytest.mark.parametrize("used", ["partial(started, X())(Y())", "loader(f=partial(started, X(), Y()))"])
def test_a_function_of_another_file(taken: str, used: str) -> None:
    links = [{"other": 1, "other.run": 1}, {}]
    m = Module(f"{taken}\n{used}\n", FUNCTION, links=links, names=["main.py", "other.py"])
    a, b, _ = asked(m)
    assert said(Values(m).of(a)).startswith("X()") and said(Values(m).of(b)).startswith("Y()")
