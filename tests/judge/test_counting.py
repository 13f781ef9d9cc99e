"""Conditions that ask for the last round of a loop, beside what Python makes of them."""

from __future__ import annotations

import pytest

from migrate.facts.module import Module
from migrate.judge.program.counting import last_rounds
from tests.judge.support import judged_case

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


WINDOWS = """\
from torch import nn
from apex import amp


class Trainer:
    def __init__(self, model, optimizer, window):
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")
        self.window, self.other, self.n = window, 2 * window, 0

    def fit(self, batches):
        for x in batches:
            loss = self.model(x).sum()
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
            if CLIPS:
                nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 1.0)
            BETWEEN
            if STEPS:
                self.optimizer.step()
                self.optimizer.zero_grad()
"""
AHEAD = "self.n % self.window == self.window - 1"
COUNTED = {
    "a window": (AHEAD, "self.n += 1", "self.n % self.window == 0", True),
    "one more": ("(self.n + 1) % self.window == 0", "self.n += 1", "self.n % self.window == 0", True),
    "a number": ("self.n % 4 == 3", "self.n += 1", "self.n % 4 == 0", True),
    "in a method that is not followed": (AHEAD, "self.count()", "self.n % self.window == 0", False),
    "two more": (AHEAD, "self.n += 2", "self.n % self.window == 0", False),
    "the same words": ("self.n % self.window == 0", "self.n += 1", "self.n % self.window == 0", False),
    "another window": (AHEAD, "self.n += 1", "self.n % self.other == 0", False),
    "set anew": (AHEAD, "self.recount()", "self.n % self.window == 0", False),
}
COUNTS = "\n    def count(self):\n        self.n += 1\n\n    def recount(self):\n        self.n = len(self.window)\n"




@pytest.mark.parametrize("case", COUNTED)
def test_what_is_asked_one_round_ahead(case: str) -> None:
    """A clip that stands under the condition of the step, as that will be, may unscale; no other one may."""
    clips, between, steps, same = COUNTED[case]
    text = WINDOWS.replace("CLIPS", clips).replace("BETWEEN", between).replace("STEPS", steps) + COUNTS
    judged = judged_case(text)
    assert judged is not None and not judged.verdict.differences and judged.verdict.unknown is None
    assert f"            if {clips}:\n                nn.utils.clip_grad_norm_(\n" in judged.text
    planted = judged.text.replace(
        f"            if {clips}:\n",
        f"            if {clips}:\n                self.scaler.unscale_(self.optimizer)\n",
    ).replace("                    self.scaler.get_scale(),\n", "                    1.0,\n")
    assert (judged.judged(planted) is None) is same
