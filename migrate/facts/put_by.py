"""What a method puts by in its object, by its text: ``self.kept.append(p)``, ``for row in p: self.rows[n] = row``;
and a function in a constant of its file (``ROWS.append(p)``)."""

from __future__ import annotations

import re
from collections.abc import Collection

_PUT_BY = re.compile(
    r"(?:\bself\.(?=\w)|(?<![\w.])(?=[A-Z][A-Z0-9_]+\b))(\w+)(?:\[[^\[\]\n]*\])?"
    r"(?:[ \t]*[-+*/]?=(?!=)|\.(?:append|extend|add|insert|appendleft|copy_)\()([^\n]*)"
)
_GOES_OVER = re.compile(r"\bfor[ \t]+(\w+)[ \t]+in[ \t]+([^\n:]+):")
_OWN = re.compile(r"(?:\bself\.(?=\w)|(?<![\w.])(?=[A-Z][A-Z0-9_]+\b))(\w+)\b(?!\()")
_NAME = re.compile(r"\w+")
# What is put by is no half tensor any more, or is no tensor.
_NO_HALF = re.compile(r"\.(?:float|double|item|numpy|cpu|tolist|argmax|long|int|bool|size)\(|[=!<>]=|\blen\(|\.shape\b")
_ASKED_TYPE = re.compile(r"\b(?:isinstance|is_tensor|type)\([ \t]*(\w+)")


def asked_for_type(body: str) -> frozenset[str]:
    """The names of which a function asks the type: they may hold something else than a tensor."""
    return frozenset(_ASKED_TYPE.findall(body))


def own_attributes(body: str) -> frozenset[str]:
    """The attributes of its object that a method names, calls of its methods aside, and the constants of its file."""
    return frozenset(_OWN.findall(body))


def puts_by(body: str, parameters: Collection[str]) -> frozenset[tuple[str, str]]:
    """The attributes that a method puts something by in, with the parameters which that is, or is a row of."""
    rows, asked = dict(_GOES_OVER.findall(body)), asked_for_type(body)
    found = set[tuple[str, str]]()
    for attribute, given in _PUT_BY.findall(body):
        named = [] if _NO_HALF.search(given) else _NAME.findall(given)
        for source in (*named, *(one for name in named for one in _NAME.findall(rows.get(name, "")))):
            if source in parameters and source != "self" and source not in asked:
                found.add((attribute, source))
    return frozenset(found)
