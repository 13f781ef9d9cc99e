"""Objects that ask another one for what they lack: ``__getattr__`` that gives back ``getattr(self.inner, name)``."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.flow.touching import touching
from migrate.flow.unnamed import unnamed
from migrate.flow.values import Values

TRAINER = """\
class Trainer:
    def __init__(self, model):
        self.model = model
        self.view = View(self)

    @property
    def norm(self):
        return self.model.weight.grad.norm()

    def total(self):
        return self.model.weight.grad.sum()

    def name(self):
        return "plain"

"""
LOG = "def log(trainer):\n    return trainer.view.{asked}\n\nlog(Trainer(model))\n"


def view(body: str, more: str = "") -> str:
    return f"class View:\n    def __init__(self, inner):\n        self.inner = inner\n{more}\n" + body + "\n\n"


HANDS_ON = "    def __getattr__(self, name):\n        return getattr(self.inner, name)\n"
TRIES_ITSELF = (
    "    def __getattr__(self, key):\n"
    "        try:\n            return super().__getattr__(key)\n"
    "        except AttributeError:\n            return getattr(self.inner, key, None)\n"
)
ANOTHER_NAME = "    def __getattr__(self, name):\n        return getattr(self.inner, 'name')\n"
ANOTHER_OBJECT = "    def __getattr__(self, name):\n        return getattr(other, name)\n"
OWN = "\n    def total(self):\n        return 0\n"


@pytest.mark.parametrize(
    ("wrapper", "asked", "looks"),
    [
        (view(HANDS_ON), "norm", True),
        (view(HANDS_ON), "total()", True),
        (view(TRIES_ITSELF), "total()", True),
        (view(HANDS_ON), "name()", False),
        (view(HANDS_ON, OWN), "total()", False),
        (view(ANOTHER_NAME), "total()", False),
        (view(ANOTHER_OBJECT), "total()", False),
        (view(HANDS_ON) + "class Outer(View):\n    pass\n\n", "total()", True),
    ],
)
def test_who_looks_at_gradients_by_way_of_another_object(wrapper: str, asked: str, looks: bool) -> None:
    m = Module(wrapper + TRAINER + LOG.format(asked=asked))
    v = Values(m)
    (log,) = (f for f in m.all(ast.FunctionDef) if f.name == "log")
    assert (log in touching(m, v)) is looks


def test_a_property_of_another_object_is_run() -> None:
    m = Module(view(HANDS_ON) + TRAINER + LOG.format(asked="norm"))
    v = Values(m)
    (read,) = (n for n in m.attributes("norm") if isinstance(n.value, ast.Attribute) and n.value.attr == "view")
    assert [getattr(one, "name", "") for one in unnamed(m, v).properties(read)] == ["norm"]


def test_an_object_that_stands_for_itself_ends() -> None:
    text = "class A:\n    def __init__(self):\n        self.inner = self\n\n" + HANDS_ON + "\n\na = A()\na.anything\n"
    m = Module(text)
    v = Values(m)
    (held,) = v.of(m.named("a")[-1])
    assert v.stood_for([held]) == [held]


def test_two_objects_that_stand_for_each_other_end() -> None:
    text = view(HANDS_ON) + "one = View(None)\ntwo = View(one)\none.inner = two\none.anything\n"
    m = Module(text)
    v = Values(m)
    assert v.stood_for(v.of(m.named("one")[-1]))
