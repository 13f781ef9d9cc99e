"""Empty lines around what is written out: where an import went beside it, those of both are left."""

from __future__ import annotations

import re
from collections.abc import Collection

_APART = 2


def spaced(text: str, names: Collection[str]) -> str:
    """A text with no more than two empty lines above and below definitions of these names on its own level."""
    lines = text.splitlines(keepends=True)
    begins = re.compile(rf"(?:class|def) (?:{'|'.join(map(re.escape, sorted(names)))})\b")
    extra: set[int] = set()
    for number in [number for number, line in enumerate(lines) if names and begins.match(line)]:
        first = number - 1 if number and lines[number - 1].startswith("@") else number
        last = number + 1
        while last < len(lines) and (not lines[last].strip() or lines[last][0] in " \t)"):
            last += 1
        for at in (first, last):
            above = at
            while above and not lines[above - 1].strip():
                above -= 1
            extra.update(range(above + _APART, at))
    return "".join(line for number, line in enumerate(lines) if number not in extra)
