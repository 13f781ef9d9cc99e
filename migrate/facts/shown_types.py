"""Of what a function of another file shows the type, by its text: ``print("features", out.dtype)``."""

from __future__ import annotations

import re

_SHOWS = re.compile(r"\bprint\(|\blog\w*\.|\blogger\b|\bf[\"']|\bstr\(|\brepr\(|\.format\(|\.write\(")
_OF = re.compile(r"(?<![\w.])(\w+)(?:\[[^\[\]\n]*\]|\.detach\(\)|\.data)*\.(?:dtype\b|type\(\))")
_KEPT = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(\w+)\.(?:dtype\b|type\(\))[ \t]*(?:#.*)?$", re.M)


def types_shown(body: str) -> frozenset[str]:
    """The names whose types a function prints, writes or makes a text of."""
    if ".dtype" not in body and ".type()" not in body:
        return frozenset()
    kept: dict[str, str] = dict(_KEPT.findall(body))
    lines = [line for line in body.splitlines() if _SHOWS.search(line)]
    found = {name for line in lines for name in _OF.findall(line)}
    named = {of for name, of in kept.items() if any(re.search(rf"\b{name}\b", line) for line in lines)}
    return frozenset(found | named)
