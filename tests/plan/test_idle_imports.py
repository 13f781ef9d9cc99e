"""Which imports of Python's own modules go with what read them."""

from __future__ import annotations

import ast

import pytest

from migrate.plan.idle_imports import idle_imports
from tests.asking import context

#: The import, what reads it, what is left of that, and the names that go.
CASES = {
    "a module": ("import importlib.util", "importlib.util.find_spec('apex')", "", "importlib.util"),
    "a name": ("from contextlib import nullcontext", "nullcontext()", "", "nullcontext"),
    "one of two": ("import os, sys", "sys.exit(os.name)", "print(os.name)", "sys"),
    "under a name of its own": ("import importlib as il", "il.import_module('apex')", "", "importlib"),
    "in a function": ("def f():\n    import sys\n    sys.exit()", "f()", "f()", ""),
    "still read": ("import sys", "sys.exit(sys.path)", "print(sys.path)", ""),
    "never read": ("import sys", "run()", "", ""),
    "read by a text": ("import sys", "sys.exit(); eval('sys.path')", "eval('sys.path')", ""),
    "of a library": ("import yaml", "yaml.load(x)", "", ""),
    "of its own package": ("from .os import path", "path(x)", "", ""),
    "in a try": ("try:\n    import sys\nexcept ImportError:\n    pass", "sys.exit()", "", ""),
    "handed on": ("import sys\n__all__ = ['sys']", "sys.exit()", "", ""),
    "with an effect": ("from __future__ import annotations", "annotations", "", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    taken, reader, left, names = CASES[case]
    ctx = context(f"{taken}\n{reader}\n")
    found = [alias.name for _, gone in idle_imports(ctx, [f"{taken}\n{left}\n"]) for alias in gone]
    assert " ".join(found) == names


def test_names_that_other_files_take_stay() -> None:
    text = "import sys\nsys.exit()\n"
    assert not list(idle_imports(context(text, "sys"), ["import sys\n"]))
    assert not list(idle_imports(context(text, "*"), ["import sys\n"]))
    assert [isinstance(stmt, ast.Import) for stmt, _ in idle_imports(context(text, "f"), ["import sys\n"])] == [True]
