"""The code cells of a notebook and where their sources stand in its JSON, so that nothing else of it is touched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]

_BLANK = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false|null|NaN|-?Infinity")


class NotebookError(ValueError):
    """A file that is no notebook of format 4."""


@dataclass(frozen=True)
class Cell:
    """One code cell. ``index`` counts all cells of the notebook from 0; ``start`` and ``end`` are where the value of
    its ``source`` stands; ``lines`` are the strings of that value as they are written, with what they mean."""

    index: int
    start: int
    end: int
    source: str
    lines: tuple[tuple[str, str], ...]


def code_cells(text: str) -> list[Cell]:
    """All code cells of a notebook's JSON, in order."""
    try:
        known = json.loads(text)["cells"]
        coded = [at for at, cell in enumerate(known) if cell["cell_type"] == "code" and _has_source(cell)]
        spans = dict(_spans(text, _skip(text, 0), ()))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise NotebookError("this is no notebook of format 4") from error
    found = []
    for index in coded:
        start, end = spans["cells", index, "source"]
        lines = tuple(_strings(text, start, end))
        found.append(Cell(index, start, end, "".join(value for _, value in lines), lines))
    return found


def _has_source(cell: Mapping[str, object]) -> bool:
    """Whether a cell has a source, which is a string or a list of strings."""
    source = cell.get("source", [])
    if not isinstance(source, (str, list)) or not all(isinstance(line, str) for line in source):
        raise ValueError("a source that is none")
    return "source" in cell


def with_sources(text: str, cells: list[Cell], sources: Mapping[int, str]) -> str:
    """The notebook's JSON with new sources for some cells (by their index); the rest stays as it is written."""
    for cell in reversed(cells):
        if cell.index in sources and sources[cell.index] != cell.source:
            new = _written(text[cell.start : cell.end], cell, sources[cell.index], text.isascii())
            text = text[: cell.start] + new + text[cell.end :]
    return text


def _written(old: str, cell: Cell, source: str, ascii_only: bool) -> str:
    """A source in the manner in which the old one is written: a string, or a list with a string for each line."""

    def dumped(value: str) -> str:
        return next((raw for raw, meant in cell.lines if meant == value), json.dumps(value, ensure_ascii=ascii_only))

    if old.startswith('"'):
        return dumped(source)
    lines = [dumped(line) for line in source.splitlines(keepends=True)]
    if not cell.lines or not lines:
        return f"[{', '.join(lines)}]"
    first, last = old.index('"'), old.rindex('"') + 1
    head, tail = old[1:first], old[last:-1]
    return f"[{head}{f',{head or chr(32)}'.join(lines)}{tail}]"


def _strings(text: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    """The strings that stand in a value, as they are written and as they are meant."""
    at = start
    while at < end:
        if text[at] == '"':
            value, behind = scanstring(text, at + 1, False)
            yield text[at:behind], value
            at = behind
        else:
            at += 1


def _spans(
    text: str, at: int, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], tuple[int, int]]]:
    """The value that begins at an offset and all within it that may hold a cell's source, with their paths."""
    end = at
    if text[at] in "{[":
        inner, end = _members(text, at, path)
        for step, start in inner:
            if len(path) < 3:
                yield from _spans(text, start, (*path, step))
    else:
        end = _end(text, at)
    yield path, (at, end)


def _members(text: str, at: int, path: tuple[str | int, ...]) -> tuple[list[tuple[str | int, int]], int]:
    """Where the members of an object or an array begin, by key or number; and where it ends."""
    closing = "}" if text[at] == "{" else "]"
    found: list[tuple[str | int, int]] = []
    at = _skip(text, at + 1)
    while text[at] != closing:
        step: str | int = len(found)
        if closing == "}":
            step, at = scanstring(text, at + 1, False)
            at = _skip(text, _skip(text, at) + 1)
        found.append((step, at))
        at = _skip(text, _end(text, at))
        at = _skip(text, at + 1) if text[at] == "," else at
    return found, at + 1


def _end(text: str, at: int) -> int:
    """Where the value that begins at an offset ends."""
    if text[at] == '"':
        behind: int = scanstring(text, at + 1, False)[1]
        return behind
    if text[at] in "{[":
        depth = 0
        while True:
            if text[at] == '"':
                at = scanstring(text, at + 1, False)[1]
                continue
            depth += (text[at] in "{[") - (text[at] in "}]")
            at += 1
            if depth == 0:
                return at
    plain = _PLAIN.match(text, at)
    if plain is None:
        raise ValueError("no value")
    return plain.end()


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    assert blank is not None
    return blank.end()
