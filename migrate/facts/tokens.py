"""The tokens of a text, as several rules read comments and strings of the same one."""

from __future__ import annotations

import contextlib
import io
import tokenize
from functools import lru_cache


@lru_cache(4)  # the second look at a file reads what the first one has written
def tokens(text: str) -> tuple[tokenize.TokenInfo, ...]:
    """Those up to where `tokenize` cannot go on, though `ast` reads it: form feeds, odd endings."""
    found: list[tokenize.TokenInfo] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        found += tokenize.generate_tokens(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n")).readline)
    return tuple(found)
