"""What is the same for all of a program is looked for once: else many units, or nodes, take many times as long."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Keeps(Protocol):
    """A program's syntax, or what is known of it: ``kept`` is what was found, by the function that found it."""

    @property
    def kept(self) -> dict[object, Any]: ...


W = TypeVar("W", bound=Keeps)


def once(find: Callable[[W], T]) -> Callable[[W], T]:
    """The same function, which remembers what it found with the program that it is asked of."""

    @wraps(find)
    def found(whole: W) -> T:
        if find not in whole.kept:
            whole.kept[find] = find(whole)
        known: T = whole.kept[find]
        return known

    return found
