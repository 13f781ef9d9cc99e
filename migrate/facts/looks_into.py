"""What a function of another file looks into, and what it adds to in place, of what it is handed, by its text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_VALUE = r"(?<![\w.])(?:self\.)?(\w+)"
_SHOWS = "len list tuple set dict sorted iter next enumerate any all sum min max zip print pprint str repr".split()
_LOOKED_INTO = re.compile(
    rf"\b(?:{'|'.join(_SHOWS)})\([ \t]*(?:self\.)?(\w+)[ \t]*[,)]"  # of a longer expression something else is shown
    rf"|{_VALUE}\.(?:keys|values|items|get|pop)\(|{_VALUE}\["
    r"|\bin[ \t]+(?:self\.)?(\w+)[ \t]*(?![\w.(\[ \t])"
    rf"|{_VALUE}[ \t]*[!=]=(?![ \t]*None\b)|[!=]=[ \t]*(?:self\.)?(\w+)\b(?![.(\[])"
    r"|\{(?:self\.)?(\w+)(?:![rsa])?(?::[^{}\n]{0,80})?\}"
)
_ADDED_TO = re.compile(r"^[ \t]+(\w+)(?:\[[^\[\]\n]*\])?[ \t]*[-+*/]=[ \t]*([^\n]+)", re.M)
_NAME = re.compile(r"\w+")
_COMPUTED = re.compile(r"^[ \t]+(\w+)[ \t]*=[ \t]*(?:[\w.]+\()*self\.[\w.]+(?:\[[^\[\]\n]*\])?\(", re.M)  # by a layer
# What is added is a number of Python's, which leaves the type as it is, or is added to one.
_NUMBER = re.compile(r"\A[-+\d.e*/() \t]+\Z|\.(?:item|size|numel|dim)\(|\.shape\b|\b(?:len|float|int|range)\(")

_STATE = re.compile(rf"{_VALUE}\.(?:state(?![\w(])|state_dict\(\)\[[\"']state[\"']\])")


def asked_for_state(body: str) -> frozenset[str]:
    """The names, and attributes of its object, whose ``state`` a function asks for."""
    return frozenset() if moves_state(body) else frozenset(_STATE.findall(body))


def moves_state(text: str) -> bool:
    """Whether a text moves tensors: what somebody loaded is brought to the GPU."""
    return ".cuda(" in text or ".to(" in text


def looked_into(body: str) -> frozenset[str]:
    """The names, and attributes of its object, whose items or number a function asks for, or which it shows."""
    return frozenset(name for found in _LOOKED_INTO.findall(body) for name in found if name)


def added_to(body: str, parameters: Collection[str]) -> frozenset[str]:
    """The parameters to which a function adds a tensor in place, or multiplies it so: ``scores += bias``."""
    return frozenset(
        name for name, value in _ADDED_TO.findall(body) if name in parameters and not _NUMBER.search(_code(value))
    )


def adds_input(body: str, parameters: Sequence[str]) -> bool:
    """Whether a forward adds its first argument, as it is, in place to what a layer gave: ``out += x``."""
    handed = parameters[1:2]
    computed = frozenset(_COMPUTED.findall(body))
    added = {_code(value) for name, value in _ADDED_TO.findall(body) if name in computed}
    return any(name in added and not _given(body, name) for name in handed)


def _given(body: str, name: str) -> bool:
    """Whether a name is given something else."""
    heads = [line.partition("=") for line in body.splitlines() if "=" in line]
    return any(
        name in _NAME.findall(head)
        for head, _, value in heads
        if not value.startswith("=") and "(" not in head and not head.endswith(("!", "<", ">"))
    )


def _code(value: str) -> str:
    return value.partition("#")[0].strip()
