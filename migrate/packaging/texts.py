"""Text of any file, to the byte: decoded, cut by position, encoded again."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class Text:
    """A decoded text and what it takes to encode it again."""

    text: str
    encoding: str
    mark: bytes = b""  # the byte order mark

    def encode(self, text: str) -> bytes:
        """The bytes of a new text in place of this one."""
        return self.mark + text.encode(self.encoding)


@dataclass(frozen=True)
class Cut:
    """Characters from ``start`` to ``end`` go."""

    start: int
    end: int


def decode(data: bytes) -> Text | None:
    """The text of some bytes; None for what is no text. What is no UTF-8 is read byte by byte, as Latin-1."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                found = Text(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                return None
            return found if found.encode(found.text) == data else None
    if b"\0" in data:
        return None
    try:
        return Text(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return Text(data.decode("latin-1"), "latin-1")


def lines(text: str) -> list[str]:
    """The lines of a text with their ends, as editors count them."""
    return _LINE.findall(text)


def starts(text: str) -> list[int]:
    """Where each line begins, and behind the last one where the text ends."""
    found = [0]
    for line in lines(text):
        found.append(found[-1] + len(line))
    return found


def whole_lines(text: str, first: int, last: int) -> Cut:
    """Lines ``first`` to ``last`` (counted from 1, both included) go; of blank lines on both sides those above stay."""
    rows = lines(text)
    if first == 1 or not rows[first - 2].strip():
        while last < len(rows) and not rows[last].strip():
            last += 1
    begins = starts(text)
    return Cut(begins[first - 1], begins[last])


def without(text: str, cuts: Iterable[Cut]) -> str:
    """The text that is left; cuts may overlap. Where the last line had no end, the new last one has none."""
    parts: list[str] = []
    at = 0
    for cut in sorted(cuts, key=lambda one: (one.start, one.end)):
        if cut.start > at:
            parts.append(text[at : cut.start])
        at = max(at, cut.end)
    left = "".join([*parts, text[at:]])
    return left if text.endswith(("\n", "\r")) else left.removesuffix("\n").removesuffix("\r")


def comments_above(rows: Sequence[str], first: int, word: re.Pattern[str]) -> int:
    """The line that a removal of line ``first`` begins with: comments right above that speak of it go too."""
    while first > 1 and rows[first - 2].lstrip().startswith("#") and word.search(rows[first - 2]):
        first -= 1
    return first
