"""A program's text with one line a logical line: what is written over several, within brackets or behind a backslash,
stands on one. Comments and texts of three quotes are left out. For patterns that look at lines."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"(?P<long>\"{3}.*?\"{3}|'{3}.*?'{3})|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<comment>\#[^\n]*)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<join>\\\r?\n[ \t]*)|(?P<line>\r?\n[ \t\r\n]*)",
    re.S,
)
# What begins a line and stands in no bracket: there one that was left open (in a text that is no program) ends.
_STATEMENT = re.compile(
    r"(?:def|class|return|import|from|with|while|try|except|finally|raise|assert|del|pass|global|nonlocal)\b|@\w"
)
_PREFIX = re.compile(r"(?<!\w)[rRbBuUfF]{1,2}\Z")
_NO_SPACE = ".)]}"
_MOST = 100
"""Lines that are joined: what is longer is a table, and patterns that go through it once and again would take long."""


def unbroken(text: str) -> str:
    """An expression's text that can stand anywhere: where it goes on over several lines, it may be the brackets around
    it that allowed that. What stands within its own is left as it is."""
    parts: list[str] = []
    at = depth = 0
    for found in _TOKEN.finditer(text):
        kind, (start, end) = found.lastgroup, found.span()
        depth += (kind == "open") - (kind == "close")
        if kind in ("line", "comment") and depth <= 0:
            parts.append(text[at:start].rstrip())
            if kind == "line" and text[end : end + 1] not in _NO_SPACE:
                parts.append(" ")
            at = end
    parts.append(text[at:])
    return "".join(parts)


def logical_lines(text: str) -> str:
    """The text by logical lines."""
    parts: list[str] = []
    at = depth = lines = 0
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "open":
            depth += 1
            lines = 0 if depth == 1 else lines
        elif kind == "close":
            depth -= depth > 0
        elif kind != "text":
            start, end = found.span()
            if kind == "line":
                lines += 1
                if not depth or lines > _MOST:
                    continue
                if _STATEMENT.match(text, end):
                    depth = 0
                    continue
            if kind == "long" and (prefix := _PREFIX.search(text[max(at, start - 3) : start])):
                start -= len(prefix[0])
            parts.append(text[at:start])
            at = end
            if kind in ("line", "join") and text[end : end + 1] not in _NO_SPACE:
                parts.append(" ")
    parts.append(text[at:])
    return "".join(parts)
