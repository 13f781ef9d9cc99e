"""Who runs a network of an object that it was given, by the text: a hook whose runner somebody sets from outside
(``self.trainer.model(x)``), a callback that is handed one (``runner.model(x)``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
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
from .parameters import parameters_of

_NESTED = 3  # names for names for names: as far as aliases are followed
_PATH = r"\w+(?:\.\w+)*"
_GIVEN = re.compile(rf"\b(\w+)[ \t]*=[ \t]*({_PATH})")
_CALLED = re.compile(rf"(?<![\w.])({_PATH})\(")
_PASSES = re.compile(rf"(?<![\w.])({_PATH})\(([^()]*)\)")
_DOTTED = re.compile(rf"(?:^|[,=])\s*({_PATH})\s*(?=,|\Z)")
_RETURNED = re.compile(rf"\breturn[ \t]+({_PATH})[ \t]*$", re.M)
_INNER = re.compile(r"\bdef[ \t]+\w+[ \t]*\(([^()]*)|\blambda[ \t]+(?![ \t])([^:\n]{0,400}):")
# A weak reference that is asked, and what a dictionary holds under a name: attributes as others are.
_ASKED, _UNDER = re.compile(r"\(\)(?=\.)"), re.compile(r"\[[\"'](\w+)[\"']\]")
SHORT = re.compile(r"(?:net|model)_?[A-Z0-9]\w*|[GD](?:_\w+)?")  # netG, model1, G_ema


@dataclass(frozen=True)
class Paths:
    """The dotted paths of a function's text: ``given`` to names, ``called``, ``passed`` to which function, and
    ``returned``. ``parameters`` are its own, and those of the functions within it."""

    parameters: frozenset[str]
    given: frozenset[tuple[str, str]]
    called: frozenset[str]
    passed: frozenset[tuple[str, str]]
    returned: frozenset[str]


class Function(Protocol):
    """What is asked of a function's outline."""

    @property
    def paths(self) -> Paths: ...


def paths(parameters: str, body: str) -> Paths:
    """Those of a function, by the text of its parameters and its body."""
    body = _UNDER.sub(r".\1", _ASKED.sub("", body))
    own = [parameters, *(",".join(found) for found in _INNER.findall(body))]
    return Paths(
        frozenset(name for one in own for name in parameters_of(one)),
        frozenset((name, path) for name, path in _GIVEN.findall(body) if "." in path),
        frozenset(_CALLED.findall(body)),
        frozenset((name, one) for name, given in _PASSES.findall(body) for one in _DOTTED.findall(given)),
        frozenset(_RETURNED.findall(body)),
    )


def runs_of_given(function: Paths, methods: Collection[str] = (), back: Collection[str] = ()) -> bool:
    """Whether a function calls a network that is an attribute of an object which it holds or is handed, or hands it to
    what may. ``methods`` are those of its class: what ``self.each()`` gives back is no attribute. ``back`` are methods
    and properties that give such a network back."""
    if any(one.partition(".")[0] == "self" and not {*one.split(".")[1:2]}.isdisjoint(back) for one in function.called):
        return True
    asked = {name for name, path in function.given if NETWORK_MADE.fit(name) and _given(path, function, methods)}
    if not asked.isdisjoint(function.called):  # model = self.trainer.get_model()
        return True
    every = {path for one in function.called for path in _spelled(one, function.given)}
    if any(_runs(path, function, methods) for path in every):
        return True
    handed = (one for callee, one in function.passed if not NOT_RUN_BY_FUNCTION.fit(callee.rpartition(".")[2]))
    return any(_network(path, function, methods) for one in handed for path in _spelled(one, function.given))


def getters(methods: Mapping[str, Function]) -> frozenset[str]:
    """The methods and properties of a class that give back a network of an object which it was given."""
    return frozenset(
        name
        for name, one in methods.items()
        if any(path.startswith("self.") and _network(path, one.paths, methods) for path in one.paths.returned)
    )


def _spelled(path: str, given: Iterable[tuple[str, str]]) -> set[str]:
    """A dotted path, and with the name that it begins with spelled out: ``net``, after ``net = self.trainer.model``."""
    pairs = [(name, source) for name, source in given if source.partition(".")[0] != name]
    found = {path}
    for _ in range(_NESTED):
        split = [one.partition(".") for one in found]
        more = {f"{source}{dot}{rest}" for first, dot, rest in split for name, source in pairs if name == first}
        if more <= found:
            break
        found |= more
    return found


def _runs(path: str, function: Paths, methods: Collection[str]) -> bool:
    owner, _, last = path.rpartition(".")
    run = FORWARDING.fit(last) or GENERATING.fit(last)
    return _network(path, function, methods) or (run and _network(owner, function, methods))


def _network(path: str, function: Paths, methods: Collection[str]) -> bool:
    """Whether a path leads to what is called as a network is, by an object that the function holds or is handed."""
    path = path.replace(".module", "")  # what a wrapper wraps
    last = path.rpartition(".")[2]
    makes = BUILDS.fit(last) or NOT_RUN_BY_METHOD.fit(last) or last.startswith(("get_", "with_"))
    called = NETWORK_MADE.fit(last) or SHORT.fullmatch(last) is not None
    return called and not makes and _given(path, function, methods)


def _given(path: str, function: Paths, methods: Collection[str]) -> bool:
    """Whether a path is of an object that a function holds or is handed, and that is no option."""
    first, *rest = path.split(".")
    if not OPTIONS.isdisjoint((first, *rest)) or any(map(NO_NETWORK.fit, (first, *rest))):
        return False
    if first == "self":
        return len(rest) > 1 and rest[0] not in methods
    return bool(rest) and first in function.parameters and first != "cls"
