"""What the functions of a file are called, without looking into them: as its outline has it."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import defined, outline

TEXTS = {
    "functions": "def f(x):\n    return x\n\n\nasync def g():\n    pass\n",
    "methods beside a function": "class A(B):\n    def f(self):\n        1\n\n    def g(self): 1\n\n\ndef h(): 1\n",
    "a property and its setter are one name": (
        "class A:\n"
        "    @property\n    def size(self):\n        return 1\n\n"
        "    @size.setter\n    def size(self, n):\n        pass\n"
    ),
    "two functions of one name are two": "def f(): ...\n\n\ndef f(x): ...\n",
    "not what a comment or a text says": 'def f(): ...\n\n\n# def g(): ...\n"""\ndef h(): ...\n"""\n',
    "a function in a function": "def f():\n    def inner(x):\n        return x\n    return inner\n",
    "nothing": "",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_it_is_what_the_outline_has(text: str) -> None:
    assert list(defined(text)) == [one.name for one in outline(text).every]


def test_a_method_counts_once_for_each_class() -> None:
    assert defined(TEXTS["a property and its setter are one name"]) == ("size",)
    assert defined(TEXTS["two functions of one name are two"]) == ("f", "f")
