"""Half or float32: what type a value had under Apex, which cast wherever in the process it was computed with, and what
it has natively, where only autocast's regions cast. What is not known is UNKNOWN, and nobody complains of it.

Source: shared/design/semantics.md, sections 1.2 and 4; ATen/autocast_mode.h and apex/amp/lists at tag 25.05, as
`knowledge/operations.py` has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..knowledge import operations as known

HALF, FLOAT, NUMBER, NOTHING, UNKNOWN = "half", "float", "number", "", "?"


@dataclass(frozen=True)
class Width:
    """A value in the old program and in the new one. NUMBER is what takes no part in the choice of a type; NOTHING is
    no value yet. ``items`` of a tuple or dictionary that is written out, by index or key, ``each`` any item of a
    list."""

    old: str = UNKNOWN
    new: str = UNKNOWN
    items: tuple[tuple[object, Width], ...] = ()
    each: Width | None = None
    opaque: bool = False  # what a model gave that is not here: a tensor, a tuple or a record

    @property
    def holds(self) -> bool:
        """Whether it is a container."""
        return bool(self.items) or self.each is not None

    @property
    def narrowed(self) -> bool:
        """Whether it was float32, and is half now; of a container, what lies in it."""
        if self.holds:
            return any(item.narrowed for _, item in self.items) or (self.each is not None and self.each.narrowed)
        return self.old == FLOAT and self.new == HALF

    @property
    def element(self) -> Width:
        """An item of a container, a row of a tensor."""
        if self.each is not None:
            return self.each
        return joined(item for _, item in self.items) if self.items else ANYTHING if self.opaque else self

    def item(self, key: object) -> Width:
        return next((item for one, item in self.items if one == key), self.each or ANYTHING)


ANYTHING = Width()
NO_VALUE = Width(NOTHING, NOTHING)
A_NUMBER = Width(NUMBER, NUMBER)
FLOATS = Width(FLOAT, FLOAT)
HALVES = Width(HALF, HALF)


def record(fields: Iterable[tuple[object, Width]]) -> Width:
    """A tuple by index, a dictionary by key, an object by attribute."""
    return Width(items=tuple(fields))


def many(item: Width) -> Width:
    """A list of such items."""
    return Width(each=item if item.each is None or item.each.each is None else ANYTHING)


def join(one: Width, other: Width) -> Width:
    """What holds for either of two."""
    if one == other or other == NO_VALUE:
        return one
    if one == NO_VALUE:
        return other
    if one.items and other.items and [key for key, _ in one.items] == [key for key, _ in other.items]:
        pairs = zip(one.items, other.items, strict=True)
        return Width(UNKNOWN, UNKNOWN, tuple((key, join(a, b)) for (key, a), (_, b) in pairs))
    if one.holds and other.holds:
        return many(join(one.element, other.element))
    if one.holds or other.holds:
        return ANYTHING
    return Width(_either(one.old, other.old), _either(one.new, other.new), opaque=one.opaque or other.opaque)


def joined(several: Iterable[Width]) -> Width:
    found = NO_VALUE
    for one in several:
        found = join(found, one)
    return found


def _either(one: str, other: str) -> str:
    return one if one == other or other == NOTHING else other if one == NOTHING else UNKNOWN


def promoted(one: Width, other: Width) -> Width:
    """``x + y`` and its like, anywhere: the wider type, a number has none. Natively a float32 tensor without dimensions
    does not widen a half one: that is not known."""
    if one.holds or other.holds:
        return join(one, other) if one.holds and other.holds else ANYTHING
    return Width(_wider(one.old, other.old, FLOAT), _wider(one.new, other.new, UNKNOWN))


def _wider(one: str, other: str, mixed: str) -> str:
    if one == other or other == NUMBER:
        return one
    if one == NUMBER:
        return other
    return mixed if {one, other} == {HALF, FLOAT} else UNKNOWN


def _floating(*types: str) -> bool:
    return all(one in (HALF, FLOAT) for one in types)


def cast(name: str, given: Width, listed: bool, half: bool, region: bool, patched: bool) -> Width:
    """What an operation of lists gives that is handed ``given``: ``listed`` of those that O1 ran in float32, ``half``
    of those in half. ``patched``: Apex cast functions (O1); ``region``: autocast is on."""
    old, new = given.old, given.new
    if patched and _floating(old):
        old = FLOAT if listed else HALF if half else old
    if region and _floating(new):
        if half or name in known.HALF_NOT_AS_GIVEN:
            new = HALF
        elif (listed and name not in known.HALF_NOT_FLOAT) or name in known.FLOAT_NOT_AS_GIVEN:
            new = FLOAT
    return Width(old, new)


def turned(given: Width, type_: str) -> Width:
    """``x.float()``, ``x.half()``"""
    return replace(given, old=type_, new=type_)


def put_in(given: Width, type_: str) -> Width:
    """The same where only the new program says so."""
    return replace(given, new=type_)


def to_cpu(given: Width, patched: bool) -> Width:
    """``x.cpu()``, which O1 patched: what was half came back as float32."""
    return replace(given, old=FLOAT) if patched and given.old == HALF else given
