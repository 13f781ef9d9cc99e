"""Lists for pip: a requirement a line, which may go on behind a backslash."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lines import spoken
from .mention import About, Mention
from .texts import comments_above, lines, whole_lines
from .words import WORD, requirement

_COMMENT = re.compile(r"\s*#")


def look(text: str) -> list[Mention]:
    """Requirements that are Apex, each with the lines that go, and comments that speak of it."""
    rows = lines(text)
    found: list[Mention] = []
    taken: set[int] = set()
    for first, last in _logical(rows):
        sure = requirement("".join(rows[first - 1 : last]))
        if sure is not None:
            begin = comments_above(rows, first, WORD)
            cut = whole_lines(text, begin, last)
            found.append(Mention(About.REQUIRES, first, last, sure, cut))
            taken.update(range(first, last + 1))
    comments = [row if _COMMENT.match(row) else "\n" for row in rows]
    return found + [one for one in spoken("".join(comments), plain=True) if one.line not in taken]


def _logical(rows: list[str]) -> Iterator[tuple[int, int]]:
    """First and last line of each requirement; comments and blank lines are none."""
    at = 1
    while at <= len(rows):
        first = at
        while rows[at - 1].rstrip("\r\n").endswith("\\") and at < len(rows) and not _COMMENT.match(rows[at - 1]):
            at += 1
        if rows[first - 1].strip() and not _COMMENT.match(rows[first - 1]):
            yield first, at
        at += 1
