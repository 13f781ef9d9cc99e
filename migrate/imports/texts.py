"""What is asked of the texts of a tree's files, each once."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ..facts.elsewhere import Elsewhere, Outline, defined, elsewhere, outline
from ..facts.gradless import runs_both_ways
from ..facts.handed_runs import Place, Table, calls_handed, hands_on, hands_runs
from ..facts.handed_types import Given, gives_other_types, puts_handed
from ..facts.masks import adds_to_products
from ..facts.stores import stores_other_types
from ..reading import read, windows

T = TypeVar("T")


class Texts:
    """Answers of texts, remembered. Next to nothing is parsed for them."""

    def __init__(self) -> None:
        self._words: dict[tuple[re.Pattern[bytes], str], frozenset[str]] = {}
        self._outlines: dict[str, Outline] = {}
        self._defined: dict[str, tuple[str, ...]] = {}
        self._elsewhere: dict[tuple[str, ...], Elsewhere] = {}
        self._stores: dict[str, bool] = {}
        self._adds: dict[str, bool] = {}
        self._puts: dict[str, frozenset[str]] = {}
        self._gives: dict[str, Given] = {}
        self._hands: dict[str, Table] = {}
        self._on: dict[str, frozenset[tuple[Place, Place]]] = {}
        self._both_ways: dict[str, bool] = {}
        self._calls: dict[tuple[str, ...], Table] = {}

    def words(self, pattern: re.Pattern[bytes], location: str) -> frozenset[str]:
        """What of a file fits a pattern, each once; a file is read once for each pattern."""
        if (pattern, location) not in self._words:
            found: set[str] = set()
            with suppress(OSError):
                for window in windows(location):
                    found.update(one.decode(errors="replace") for one in pattern.findall(window))
            self._words[(pattern, location)] = frozenset(found)
        return self._words[(pattern, location)]

    def outline(self, location: str) -> Outline:
        """The classes and functions of a file."""
        return self._ask(self._outlines, outline, location, Outline())

    def defined(self, location: str) -> tuple[str, ...]:
        """What the functions and methods of a file are called."""
        return self._ask(self._defined, defined, location, ())

    def elsewhere(self, files: tuple[str, ...]) -> Elsewhere:
        """What files make of networks, all together; worked out once, as many scripts import the same."""
        if files not in self._elsewhere:
            self._elsewhere[files] = elsewhere([self.outline(one) for one in files])
        return self._elsewhere[files]

    def stores_other_types(self, location: str) -> bool:
        """Whether a file puts into tensors what has another type under autocast."""
        return self._ask(self._stores, stores_other_types, location, False)

    def puts_handed(self, location: str) -> frozenset[str]:
        """The functions of a file that put what they are handed into a tensor."""
        return self._ask(self._puts, puts_handed, location, frozenset())

    def gives_other_types(self, location: str) -> Given:
        """What a file gives back that has another type under autocast."""
        return self._ask(self._gives, gives_other_types, location, Given())

    def hands_runs(self, location: str) -> Table:
        """To what a file hands something that runs a network."""
        return self._ask(self._hands, hands_runs, location, {})

    def hands_on(self, location: str) -> frozenset[tuple[Place, Place]]:
        """What functions of a file hand on of what they are handed."""
        return self._ask(self._on, hands_on, location, frozenset())

    def calls_handed(self, files: tuple[str, ...]) -> Table:
        """What the first of some files calls of what it is handed; the others have bases of its classes."""
        if files not in self._calls:
            texts = list[str]()
            for one in files:
                with suppress(OSError):
                    texts.append(read(one).decode(errors="replace"))
            self._calls[files] = calls_handed(texts)
        return self._calls[files]

    def adds_to_products(self, location: str) -> bool:
        """Whether a file adds something in place to what a product gave."""
        return self._ask(self._adds, adds_to_products, location, False)

    def runs_both_ways(self, location: str) -> bool:
        """Whether a network of a file runs a part of its own without gradients, and with them as well."""
        return self._ask(self._both_ways, runs_both_ways, location, False)

    def _ask(self, known: dict[str, T], ask: Callable[[str], T], location: str, nothing: T) -> T:
        """The answer of a file's text, looked for once; ``nothing`` of one that is too large, or cannot be read."""
        if location not in known:
            known[location] = nothing
            with suppress(OSError):
                known[location] = ask(read(location).decode(errors="replace"))
        return known[location]
