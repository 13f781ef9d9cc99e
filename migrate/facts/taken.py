"""Functions of torch that a file takes by name, by its text: O1 put its casts in the place of torch's, in torch's
modules, and a name that was taken before is torch's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..knowledge.operations import CAST_BY_AUTOCAST

_FROM = re.compile(r"^from[ \t]+torch(?:\.nn\.functional)?[ \t]+import[ \t]+(\([^()]*\)|[^\n]*)", re.M)
_VALUE = re.compile(r"\b(?:torch|F|functional)\.(\w+)\b(?![ \t]*[.(\w])")


def taken_by_name(text: str) -> Iterator[tuple[str, str]]:
    """By which name, and what torch calls it; no name for one that is put into a table, a default or an attribute."""
    for names in _FROM.findall(text):
        for one in names.strip("()").split(","):
            torchs, _, local = (part.strip(" \t\r\n\\") for part in one.partition(" as "))
            if torchs in CAST_BY_AUTOCAST:
                yield local or torchs, torchs
    for torchs in _VALUE.findall(text) if "torch" in text else ():
        if torchs in CAST_BY_AUTOCAST:
            yield "", torchs
