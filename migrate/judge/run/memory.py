"""What of its values a program keeps: all that may be asked for, or in a rough search little of that."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..terms import Term, leaves

_OBJECTS = frozenset({"obj", "scaler", "scaled", "scaling", "null", "autocast", "apex", "file", "seq", "dict", "made"})


@dataclass(eq=False)
class Memory:
    """The ``names`` (and attributes and keys) whose values are kept. Objects are in any case; where ``rough``, a list
    or dictionary only if an object lies in it, and what is not kept is another value wherever it is read. ``values``
    are opaque ones of which answers are kept."""

    names: frozenset[str]
    rough: bool = False
    values: frozenset[Term] = frozenset()

    def holds_objects(self, term: Term) -> bool:
        """Whether a value is kept whatever its name."""
        if self.rough and term[0] == "seq":
            return any(map(self.holds_objects, term[1]))
        if self.rough and term[0] == "dict":
            return any(self.holds_objects(value) for _, value in term[1])
        return term[0] in _OBJECTS

    def loses(self, *names: str) -> bool:
        """Whether what has these names is not kept."""
        return self.rough and self.names.isdisjoint(names)

    def passing(self, term: Term, places: Collection[int]) -> bool:
        """Whether a value is made only of what is read at these places and not kept: nobody asks for it again."""
        return self.rough and all(
            leaf[1] in places and leaf[2] not in self.names and leaf not in self.values for leaf in leaves(term)
        )
