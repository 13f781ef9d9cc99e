"""Which characters of an outcome stood where in the text it was made from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Run:
    """``length`` characters from ``new`` on are those from ``old`` on."""

    new: int
    old: int
    length: int


def common_words(old: str, new: str) -> list[Run]:
    """The words that a replaced piece of text and its replacement share, in order; offsets are within the pieces."""
    before = [(m.group(), m.start()) for m in _WORD.finditer(old)]
    after = [(m.group(), m.start()) for m in _WORD.finditer(new)]
    matcher = SequenceMatcher(None, [w for w, _ in before], [w for w, _ in after], autojunk=False)
    return [
        Run(after[block.b + i][1], before[block.a + i][1], len(before[block.a + i][0]))
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    ]
