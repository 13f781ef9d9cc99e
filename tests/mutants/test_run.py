"""Which mutants there are, and that they are Python."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from tests.effort import long
from tests.mutants import reached
from tests.mutants.run import PROJECT, all_mutants, mutants_of, probed

#: A text, and what may stand in it instead.
CHANGES = {
    "x = a == b": ["a == b → (a != b)"],
    "x = a < b": ["a < b → (a >= b)"],
    "x = a not in b": ["a not in b → (a in b)"],
    "x = a is b": ["a is b → (a is not b)"],
    "x = a and b or c": ["a and b or c → ((a and b) and (c))", "a and b → ((a) or (b))"],
    "x = not a": ["not a → (a)"],
    "if a: pass": ["a → False", "a → True"],
    "while a: pass": [],
    "x = b if a else c": ["a → False", "a → True"],
    "x = [a for a in b if c]": ["c → False", "c → True"],
    "x = frozenset('a b'.split())": ["'a b'.split() → 'b'.split()", "'a b'.split() → 'a'.split()"],
    "x = frozenset({1, 2})": ["{1, 2} → [2]", "{1, 2} → [1]"],
    "def f() -> bool:\n    return a\nf()": ["a → (not (a))"],
    "def f() -> bool:\n    def g():\n        return a\n    return b\nf()\ng()": ["b → (not (b))"],
    "def f() -> int:\n    return a\nf()": [],
    "def f() -> bool:\n    return a == b": [],
    "def __eq__(self, other) -> bool:\n    return a": ["a → (not (a))"],
    "assert a == b": [],
    "raise E('x' if a else 'y')": [],
    "x = f'{a == b}'": [],
    "x: a == b = c == d": ["c == d → (c != d)"],
    "@f(a == b)\nclass C: pass": [],
    "é = 'ü' == b": ["'ü' == b → ('ü' != b)"],
}


@pytest.mark.parametrize("text", CHANGES)
def test_changes(text: str) -> None:
    called = frozenset(n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name))
    found = list(mutants_of(Path("x.py"), text, called))
    assert sorted(f"{one.before} → {one.after}" for one in found) == sorted(CHANGES[text])
    for one in found:
        assert ast.dump(ast.parse(one.into(text.encode()))) != ast.dump(ast.parse(text))


@long
def test_every_mutant_is_python_and_another_program() -> None:
    for one in random.Random(0).sample(all_mutants(), 40):
        right = (PROJECT / one.path).read_bytes()
        assert ast.dump(ast.parse(one.into(right))) != ast.dump(ast.parse(right)), str(one)


def test_which_mutants_an_expression_reaches() -> None:
    """A condition that is held reaches its mutant where it was the other way; all else wherever it is evaluated."""
    text = "def f(a, b):\n    if a and not b: return [x for x in b if x]\n    return True\nf(0, 0)"
    called = frozenset({"f"})
    mutants = list(mutants_of(Path("x.py"), text, called))
    reached._reached.clear()
    place: dict[str, object] = {}
    exec(probed(text.encode(), enumerate(mutants)), place)
    assert {f"{mutants[n].before} → {mutants[n].after}" for n in reached._reached[""]} == {
        "a and not b → ((a) or (not b))",
        "a and not b → True",
    }
