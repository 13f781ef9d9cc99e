"""Names by pattern: plain words in which ``*`` stands for any text and ``?`` for any character."""

from __future__ import annotations

import re


class Patterns:
    """A set of patterns, separated by blanks. Upper and lower case are the same unless ``exact``.

    What one of ``but`` fits, the set does not."""

    def __init__(self, *patterns: str, but: str = "", exact: bool = False) -> None:
        self.patterns = tuple(word for text in patterns for word in text.split())
        self._but = Patterns(but, exact=exact) if but else None
        self._found = re.compile("|".join(map(_regex, self.patterns)), re.S if exact else re.S | re.I).search

    def fit(self, name: str) -> bool:
        """Whether one of the patterns is all of ``name``."""
        return self._found(name) is not None and not (self._but is not None and self._but.fit(name))


def _regex(pattern: str) -> str:
    """One pattern; a ``*`` at an end leaves that end open, which is faster than to look for any text there."""
    start = "" if pattern.startswith("*") else r"\A"
    end = "" if pattern.endswith("*") else r"\Z"
    inner = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern.strip("*"))
    return start + inner + end


def parts(name: str) -> frozenset[str]:
    """The words of a name that underscores separate."""
    return frozenset(name.split("_"))
