"""``pyproject.toml`` and ``Pipfile``: strings in lists, and keys of tables that name what is installed.

A scanner finds the places; whether an edit does what it should is asked of the real parser, with the values before
and after.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .lines import spoken
from .mention import About, Mention
from .texts import Cut, starts, whole_lines, without
from .words import requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\r\n]*) | (?P<string>\"{3}.*?\"{3,5} | '{3}.*?'{3,5} | "(?:\\.|[^"\\\r\n])*" | '[^'\r\n]*')
    | (?P<mark>[\[\]{},=]) | (?P<end>\r\n|\n|\r) | (?P<space>[ \t]+) | (?P<word>[^\s\[\]{},="'\#]+)""",
    re.X | re.S,
)
_TABLES = re.compile(r"(?:.*\.)?(?:(?:dev-)?dependencies|sources)|(?:dev-)?packages")
_LISTS = re.compile(r"dependenc|requires|extras", re.I)
_APEX_KEY = re.compile(r"[\"']?(?:nvidia[-_])?apex[\"']?", re.I)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def look(text: str) -> list[Mention]:
    """Requirements that are Apex, each with what goes."""
    begins = starts(text)
    found: list[Mention] = []
    for cut, sure, at in _places(text):
        line = bisect_right(begins, at)
        found.append(Mention(About.REQUIRES, line, line, sure, cut))
    if found and not _fits(text, found):
        found = [replace(one, cut=None) for one in found]
    taken = {one.line for one in found}
    return found + [one for one in spoken(text) if one.line not in taken]


def _places(text: str) -> Iterator[tuple[Cut | None, bool, int]]:
    tokens = list(_tokens(text))
    table = key = ""
    depth = 0
    for number, token in enumerate(tokens):
        if token.kind == "end" and depth == 0:
            key = ""
        elif token.kind == "mark" and token.text in "[{":
            if depth == 0 and not key and token.text == "[" and _first(tokens, number):
                table = _header(text, token.start)
            depth += 1
        elif token.kind == "mark" and token.text in "]}":
            depth -= 1
        elif depth == 0 and not key and token.kind in ("word", "string"):
            key = token.text
            if _APEX_KEY.fullmatch(key) and _TABLES.fullmatch(table) and _first(tokens, number):
                line = text[token.start :].partition("\n")[0]
                yield _lines_of(text, tokens, number), "nvidia" in line.lower(), token.start
        elif token.kind == "string" and depth and _LISTS.search(f"{table}.{key}"):
            sure = requirement(token.text.strip("\"'"))
            if sure is not None and _in_list(tokens, number):
                yield _element(text, tokens, number), sure, token.start


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text) and (match := _TOKEN.match(text, at)):
        if match.lastgroup != "space":
            yield _Token(match.lastgroup or "", match[0], match.start(), match.end())
        at = match.end()


def _first(tokens: list[_Token], number: int) -> bool:
    """Whether a token begins its line."""
    return number == 0 or tokens[number - 1].kind == "end"


def _header(text: str, start: int) -> str:
    return re.split(r"[\r\n#]", text[start:], maxsplit=1)[0].strip(" \t[]")


def _in_list(tokens: list[_Token], number: int) -> bool:
    """Whether a string is an element of a list: what stands around it, comments and ends of lines left out."""
    around = [_beside(tokens, number, step) for step in (-1, 1)]
    before, behind = ("" if one is None else one.text for one in around)
    return before in ("[", ",") and behind in (",", "]")


def _beside(tokens: list[_Token], number: int, step: int) -> _Token | None:
    number += step
    while 0 <= number < len(tokens):
        if tokens[number].kind not in ("end", "comment"):
            return tokens[number]
        number += step
    return None


def _element(text: str, tokens: list[_Token], number: int) -> Cut:
    token = tokens[number]
    begins = starts(text)
    line = bisect_right(begins, token.start)
    before, behind = _beside(tokens, number, -1), _beside(tokens, number, 1)
    rest = re.fullmatch(r"[ \t]*(,?)[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r)?", text[token.end : begins[line]])
    if not text[begins[line - 1] : token.start].strip() and rest and behind and (rest[1] or behind.text == "]"):
        return Cut(begins[line - 1], begins[line])
    if behind and behind.text == ",":
        end = re.match(r"\s*,[ \t]*", text[token.end :])
        return Cut(token.start, token.end + (end.end() if end else 0))
    if before and before.text == ",":
        return Cut(before.start, token.end)
    return Cut(token.start, token.end)


def _lines_of(text: str, tokens: list[_Token], number: int) -> Cut | None:
    """All lines of a key and its value."""
    depth = 0
    last = tokens[number]
    for token in tokens[number:]:
        if token.kind == "mark":
            depth += (token.text in "[{") - (token.text in "]}")
        if token.kind == "end" and depth == 0:
            break
        last = token
    begins = starts(text)
    return whole_lines(text, bisect_right(begins, tokens[number].start), bisect_right(begins, last.start))


def _fits(text: str, mentions: list[Mention]) -> bool:
    new = without(text, [one.cut for one in mentions if one.cut is not None])
    try:
        return bool(_pruned(tomllib.loads(text), "") == tomllib.loads(new))
    except (ValueError, RecursionError):
        return False


def _pruned(value: Any, name: str) -> Any:
    """The values of a file without what is Apex in lists and tables of what is installed."""
    if isinstance(value, dict):
        tables = _TABLES.fullmatch(name)
        return {
            key: _pruned(one, f"{name}.{key}" if name else key)
            for key, one in value.items()
            if not (tables and _APEX_KEY.fullmatch(key))
        }
    if isinstance(value, list):
        lists = _LISTS.search(name)
        return [
            _pruned(one, name) for one in value if not (lists and isinstance(one, str) and requirement(one) is not None)
        ]
    return value
