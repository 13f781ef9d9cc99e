"""A class whose instances have no other attributes than its ``__slots__`` say."""

from __future__ import annotations

import ast

import pytest

from migrate.plan.home.switch import slots
from tests.asking import context


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("class A:\n    __slots__ = ('x', 'y')", True),
        ("class A:\n    x = 1", False),
        ("class B:\n    __slots__ = ()\nclass A(B):\n    __slots__ = ['x']", True),
        ("class B:\n    pass\nclass A(B):\n    __slots__ = ['x']", False),  # the base gives each a __dict__
        ("class B:\n    __slots__ = ()\nclass A(B):\n    pass", False),
    ],
)
def test_slots(text: str, closed: bool) -> None:
    ctx = context(text)
    (cls,) = (node for node in ctx.m.nodes if isinstance(node, ast.ClassDef) and node.name == "A")
    assert (slots(ctx, cls) is not None) is closed
