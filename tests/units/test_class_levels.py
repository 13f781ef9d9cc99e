"""Levels that a class says are known where nothing else sets them."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.units.options import levels_of

KNOWN = {
    "of a class": ("class CFG:\n    level = 'O1'\nask(CFG.level)", {"O1"}),
    "with a type": ("class CFG:\n    level: str = 'O0'\nask(CFG.level)", {"O0"}),
    "of a base": ("class A:\n    level = 'O1'\nclass B(A):\n    def f(self):\n        ask(self.level)", {"O1"}),
    "as a class method says": (
        "class A:\n    level = 'O1'\n    @classmethod\n    def f(cls):\n        ask(cls.level)",
        {"O1"},
    ),
    "another in a subclass": (
        "class A:\n    level = 'O1'\n    def f(self):\n        ask(self.level)\nclass B(A):\n    level = 'O2'",
        {"O1", "O2"},
    ),
}
UNKNOWN = {
    "set elsewhere": "class CFG:\n    level = 'O1'\nCFG.level = args.level\nask(CFG.level)",
    "set by its name": "class CFG:\n    level = 'O1'\nsetattr(CFG, 'level', x)\nask(CFG.level)",
    "set by computed names": "class CFG:\n    level = 'O1'\nsetattr(CFG, name, x)\nask(CFG.level)",
    "not said": "class CFG:\n    level = find()\nask(CFG.level)",
    "bases in a circle": "class A(B):\n    x = 1\nclass B(A):\n    y = 2\nclass C:\n    level = 'O1'\nask(A.level)",
    "not there": "class CFG:\n    other = 'O1'\nask(CFG.level)",
    "a dataclass": "@dataclass\nclass CFG:\n    level: str = 'O1'\nask(CFG.level)",
    "a base that is not here": "class CFG(Base):\n    level = 'O1'\nask(CFG.level)",
    "another one of that name": "class CFG:\n    level = 'O1'\nCFG = load(CFG)\nask(CFG.level)",
    "an object of something": "class CFG:\n    level = 'O1'\nask(args.level)",
}


def asked(text: str) -> set[str] | None:
    m = Module(text)
    (call,) = [c for c in m.all(ast.Call) if isinstance(c.func, ast.Name) and c.func.id == "ask"]
    return levels_of(m, call.args[0])


@pytest.mark.parametrize(("text", "levels"), KNOWN.values(), ids=KNOWN)
def test_known(text: str, levels: set[str]) -> None:
    assert asked(text) == levels


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown(text: str) -> None:
    assert asked(text) is None
