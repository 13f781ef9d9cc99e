"""The new text is Python."""

import warnings

import pytest

from migrate.check.compiles import compiles, parse


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = 1\n", "y = 2\n"),
        ("", ""),
        ("x = 1\n", "x = 1\r\nif x:\r\n\ty = '\\d'\r\n"),
        ("await f()\n", "await g()\n"),
        ("return\n", "x\nreturn\n"),
        ("broken(\n", "broken(\n"),
    ],
)
def test_fine(old: str, new: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiles(old, new) == ()


@pytest.mark.parametrize(
    ("new", "line"),
    [
        ("x = 1\nif x:\ny = 2\n", 3),
        ("x = (\n", 1),
        ("x = '\0'\n", 1),
        ("def f():\n    x = 1\n    global x\n", 3),
        ("x\nreturn\n", 2),
    ],
)
def test_broken(new: str, line: int) -> None:
    (problem,) = compiles("x = 1\n", new)
    assert problem.code == "does-not-compile"
    assert problem.line == line


def test_parse() -> None:
    assert parse("x = 1") is not None
    assert parse("x =") is None
