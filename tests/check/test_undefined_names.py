"""No name loses its definition."""

import pytest

from migrate.check.names import undefined_names

TRAIN = "import torch\n\n\ndef train(loss):\n    loss.backward()\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TRAIN, TRAIN),
        (TRAIN, TRAIN + "\n\nx = torch.ones(1)\n"),
        ("a = nope\n", "b = 1\na = nope\n"),
        ("a = nope\n", "a = 1\n"),
        ("import a\n", "import a, b\nx = 1\n"),
        ("from x import *\nf()\n", "from x import *\nf(), g()\n"),
        ("def f(:\n", "x = (\n"),
        ("x = 1\n", "def f(:\n"),
        ("def f():\n    global s\n    s = 1\n", "def f():\n    global s\n    s = 1\n\n\nprint(s)\n"),
        ("get_ipython().magic('x')\n", "y = 1\nget_ipython().magic('x')\n"),
    ],
)
def test_fine(old: str, new: str) -> None:
    assert undefined_names(old, new) == ()


def test_an_import_that_is_gone() -> None:
    old = "from apex import amp\namp.init()\n"
    (problem,) = undefined_names(old, "\namp.init()\n")
    assert (problem.line, problem.code) == (2, "undefined-name")
    assert "'amp'" in problem.message


def test_only_the_further_ones() -> None:
    found = undefined_names("nope()\n", "nope()\nnope(1)\nother()\n")
    assert [problem.line for problem in found] == [2, 3]


def test_a_local_before_its_value() -> None:
    old = "def f(scaler):\n    scaler.step()\n"
    new = "scaler = 1\n\n\ndef f():\n    scaler.step()\n    scaler = 2\n"
    assert [problem.line for problem in undefined_names(old, new)] == [5]


def test_a_name_that_its_function_imports_further_down() -> None:
    old = "import torch\ndef f(a):\n    g(a)\n    if a:\n        import torch\n        torch.h()\n"
    new = old.replace("g(a)", "torch.g(a)")
    assert [one.message for one in undefined_names(old, new)] == ["torch is read before this function imports it"]
    assert not undefined_names(old, old.replace("torch.h()", "torch.h(torch.i())"))
    below = old + "    torch.j()\n"
    assert [one.line for one in undefined_names(old, below)] == [7]
    tried = "def f(a):\n    try:\n        import torch\n    except ImportError:\n        raise\n    g(a)\n"
    assert not undefined_names(tried, tried.replace("g(a)", "torch.g(a)"))


def test_what_pyflakes_cannot_check_is_not_taken_for_checked() -> None:
    odd = "def f():\n    from __future__ import annotations\n"  # its AssertionError
    (problem,) = undefined_names(f"{odd}x = 1\n", f"{odd}x = 2\n")
    assert "pyflakes fails" in problem.message
