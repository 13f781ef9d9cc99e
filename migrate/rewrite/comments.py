"""The comment lines around a statement that belong to it."""

from __future__ import annotations

import ast
import re

from ..facts.module import Module

ABOUT_AMP = re.compile(
    r"\bapex\b|\bamp\b|\bfp16\b|mixed.precision|half.precision|loss.scal|scaling\b.*\bloss|\bopt_level\b", re.I
)
_CODE = re.compile(r"[()=\[\]]")
_WORDS = re.compile(r"\s*# ?[A-Z]\w* \w")


def comments_until(m: Module, stmt: ast.stmt) -> int:
    """The last of the comment lines that end the last block of a statement; its own last line where there are
    none."""
    last = m.last_line(stmt)
    if not isinstance(stmt, (ast.Try, ast.If, ast.With)):
        return last
    inside = re.compile(rf"{re.escape(m.indent(stmt))}\s+#")
    while last < len(m.starts) and inside.match(m.line_text(last + 1)):
        last += 1
    return last


def comments_from(m: Module, stmt: ast.stmt) -> int:
    """The first of the comment lines right above a statement; its own first line where there are none."""
    start = m.first_line(stmt)
    while start > 1 and _comment(m, start - 1, m.indent(stmt)):
        start -= 1
    return start


def _comment(m: Module, number: int, indent: str) -> bool:
    """Whether a line is a comment that belongs to a block with this indentation, and no heading. Without a blank
    it may be code that was switched off: it has to say that it is about mixed precision."""
    text = m.line_text(number)
    if not text.startswith(f"{indent}#") or not any(c.isalpha() for c in text):
        return False
    sign = text[len(indent) + 1]
    return sign == " " or (sign.isalpha() and ABOUT_AMP.search(text) is not None)


def with_comments(m: Module, last: ast.stmt, indent: str) -> int:
    """The last line of a block that ends with ``last``: comments that stand deeper than it belong to it."""
    line = end = m.last_line(last)
    while line < len(m.starts):
        line += 1
        text = m.line_text(line)
        if text.strip() and not (text.lstrip().startswith("#") and len(text) - len(text.lstrip()) > len(indent)):
            break
        if text.strip():
            if not text.startswith(indent):
                break
            end = line
    return end


def leading(m: Module, last: ast.stmt, end: int) -> int | None:
    """The first of the comment lines behind a block, up to ``end``, where they are about what follows it: a blank line
    is before them, and they say something, in words, that is not about mixed precision."""
    lines = [m.line_text(number) for number in range(m.last_line(last) + 1, end + 1)]
    if not lines or lines[0].strip() or any(ABOUT_AMP.search(line) or _CODE.search(line) for line in lines):
        return None
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    apart = any(not line.strip() or not line.startswith(m.indent(last)) for line in lines[first:])
    return None if apart or not _WORDS.match(lines[first]) else m.last_line(last) + 1 + first
