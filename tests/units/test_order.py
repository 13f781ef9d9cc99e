"""What runs before mixed precision is switched on."""

from __future__ import annotations

import pytest

from migrate.units.order import ON, Order
from tests.asking import context, marked, unit

INIT = "model, optimizer = amp.initialize(build(), SGD())"

COMMANDS = (
    f"def train(args):\n    global model\n    {INIT}\ndef test(args):\n    go()  # ?\np.set_defaults(func=train)\n"
    "q.set_defaults(func=test)\nargs = p.parse_args()\n"
)

#: A module, and when its marked line runs: before, behind or both.
WHEN = {
    "above": (f"go()  # ?\n{INIT}", "before"),
    "below": (f"{INIT}\ngo()  # ?", "behind"),
    "in a loop with it": (f"for x in y:\n    go()  # ?\n    {INIT}", "both"),
    "below in a loop": (f"for x in y:\n    {INIT}\n    go()  # ?", "behind"),
    "in the other arm": (f"if fp16:\n    {INIT}\nelse:\n    go()  # ?", "before"),
    "in the other arm of a loop": (f"for x in y:\n    if fp16:\n        {INIT}\n    else:\n        go()  # ?", "both"),
    "behind its guard": (f"if fp16:\n    {INIT}\ngo()  # ?", "behind"),
    "a function that is called above": (f"def f():\n    go()  # ?\nf()\n{INIT}", "before"),
    "called below": (f"def f():\n    go()  # ?\n{INIT}\nf()", "behind"),
    "called above and below": (f"def f():\n    go()  # ?\nf()\n{INIT}\nf()", "both"),
    "that nothing calls": (f"def f():\n    go()  # ?\n{INIT}", "behind"),
    "through two": (f"def g():\n    go()  # ?\ndef f():\n    g()\nf()\n{INIT}", "before"),
    "behind a function that initializes": (f"def setup():\n    global model\n    {INIT}\nsetup()\ngo()  # ?", "behind"),
    "above one": (f"def setup():\n    global model\n    {INIT}\ngo()  # ?\nsetup()", "before"),
    "that calls itself": (f"def f():\n    f()\n    go()  # ?\n{INIT}\nf()", "behind"),
    "what a command runs instead": (f"{COMMANDS}args.func(args)", "before"),
    "in a loop over commands": (f"{COMMANDS}for one in x:\n    args.func(args)", "both"),
    "in a function that is called twice": (f"{COMMANDS}def run():\n    args.func(args)\nrun()\nrun()", "both"),
    "the call itself": ("model, optimizer = amp.initialize(go(), SGD())  # ?", "before"),
}


@pytest.mark.parametrize("case", WHEN)
def test_when(case: str) -> None:
    text, answer = WHEN[case]
    ctx = context("from apex import amp\n" + text)
    (stmt,) = marked(ctx.m)
    states = Order(ctx, unit(ctx)).states(stmt)
    assert ("both" if len(states) == 2 else "behind" if states == {ON} else "before") == answer


@pytest.mark.parametrize(
    ("text", "early"),
    [
        (f"go()  # ?\n{INIT}", True),
        (f"{INIT}\ngo()  # ?", False),
        (f"if fp16:\n    {INIT}\nelse:\n    go()  # ?", False),
        (f"for x in y:\n    if fp16:\n        {INIT}\n    else:\n        go()  # ?", False),
        (f"def f():\n    go()  # ?\nf()\n{INIT}\nf()", True),
    ],
)
def test_early(text: str, early: bool) -> None:
    ctx = context("from apex import amp\n" + text)
    (stmt,) = marked(ctx.m)
    assert Order(ctx, unit(ctx)).early(stmt) == early


def test_what_switches() -> None:
    ctx = context(f"from apex import amp\ndef a():\n    {INIT}\ndef b():\n    a()\ndef c():\n    pass\n")
    order = Order(ctx, unit(ctx))
    functions = {getattr(n, "name", ""): n for n in ctx.m.scope_of}
    assert [order.switches(functions[name]) for name in "abc"] == [True, True, False]
