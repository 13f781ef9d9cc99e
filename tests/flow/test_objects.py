"""The things that a points-to analysis speaks of."""

from __future__ import annotations

import ast
import gc

from migrate.facts.module import Module
from migrate.flow.objects import _NAMED, Obj, apex
from migrate.flow.values import Values


def test_there_is_one_object_for_each_kind_and_key() -> None:
    call, other = (ast.parse(text, mode="eval").body for text in ("f()", "f()"))
    made = Obj("call", call, "f")
    assert Obj("call", call) is made and made.label == "f"
    assert len({made, Obj("call", other), Obj("seq", call)}) == 3
    part = Obj("path", (made, "weight"), "f.weight")
    assert Obj("path", (made, "weight")) is part and Obj("path", (made, "bias")) is not part
    assert apex("apex.amp") is apex("apex.amp") and apex("apex.amp") is not Obj("key", "apex.amp")


def test_objects_of_two_programs_are_different_ones() -> None:
    text = "def f(x):\n    return x.y\n"
    held = [Values(m).of(m.all(ast.Attribute)[0]) for m in (Module(text), Module(text))]
    assert all(held) and held[0].isdisjoint(held[1])


def test_names_that_nobody_holds_any_more_are_forgotten() -> None:
    gc.collect()
    before = len(_NAMED)
    held = [apex(f"apex.amp.x{number}") for number in range(100)]
    assert len(_NAMED) == before + 100
    del held
    gc.collect()
    assert len(_NAMED) <= before
