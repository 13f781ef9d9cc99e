"""Which conditions get a name ahead of the regions that ask them."""

from __future__ import annotations

import pytest

from migrate.facts.module import Module
from migrate.plan.regions.named import named
from tests.asking import marked

LONG = 'args.fp16 and args.fp16_opt_level != "O0"'

#: A module, the condition that its marked lines ask, and the line that the name stands before.
CASES = {
    "twice": ("def f(args):\n    a()  # ?\n    b()  # ?", LONG, 2),
    "once": ("def f(args):\n    a()  # ?", LONG, None),
    "in two functions": ("def f(args):\n    a()  # ?\ndef g(args):\n    b()  # ?", LONG, None),
    "a short one": ("def f(args):\n    a()  # ?\n    b()  # ?", "args.fp16", None),
    "outside of the loop": ("def f(args):\n    x = 1\n    for y in x:\n        a()  # ?\n        b()  # ?", LONG, 3),
    "a loop each": ("def f(args):\n    for y in x:\n        a()  # ?\n    for y in x:\n        b()  # ?", LONG, 2),
    "inside of the condition": ("def f(args):\n    if args:\n        a()  # ?\n        b()  # ?", LONG, 3),
    "both arms": ("def f(args):\n    if args:\n        a()  # ?\n    else:\n        b()  # ?", LONG, 2),
    "bound before": ("def f():\n    args = parse()\n    a()  # ?\n    b()  # ?", LONG, 3),
    "bound in between": ("def f(args):\n    a()  # ?\n    args = parse()\n    b()  # ?", LONG, None),
    "bound behind": ("def f():\n    a()  # ?\n    b()  # ?\n    args = parse()", LONG, None),
    "bound in the loop": ("def f():\n    for args in x:\n        a()  # ?\n        b()  # ?", LONG, None),
    "bound under a condition": ("def f():\n    if x:\n        args = g()\n    a()  # ?\n    b()  # ?", LONG, None),
    "an attribute is assigned": ("def f(args):\n    a()  # ?\n    args.fp16 = 1\n    b()  # ?", LONG, None),
    "an attribute is set": ("def f(args):\n    a()  # ?\n    setattr(args, 'fp16', 1)\n    b()  # ?", LONG, None),
    "a global": ("def f():\n    a()  # ?\n    b()  # ?", LONG, 2),
    "a global that is assigned": (
        "def f():\n    a()  # ?\n    b()  # ?\ndef g():\n    global args\n    args = 1",
        LONG,
        None,
    ),
    "of the module": ("args = parse()\na()  # ?\nb()  # ?", LONG, 2),
    "a call": ("def f(args):\n    a()  # ?\n    b()  # ?", "args.is_half_precision_on() and x", None),
    "as a bool": ("def f(args):\n    a()  # ?\n    b()  # ?", f"bool({LONG})", 2),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    text, condition, line = CASES[case]
    m = Module(text)
    found = named(m, [(stmt, condition) for stmt in marked(m)], 1)
    assert [one.before.lineno for one in found] == ([] if line is None else [line])


def test_its_name_is_free() -> None:
    def name(text: str, number: int = 1) -> list[str]:
        m = Module(text)
        return [one.name for one in named(m, [(stmt, LONG) for stmt in marked(m)], number)]

    assert name("def f(args):\n    a()  # ?\n    b()  # ?") == ["use_amp"]
    assert name("def f(args):\n    a()  # ?\n    b()  # ?", 2) == ["amp_enabled"]
    assert name("def f(args, use_amp):\n    a()  # ?\n    b()  # ?") == ["amp_enabled"]
    assert name("def f(args):\n    a()  # ?\n    b()  # ?", 9) == []
