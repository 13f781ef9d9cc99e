"""Which characters of an outcome stood where in the text it was made from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
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


def through(later: Sequence[Run], earlier: Sequence[Run]) -> list[Run]:
    """Where the characters of a text that was edited twice stood at first; the runs of both edits in order."""
    earlier = sorted(earlier, key=lambda run: run.new)
    starts = [run.new for run in earlier]
    found: list[Run] = []
    for run in later:
        for one in earlier[max(0, bisect_right(starts, run.old) - 1) :]:
            if one.new >= run.old + run.length:
                break
            first, last = max(one.new, run.old), min(one.new + one.length, run.old + run.length)
            if first < last:
                found.append(Run(run.new + first - run.old, one.old + first - one.new, last - first))
    return found
