"""Lines of a source text as Python counts them, and the lines that must keep their indentation.

``str.splitlines`` also breaks at form feeds, ``\\x85``, ``\\u2028`` and others, which Python's
tokenizer does not: line numbers from `ast` or libcst would then point at the wrong place.
"""

from __future__ import annotations

import re
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

_NEWLINE = re.compile(r"\r\n|\n|\r")
_FORMATTED = re.compile(r"[fFtT][rR]?['\"]")

# FSTRING_* exists from Python 3.12 on, TSTRING_* from 3.14; before, an f-string is one STRING.
_OPENING = frozenset(
    number for number, name in tokenize.tok_name.items() if name in {"FSTRING_START", "TSTRING_START"}
)
_CLOSING = frozenset(
    number for number, name in tokenize.tok_name.items() if name in {"FSTRING_END", "TSTRING_END"}
)


class Untokenizable(ValueError):
    """The text cannot be cut into tokens, so nobody knows which lines lie in strings."""


class Lines:
    """Line numbers (from 1) and character offsets (from 0) of one text.

    A newline belongs to the line that it ends; a text that ends with one has no empty last line,
    and an empty text has no line at all.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0, *(found.end() for found in _NEWLINE.finditer(text))]
        if starts[-1] == len(text):
            starts.pop()
        self._starts = starts

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._starts)

    @cached_property
    def newline(self) -> str:
        """The newline most lines end with (the first of equals), ``\\n`` where there is none."""
        # most_common keeps the order of first meeting among equals
        found = Counter(_NEWLINE.findall(self.text)).most_common(1)
        return found[0][0] if found else "\n"

    @property
    def ends_with_newline(self) -> bool:
        """Whether the last line is ended; true of an empty text, to which whole lines can be added."""
        return not self.text or self.text[-1] in "\r\n"

    def start(self, line: int) -> int:
        """Offset of the first character of a line; of the end of the text for the one past the last."""
        if 1 <= line <= len(self._starts):
            return self._starts[line - 1]
        if line == self.count + 1:
            return len(self.text)
        raise ValueError(f"there is no line {line}: the text has {self.count}")

    def end(self, line: int) -> int:
        """Offset behind a line and its newline."""
        self.start(line)
        return self._starts[line] if line < self.count else len(self.text)

    def raw(self, line: int) -> str:
        """A line with its newline."""
        return self.text[self.start(line) : self.end(line)]

    def content(self, line: int) -> str:
        """A line without its newline."""
        return self.text[self.start(line) : self.content_end(line)]

    def content_end(self, line: int) -> int:
        """Offset of the newline of a line (of the end of the text where it has none)."""
        start, end = self.start(line), self.end(line)
        if self.text.endswith("\r\n", start, end):
            return end - 2
        return end - 1 if self.text.endswith(("\n", "\r"), start, end) else end

    def line_of(self, offset: int) -> int:
        """The line a character stands in.

        The end of the text lies in the last line where that has no newline, else one past it.
        """
        if not 0 <= offset <= len(self.text):
            raise ValueError(f"offset {offset} is outside of the text, which has {len(self.text)} characters")
        if offset == len(self.text) and self.ends_with_newline:
            return self.count + 1
        return bisect_right(self._starts, offset)

    def offset(self, line: int, column: int) -> int:
        """Offset of a position; the column counts characters, not bytes as `ast` does."""
        found = self.start(line) + column
        if column < 0 or found > (self.end(line) if line <= self.count else len(self.text)):
            raise ValueError(f"there is no column {column} in line {line}")
        return found

    def contents(self) -> list[str]:
        """All lines without their newlines."""
        return _NEWLINE.split(self.text)[: self.count]

    def string_lines(self) -> frozenset[int]:
        """The lines that start inside a string literal, an f-string's fields included."""
        return string_lines(self.contents())


def may_span_lines(contents: Sequence[str]) -> bool:
    """Whether a string literal may go over a line's end: one in three quotes, one with a backslash there, or an
    f-string's field where Python allows it. To cut a long text into tokens takes its time."""
    if _OPENING and any(map(_FORMATTED.search, contents)):
        return True
    return any('"""' in line or "'''" in line or line.endswith("\\") for line in contents)


def string_lines(contents: Sequence[str]) -> frozenset[int]:
    """Numbers of the lines (given without newlines) that start inside a string literal.

    Indentation is not looked at, so the lines may stand halfway through a change of it.
    Raises `Untokenizable` where a string or a bracket is not closed.
    """
    inside: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(_in_parentheses(contents).__next__):
            if token.type in _OPENING:
                opened.append(token.start[0])
            elif token.type in _CLOSING:
                inside.update(range(opened.pop() + 1, token.end[0] + 1))
            elif token.type == tokenize.STRING:
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError) as error:
        raise Untokenizable(f"cannot find the strings: {error}") from error
    return frozenset(inside)


def _in_parentheses(contents: Sequence[str]) -> Iterator[str]:
    """The lines inside one pair of parentheses, where the tokenizer has no rules for indentation."""
    for number, content in enumerate(contents):
        yield f"{'' if number else '('}{content}\n"
    yield ")\n" if contents else "()\n"
