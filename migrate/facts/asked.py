"""What functions of other files are handed and only ask for its state, by their text: `evaluate_eval(net, hist)` that
computes a score and saves. However such a function is called, it does not run that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

_USED = re.compile(r"\.?\w+")  # one behind a dot is an attribute
# What reads or loads the state of something, sets its mode, or asks whether it is there or what it is.
_ASKED = re.compile(
    r"(?<![\w.])(\w+)(?:\.module)?\.(?:"
    r"state_dict|load_state_dict|parameters|named_parameters|buffers|named_buffers|zero_grad|save_pretrained)\("
    r"|^[ \t]*(\w+)\.(?:eval|train)\(\w*\)[ \t\r]*$"
    r"|\b(?:isinstance|hasattr)\((\w+),|\bif (?:not )?(\w+):|(?<![\w.])(\w+) is (?:not )?None\b",
    re.M,
)
_LOOKS_AROUND = re.compile(r"(?<![\w.])(?:locals|vars|eval|exec|globals)\(")
_STRINGS = re.compile(r"(?<![\w'\"])'[^'\n]*'|(?<![\w'\"])\"[^\"\n]*\"")


class Function(Protocol):
    """What is asked of a function's outline."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> tuple[str, ...]: ...

    @property
    def asks(self) -> frozenset[str]: ...


def asks(header: str, parameters: Iterable[str], body: str) -> frozenset[str]:
    """The parameters of which a body uses nothing but what reads or loads their state, or sets their mode."""
    if re.search(r"[(\[{*]", header) or _LOOKS_AROUND.search(body):
        return frozenset()  # they are not told apart, or anything may be read
    body = _STRINGS.sub("''", body)
    used = Counter(_USED.findall(body))
    asked = Counter("".join(found) for found in _ASKED.findall(body))
    return frozenset(name for name in parameters if name.isidentifier() and used[name] == asked[name])


def asking(functions: Iterable[Function], others: Collection[str]) -> Mapping[str, frozenset[tuple[int, str]]]:
    """For each function which parameters it only asks, by number and name: those that all which are called so do, and
    none that is called as one of ``others`` is."""
    found: dict[str, frozenset[tuple[int, str]]] = {name: frozenset() for name in others}
    for one in functions:
        found = both(found, {one.name: frozenset((at, p) for at, p in enumerate(one.parameters) if p in one.asks)})
    return found


def both(
    some: Mapping[str, frozenset[tuple[int, str]]], others: Mapping[str, frozenset[tuple[int, str]]]
) -> dict[str, frozenset[tuple[int, str]]]:
    """What two sets of files say: of one name what both do."""
    shared = {name: some[name] & handed for name, handed in others.items() if name in some}
    return {**some, **others, **shared}
