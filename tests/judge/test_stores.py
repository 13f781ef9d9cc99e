"""What stores hold is kept once for all that hold the same, however they came to it."""

from __future__ import annotations

import random

from migrate.judge.stores import Locals, Store
from migrate.judge.terms import TRUE, Term, opaque

NAMES = [((("v", place, "model"), "weight"), opaque(place, "kept")) for place in range(40)]


def test_stores_that_hold_the_same_have_the_same_contents() -> None:
    chance = random.Random(0)
    stores: list[Store[tuple[Term, str]]] = [Store(dict(NAMES[:20]))]
    for _ in range(2_000):
        store = chance.choice(stores)
        name, term = chance.choice(NAMES)
        match chance.randrange(6):
            case 0:
                stores.append(Store(store))
            case 1:
                store.pop(name, None)
            case 2:
                store.take({name: TRUE})
            case 3 if name in store:
                del store[name]
            case _:
                store[name] = chance.choice((term, TRUE))
        if chance.randrange(3):
            assert store.contents() is Store(dict(store)).contents()
            assert store.contents().items == frozenset(store.items())


def test_contents_know_the_values_and_the_objects_whose_they_are() -> None:
    store = Store({(("v", 1, "model"), "weight"): ("op", "Add", opaque(2), ("k", 1))})
    assert store.contents().leaves == {("v", 1, "model"), opaque(2)}
    store[("v", 1, "model"), "weight"] = TRUE
    assert store.contents().leaves == {("v", 1, "model")}
    assert store.contents().questioned == {("v", 1, "model")}
    store.pop((("v", 1, "model"), "weight"))
    assert not store.contents().leaves


def test_local_names_are_told_apart_as_others() -> None:
    names = Locals({"x": TRUE})
    before = names.contents()
    names["y"] = TRUE
    assert names.contents() is not before
    del names["y"]
    assert names.contents() is before is Locals({"x": TRUE}).contents()
