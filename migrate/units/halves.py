"""Which type a value may have when it leaves an autocast region, and what it is made of: tuples, lists and records.

HALF is a floating result whose type autocast decides, FLOAT is float32, whatever autocast does, DOUBLE float64, ARRAY
an array of numpy of that type, which a network makes a tensor of before it computes with it,
OTHER no such tensor (an integer, an input, no tensor), MAYBE made of a half result by a function that is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

HALF, FLOAT, DOUBLE, ARRAY, OTHER, MAYBE = "half", "float", "double", "array", "other", "maybe"
_MAX_DEPTH = 3  # lists in lists that are told apart


@dataclass(frozen=True)
class Value:
    """What an expression may hold. ``items`` where it is a tuple of known length, or a record, whose fields are called
    ``names``; ``each`` where it is a container of which the items are not told apart: what any of them may be."""

    facts: frozenset[str] = frozenset()
    items: tuple[Value, ...] | None = None
    names: tuple[str, ...] = ()
    each: Value | None = None

    @property
    def flat(self) -> frozenset[str]:
        """The facts of a value and of all that lies in it."""
        if self.items is None and self.each is None:  # as most are
            return self.facts
        inside = (*(self.items or ()), *((self.each,) if self.each else ()))
        return self.facts.union(*(i.flat for i in inside)) if inside else self.facts

    @property
    def holds(self) -> bool:
        """Whether it surely is a container, no tensor."""
        return self.items is not None or self.each is not None

    @property
    def element(self) -> Value:
        """What is found where one goes over it: an item of a container, a row of a tensor."""
        if self.each is not None:
            return self.each
        return joined(self.items) if self.items is not None else Value(self.facts)

    def field(self, name: str) -> Value | None:
        """A field of a record; None where it is none, or has none of that name."""
        return self.items[self.names.index(name)] if self.items is not None and name in self.names else None


NOTHING = Value()


def proved(value: Value) -> bool:
    """Whether a value surely is a floating tensor that autocast may have made half."""
    return HALF in value.flat and value.flat <= {HALF, FLOAT}


def doubtful(value: Value) -> bool:
    """Whether a value may be one, or something else."""
    return not proved(value) and bool(value.flat & {HALF, MAYBE})


@lru_cache(None)  # of a handful of facts, asked for every expression
def of(*facts: str) -> Value:
    """A tensor, or anything else, of which these facts may hold."""
    return Value(frozenset(facts))


def collated(value: Value) -> Value:
    """What a ``DataLoader`` makes of it: tensors of arrays."""
    facts = frozenset(DOUBLE if fact == ARRAY else fact for fact in value.facts)
    items = None if value.items is None else tuple(map(collated, value.items))
    return Value(facts, items, value.names, None if value.each is None else collated(value.each))


def many(item: Value) -> Value:
    """A container of such items."""
    return Value(each=item if _depth(item) < _MAX_DEPTH else Value(item.flat))


def record(fields: dict[str, Value]) -> Value:
    """A dictionary or an object with these fields."""
    return Value(frozenset(), tuple(fields.values()), tuple(fields))


def join(one: Value, other: Value) -> Value:
    """What holds for either of two values."""
    if one is other or one == other:
        return one
    if one.items is not None and other.items is not None and one.names == other.names:
        if len(one.items) == len(other.items):
            items = tuple(join(a, b) for a, b in zip(one.items, other.items, strict=True))
            return Value(one.facts | other.facts, items, one.names)
    if one.holds and not other.flat:
        return one
    if other.holds and not one.flat:
        return other
    if one.holds and other.holds:
        return Value(one.facts | other.facts, each=join(one.element, other.element))
    return Value(one.flat | other.flat)


def joined(values: Iterable[Value]) -> Value:
    """What holds for any of several."""
    result = NOTHING
    for value in values:
        result = join(result, value)
    return result


def _depth(value: Value) -> int:
    inside = (*(value.items or ()), *((value.each,) if value.each else ()))
    return 1 + max(map(_depth, inside)) if inside else 0
