"""Functions of torch that a file takes by name, by its text: O1 put its casts in the place of torch's, in torch's
modules, and a name that was taken before is torch's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..imports.spelled import Spelled
from ..knowledge.operations import CAST_BY_AUTOCAST

_TORCH = ("torch", "torch.nn.functional")
_VALUE = re.compile(r"\b(?:torch|F|functional)\.(\w+)\b(?![ \t]*[.(\w])")


def taken_by_name(text: str, imports: Spelled) -> Iterator[tuple[str, str]]:
    """By which name, and what torch calls it; no name for one that is put into a table, a default or an attribute."""
    for one in imports.froms:
        for torchs, local in one.names if one.top and one.module in _TORCH else ():
            if torchs in CAST_BY_AUTOCAST:
                yield local or torchs, torchs
    for torchs in _VALUE.findall(text) if "torch" in text else ():
        if torchs in CAST_BY_AUTOCAST:
            yield "", torchs
