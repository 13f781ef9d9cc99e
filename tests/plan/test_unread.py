"""Which parameters go with what read them."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from migrate.engine import migrate_program
from migrate.model import FileText, Outside, Settings
from migrate.plan.unread import unread
from tests.asking import context

#: The old text, the functions of the new one, and the parameters that go.
MAIN = 'if __name__ == "__main__":\n    f(x, fp16)\n'
CASES = {
    "one": ("def f(a, b):\n    a(b)\n" + MAIN, "def f(a, b):\n    a()", "b"),
    "still read": ("def f(a, b):\n    a(b)\n" + MAIN, "def f(a, b):\n    a(b)", ""),
    "a record of options": ("def f(a, args):\n    a(args.b)\n" + MAIN, "def f(a, args):\n    a()", ""),
    "never read": ("def f(a, b):\n    a()\n" + MAIN, "def f(a, b):\n    a()", ""),
    "of a library": ("def f(a, b):\n    a(b)\nf(x, y)\n", "def f(a, b):\n    a()", ""),
    "private": ("def _f(a, b):\n    a(b)\n_f(x, y)\n", "def _f(a, b):\n    a()", "b"),
    "of a function": (
        "def g():\n    def f(a, b):\n        a(b)\n    f(x, y)\n",
        "def g():\n    def f(a, b):\n        a()",
        "b",
    ),
    "by its name": ("def f(a, b=1):\n    a(b)\nf(x, b=y)\n" + MAIN, "def f(a, b=1):\n    a()", "b"),
    "behind a star": (
        "def f(a, *, b, c):\n    a(b, c)\nf(x, b=y, c=1)\nif __name__: 1",
        "def f(a, *, b, c):\n    a(c)",
        "b",
    ),
    "alone behind a star": ("def f(a, *, b):\n    a(b)\nf(x, b=y)\nif __name__: 1", "def f(a, *, b):\n    a()", ""),
    "nobody calls": ("def f(a, b):\n    a(b)\nif __name__: 1", "def f(a, b):\n    a()", ""),
    "handed on": ("def f(a, b):\n    a(b)\npool.map(f, x)\n" + MAIN, "def f(a, b):\n    a()", ""),
    "in a table": ("def f(a, b):\n    a(b)\nT = {1: f}\n" + MAIN, "def f(a, b):\n    a()", ""),
    "by a text": ("def f(a, b):\n    a(b)\n__all__ = ['f']\n" + MAIN, "def f(a, b):\n    a()", ""),
    "by stars": ("def f(a, b):\n    a(b)\nf(*x)\n" + MAIN, "def f(a, b):\n    a()", ""),
    "takes any": ("def f(a, b, *c):\n    a(b)\n" + MAIN, "def f(a, b, *c):\n    a()", ""),
    "decorated": ("@cached\ndef f(a, b):\n    a(b)\n" + MAIN, "def f(a, b):\n    a()", ""),
    "under no_grad": ("@torch.no_grad()\ndef f(a, b):\n    a(b)\n" + MAIN, "def f(a, b):\n    a()", "b"),
    "an effect": ("def f(a, b):\n    a(b)\nf(x, y())\n" + MAIN, "def f(a, b):\n    a()", ""),
    "looks around": ("def f(a, b):\n    a(b)\n" + MAIN, "def f(a, b):\n    a(locals())", ""),
    "a comment beside it": ("def f(a,  # this\n      b):\n    a(b)\n" + MAIN, "def f(a, b):\n    a()", ""),
    "defined twice": ("def f(a, b):\n    a(b)\ndef f(a, b):\n    a(b)\n" + MAIN, "def f(a, b):\n    a()", ""),
    "a method": (
        "class C:\n    def f(self, a, b):\n        a(b)\nc = C()\nc.f(x, y)\nif __name__: 1",
        "class C:\n    def f(self, a, b):\n        a()",
        "b",
    ),
    "a method of a module": (
        "class C(nn.Module):\n    def f(self, a, b):\n        a(b)\nc = C()\nc.f(x, y)\nif __name__: 1",
        "class C(nn.Module):\n    def f(self, a, b):\n        a()",
        "",
    ),
    "a method somebody overrides": (
        "class C:\n    def f(self, a, b):\n        a(b)\nclass D(C):\n    pass\nc = C()\nc.f(x, y)\nif __name__: 1",
        "class C:\n    def f(self, a, b):\n        a()",
        "",
    ),
    "a method that others may have": (
        "class C:\n    def f(self, a, b):\n        a(b)\nc = C()\nc.f(x, y)\nz.f(x, y)\nif __name__: 1",
        "class C:\n    def f(self, a, b):\n        a()",
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    old, new, names = CASES[case]
    found = unread(context(old), [new], [], [])
    assert " ".join(one.name for one in found) == names
    for one in found:
        text = old
        for start, end in sorted(one.cuts, reverse=True):
            text = text[:start] + text[end:]
        ast.parse(text)
        assert "b" not in {n.arg for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.arg, ast.keyword))}


def test_exported_functions_keep_theirs() -> None:
    old, new, _ = CASES["one"]
    assert not unread(context(old, "f"), [new], [], [])
    assert not unread(context(old, "*"), [new], [], [])


def test_functions_that_change_anyway() -> None:
    old = "def f(a, b):\n    a(b)\nf(x, y)\n"
    ctx = context(old)
    (found,) = unread(ctx, ["def f(a, b):\n    a()"], [ctx.m.tree.body[0]], [])
    assert [old[start:end] for start, end in found.cuts] == [", b", ", y"]


def test_one_after_the_other() -> None:
    old = dedent("""\
        def g(a, fp16):
            a(fp16)
        def f(a, fp16):
            g(a, fp16)
        if __name__ == "__main__":
            f(x, fp16)
        """)
    ctx = context(old)
    first = unread(ctx, ["def g(a, fp16):\n    a()\ndef f(a, fp16):\n    g(a, fp16)"], [], [])
    assert [one.function.name for one in first] == ["g"]
    second = unread(ctx, ["def g(a):\n    a()\ndef f(a, fp16):\n    g(a)"], [], first)
    assert [one.function.name for one in second] == ["f"]


ENGINE = """\
def train_one_epoch(model, optimizer, loader, amp=None, norm=1.0):
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        if amp is not None:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
"""
TRAIN = """\
import torch
from apex import amp

from engine import train_one_epoch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
train_one_epoch(model, optimizer, loader, amp=amp, norm=0.5)
"""


def _of_two(train: str, exported: frozenset[str] = frozenset()) -> str:
    """The header of the function that another file calls."""
    files = [
        FileText(ENGINE, "engine.py", Outside(exported)),
        FileText(train, "train.py", links={"engine": 0}),
    ]
    text = migrate_program(files, Settings())[0].new_text or ENGINE
    return next(line for line in text.splitlines() if line.startswith("def "))


def test_amp_that_another_file_hands_on_becomes_the_scaler() -> None:
    assert _of_two(TRAIN) == "def train_one_epoch(model, optimizer, scaler, loader, norm=1.0):"
    inside = TRAIN.replace("from engine import train_one_epoch", "import engine").replace("\ntrain_", "\nengine.train_")
    assert _of_two(inside) == "def train_one_epoch(model, optimizer, scaler, loader, norm=1.0):"


def test_it_stays_where_a_call_may_be_missing() -> None:
    with_amp = "def train_one_epoch(model, optimizer, scaler, loader, amp=None, norm=1.0):"
    assert _of_two(TRAIN + "print(train_one_epoch)\n") == with_amp
    renamed = TRAIN.replace("import train_one_epoch", "import train_one_epoch as run")
    renamed = renamed.replace("\ntrain_one_epoch(", "\nrun(")
    assert _of_two(renamed) == with_amp
    inside = TRAIN.replace("from engine import train_one_epoch", "import engine").replace("\ntrain_", "\nengine.train_")
    assert _of_two(inside + "print(engine.train_one_epoch)\n") == with_amp
    assert _of_two(TRAIN, frozenset({"train_one_epoch"})) == ENGINE.splitlines()[0]
