"""One colour, marker and line style for each arm, the same in every figure and in the report.

The colours are those of Okabe and Ito, which the common kinds of colour blindness keep apart, and a
grey (https://jfly.uni-koeln.de/color/). Markers and line styles say the same without colour.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Literal

Dashes = tuple[float, tuple[float, ...]] | Literal["-"]


@dataclass(frozen=True)
class Look:
    colour: str
    marker: str
    dashes: Dashes
    faint: bool = False
    """Whether the colour is too light for a line on white, so that it is drawn with a dark edge."""


_LOOKS = {
    "fp32": Look("#1A1A1A", "o", "-"),
    "tf32": Look("#7F7F7F", "s", (0.0, (7.0, 1.5, 1.5, 1.5))),
    "apex-o1": Look("#D55E00", "^", (0.0, (6.0, 2.0))),
    "apex-o2": Look("#E69F00", "v", (0.0, (4.0, 1.5, 1.0, 1.5, 1.0, 1.5))),
    "native-fp16": Look("#0072B2", "D", (0.0, (2.5, 1.2))),
    "native-bf16": Look("#56B4E9", "P", (0.0, (5.0, 1.2, 1.2, 1.2))),
    "native-fp16-channels-last": Look("#009E73", "X", (0.0, (1.2, 1.2))),
    "native-fp16-compile": Look("#F0E442", "p", "-", faint=True),
    "native-best": Look("#CC79A7", "*", (0.0, (9.0, 2.0))),
}


def look(arm: str) -> Look:
    """How an arm is drawn. An arm this table does not name gets a look that depends on its name alone."""
    known = _LOOKS.get(arm)
    if known is not None:
        return known
    spare = [entry for name, entry in _LOOKS.items() if name != "fp32"]
    return spare[zlib.crc32(arm.encode("utf-8")) % len(spare)]
