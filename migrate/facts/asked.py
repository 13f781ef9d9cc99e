"""What functions of other files are handed and only ask for its state, by their text: `evaluate_eval(net, hist)` that
computes a score and saves. However such a function is called, it does not run that."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

_STATE = "state_dict|load_state_dict|parameters|named_parameters|buffers|named_buffers|zero_grad|save_pretrained"
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
    return frozenset(name for name in parameters if name.isidentifier() and _only_asked(name, body))


def _only_asked(name: str, body: str) -> bool:
    every = len(re.findall(rf"(?<![\w.]){name}\b", body))
    state = re.findall(rf"(?<![\w.]){name}(?:\.module)?\.(?:{_STATE})\(", body)
    mode = re.findall(rf"^[ \t]*{name}\.(?:eval|train)\(\w*\)[ \t\r]*$", body, re.M)
    tests = re.findall(
        rf"(?:\bisinstance\({name},|\bhasattr\({name},|\bif (?:not )?{name}:|{name} is (?:not )?None\b)", body
    )
    return every == len(state) + len(mode) + len(tests)


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
