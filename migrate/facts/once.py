"""What is the same for all of a program is looked for once: else many units, or nodes, take many times as long."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
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


def once_each(find: Callable[Concatenate[W, P], T]) -> Callable[Concatenate[W, P], T]:
    """The same for a function that is asked of several things in a program: of each once."""

    @wraps(find)
    def found(whole: W, /, *asked: P.args, **named: P.kwargs) -> T:
        known: dict[object, T] | None = whole.kept.get(find)
        if known is None:
            known = whole.kept[find] = {}
        key = (*asked, *named.items()) if named else asked
        if key not in known:
            known[key] = find(whole, *asked, **named)
        return known[key]

    return found
