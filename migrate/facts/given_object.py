"""Who runs a network of an object that it was given, by the text: a hook whose runner somebody sets from outside
(``self.trainer.model(x)``), a callback that is handed one (``runner.model(x)``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from ..knowledge.models import (
    BUILDS,
    FORWARDING,
    GENERATING,
    NETWORK_MADE,
    NO_NETWORK,
    NOT_RUN_BY_FUNCTION,
    NOT_RUN_BY_METHOD,
    OPTIONS,
)

_NESTED = 3  # names for names for names: as far as aliases are followed


class Function(Protocol):
    """What is asked of a function's outline."""

    @property
    def parameters(self) -> tuple[str, ...]: ...

    @property
    def given(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def called(self) -> frozenset[str]: ...

    @property
    def inner(self) -> frozenset[str]: ...

    @property
    def passed(self) -> frozenset[tuple[str, str]]: ...


def runs_of_given(function: Function, methods: Collection[str] = ()) -> bool:
    """Whether a function calls a network that is an attribute of an object which it holds or is handed, or hands it to
    what may. ``methods`` are those of its class: what ``self.each()`` gives back is no attribute."""
    own = {*function.parameters, *function.inner}
    every = {path for one in function.called for path in _spelled(one, function.given)}
    if any(_runs(path.split("."), own, methods) for path in every):
        return True
    handed = (one for callee, one in function.passed if not NOT_RUN_BY_FUNCTION.fit(callee.rpartition(".")[2]))
    paths = {path for one in handed for path in _spelled(one, function.given)}
    return any(_network(path.split("."), own, methods) for path in paths)


def _spelled(path: str, given: Iterable[tuple[str, str]]) -> set[str]:
    """A dotted path, and with the name that it begins with spelled out: ``net``, after ``net = self.trainer.model``."""
    pairs = [(name, source) for name, source in given if "." in source and source.partition(".")[0] != name]
    found = {path}
    for _ in range(_NESTED):
        split = [one.partition(".") for one in found]
        more = {f"{source}{dot}{rest}" for first, dot, rest in split for name, source in pairs if name == first}
        if more <= found:
            break
        found |= more
    return found


def _runs(path: list[str], parameters: Collection[str], methods: Collection[str]) -> bool:
    *owner, last = path
    run = FORWARDING.fit(last) or GENERATING.fit(last)
    return _network(path, parameters, methods) or (run and _network(owner, parameters, methods))


def _network(path: list[str], parameters: Collection[str], methods: Collection[str]) -> bool:
    """Whether a path leads to what is called as a network is, by an object that the function holds or is handed."""
    path = [one for one in path if one != "module"]  # what a wrapper wraps
    if len(path) < 2 or not OPTIONS.isdisjoint(path) or any(map(NO_NETWORK.fit, path)):
        return False
    first, last = path[0], path[-1]
    given = first in parameters and first != "cls" if first != "self" else len(path) > 2 and path[1] not in methods
    makes = BUILDS.fit(last) or NOT_RUN_BY_METHOD.fit(last) or last.startswith(("get_", "with_"))
    return given and NETWORK_MADE.fit(last) and not makes
