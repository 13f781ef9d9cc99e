"""Values by name, as a program in mid-run has them, and what is asked of all of them.

That is asked far more often than a value is set, and most states hold the same as others in most of their stores. So
what a store holds is kept once for all that hold the same, with what was found out about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from .terms import Term, leaves, parts_in_question

K = TypeVar("K")

_Items = frozenset[tuple[Any, Term]]


class Contents:
    """What a store holds: one object for all that hold the same, as long as somebody has it."""

    def __init__(self, items: _Items) -> None:
        self.items = items

    @cached_property
    def leaves(self) -> frozenset[Term]:
        """The opaque values that the values here, and the objects whose they are, are made of."""
        return frozenset[Term]().union(*map(leaves, self._held()))

    @cached_property
    def questioned(self) -> frozenset[Term]:
        """These values, the objects whose they are, and what they are made of, where they may be asked for their
        truth."""
        return frozenset[Term]().union(*map(parts_in_question, self._held()))

    def _held(self) -> Iterator[Term]:
        for name, term in self.items:
            if isinstance(name, tuple) and isinstance(name[0], tuple):
                yield name[0]
            yield term


_CONTENTS: WeakValueDictionary[_Items, Contents] = WeakValueDictionary()


def _contents(items: _Items) -> Contents:
    found = _CONTENTS.get(items)
    if found is None:
        found = _CONTENTS[items] = Contents(items)
    return found


class Store(dict[K, Term]):
    """It is changed by ``store[name] = …``, ``del``, ``pop`` and ``take`` alone."""

    __slots__ = ("_before", "_known")

    def __init__(self, values: Mapping[K, Term] = MappingProxyType({})) -> None:
        super().__init__(values)
        self._known: Contents | None = None  # what was in it once,
        self._before: dict[K, Term | None] = {}  # and what each name that was set since then held
        if isinstance(values, Store):
            self._known, self._before = values._known, values._before.copy()

    def _changes(self, name: K) -> None:
        if self._known is not None and name not in self._before:
            self._before[name] = self.get(name)

    def __setitem__(self, name: K, term: Term) -> None:
        self._changes(name)
        super().__setitem__(name, term)

    def __delitem__(self, name: K) -> None:
        self._changes(name)
        super().__delitem__(name)

    def pop(self, name: K, *default: Any) -> Any:
        self._changes(name)
        return super().pop(name, *default)

    def take(self, values: Mapping[K, Term]) -> None:
        """Give many names their values at once."""
        self._known = None
        super().update(values)

    def contents(self) -> Contents:
        """What it holds."""
        if self._known is None:
            self._known = _contents(frozenset(self.items()))
        elif self._before:
            gone = {(name, term) for name, term in self._before.items() if term is not None}
            come = {(name, self[name]) for name in self._before if name in self}
            self._known = _contents(self._known.items - gone | come)
        if self._before:
            self._before = {}
        return self._known


class Locals(Store[object]):
    """The values of a function's own names, of which those are forgotten that nothing reads again. There are few."""

    __slots__ = ("buried", "fresh")

    def __init__(self, values: Mapping[object, Term] = MappingProxyType({})) -> None:
        super().__init__(values)
        known = values if isinstance(values, Locals) else None
        self.buried: int | None = known.buried if known is not None else None  # where dead names were forgotten last
        self.fresh: list[object] = [*(known.fresh if known is not None else values)]  # names that were set since

    def _changes(self, name: object) -> None:
        self._known = None

    def __setitem__(self, name: object, term: Term) -> None:
        self.fresh.append(name)
        self._known = None  # `_changes`, without the call: most is set here
        dict.__setitem__(self, name, term)

    def take(self, values: Mapping[object, Term]) -> None:
        self.fresh.extend(values)
        super().take(values)
