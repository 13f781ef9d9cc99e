"""Functions of other files that compute nothing where O1's casts would have reached it, by their text: a metric of
``argmax`` and ``==``."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol

from ..knowledge.host import HOST_MODULES
from ..knowledge.models import FORWARDING, GENERATING, NETWORK_MADE
from ..knowledge.results import FLOAT_WORK


class Spoken(Protocol):
    """What the text of a function says of it."""

    @property
    def name(self) -> str: ...
    @property
    def called(self) -> frozenset[str]: ...
    @property
    def works(self) -> bool: ...


def sober(functions: Iterable[Spoken]) -> dict[str, bool]:
    """For each name whether all functions of that name are."""
    every = list(functions)
    names = {one.name for one in every}
    callers: dict[str, set[str]] = defaultdict(set)
    lost: list[str] = []
    for one in every:
        own = one.called & names
        for called in own:
            callers[called].add(one.name)
        if one.works or not all(map(_idle, one.called - own)):
            lost.append(one.name)
    found = dict.fromkeys(names, True)
    while lost:
        name = lost.pop()
        if found[name]:
            found[name] = False
            lost += callers[name]
    return found


def joined(one: Mapping[str, bool], other: Mapping[str, bool]) -> dict[str, bool]:
    """What two of these say together."""
    return {name: one.get(name, True) and other.get(name, True) for name in (*one, *other)}


def _idle(called: str) -> bool:
    """Whether a call in such a function computes nothing that matters; of torch the text of the function says it."""
    root, _, last = called.rpartition(".")
    first = called.partition(".")[0]
    if not root:
        return hasattr(builtins, called)
    if first == "torch" or first in HOST_MODULES:
        return "functional" not in root
    named = FLOAT_WORK.fit(called) or FORWARDING.fit(last) or GENERATING.fit(last) or NETWORK_MADE.fit(first)
    return first not in ("self", "F", "nn") and not named
