"""Conditions that ask for the last round of a loop, beside what Python makes of them."""

from __future__ import annotations

import pytest

from migrate.facts.module import Module
from migrate.judge.program.counting import last_rounds

HEADS = ["i in range(n)", "i in range(0, n)", "i in range(1, n + 1)", "i in range(2, n + 2)", "i in range(-1, n - 1)"]
SUMS = ["i", "i + 1", "1 + i", "i - 1", "i + 2", "n - i", "n - 1 - i", "-1"]
OTHERS = ["n", "n - 1", "n + 1", "n + 1 - 1", "0", "1", "n - 2"]
MOD = [f"({one}) % {other} {op} 0" for one in SUMS for other in ("n", "(n - 1)", "(n + 1)") for op in ("==", "!=")]
TESTS = [f"{one} {op} {other}" for one in SUMS for op in ("==", "!=", "<", "<=", ">", ">=") for other in OTHERS] + MOD


def asked(text: str) -> list[bool]:
    """What the tests of a text are in the last round, of those that ask for it."""
    return [holds for _, holds in last_rounds(Module(text)).values()]


def is_last(head: str, test: str) -> bool | None:
    """What Python says: what a test is in the last round where it is the contrary in all others, for every n."""
    answers = set()
    for n in range(1, 8):
        run: list[bool | None] = []
        try:
            exec(f"for {head}: run.append({test})", {"n": n, "run": run})
        except ZeroDivisionError:
            return None
        answers.add(run[-1] if all(one is not run[-1] for one in run[:-1]) else None)
        if n > 1 and None in answers:
            return None
    return answers.pop() if len(answers) == 1 else None


@pytest.mark.parametrize("head", HEADS)
def test_what_is_said_is_what_python_does(head: str) -> None:
    told = 0
    for test in TESTS:
        for holds in asked(f"for {head}:\n    f({test})\n"):
            assert is_last(head, test) is holds, test
            told += 1
    assert told > 8


@pytest.mark.parametrize(
    ("head", "test", "holds"),
    [
        ("i in range(n)", "i == n - 1", True),
        ("i in range(n)", "n - 1 == i", True),
        ("i in range(n)", "(i + 1) % n != 0", False),
        ("i in range(n)", "i + 1 < n", False),
        ("i in range(self.n)", "i >= self.n - 1", True),
        ("i in range(4)", "i == 3", True),
        ("i in range(1, args.k + 1)", "i % args.k == 0", True),
        ("i, x in enumerate(xs)", "i == len(xs) - 1", True),
        ("i, x in enumerate(self.xs)", "(i + 1) < len(self.xs)", False),
    ],
)
def test_the_ways_to_write_it(head: str, test: str, holds: bool) -> None:
    assert asked(f"def f(self, n):\n    for {head}:\n        if {test}:\n            g()\n") == [holds]


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(n):\n    n = 3\n    f(i == n - 1)",
        "for i in range(n):\n    i += 1\n    f(i == n - 1)",
        "for i in range(m):\n    f((i + 1) % n == 0)",
        "for i in range(n):\n    f(i % n == 0)",
        "for i in range(s, n):\n    f((i + 1) % n == 0)",
        "for i in range(0, n, 2):\n    f(i == n - 1)",
        "for i, x in enumerate(xs):\n    xs.append(x)\n    f(i == len(xs) - 1)",
        "for i, x in enumerate(xs, 1):\n    f(i == len(xs) - 1)",
        "class A:\n    def f(self):\n        for i in range(self.n):\n            g(i == self.n - 1)\n"
        "    def h(self):\n        self.n = 2",
        "def more():\n    global n\n    n += 1\nfor i in range(n):\n    f(i == n - 1)",
    ],
)
def test_what_is_something_else(text: str) -> None:
    assert asked(text) == []


def test_each_loop_has_its_own() -> None:
    text = "for i in range(n):\n    for j in range(n):\n        f(i == n - 1, j == n - 1, i == n)"
    found = last_rounds(Module(text))
    assert sorted((loop.target.id, holds) for loop, holds in found.values()) == [("i", True), ("j", True)]  # type: ignore[attr-defined]
