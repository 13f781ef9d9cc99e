"""What a report is made of: plain text in a few shapes, which the templates turn into HTML and Markdown.

Nothing here is marked up. The templates escape every string, so that a reason or a source text that
holds HTML is shown as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .. import format as fmt
from ..results import Interval, Results

Tone = Literal["", "good", "bad", "open", "quiet"]


@dataclass(frozen=True)
class Cell:
    text: str
    sub: str = ""
    """A second, smaller line: an interval."""
    tone: Tone = ""
    arm: str = ""
    """The arm whose colour stands beside the text."""
    number: bool = False
    """Whether it stands right, as numbers do."""


@dataclass(frozen=True)
class Table:
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    kind: Literal["table"] = "table"

    @property
    def numbers(self) -> tuple[bool, ...]:
        """Which columns hold numbers."""
        columns = range(len(self.head))
        return tuple(any(row[column].number for row in self.rows) for column in columns)


@dataclass(frozen=True)
class Text:
    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Items:
    items: tuple[str, ...]
    tone: Tone = ""
    kind: Literal["items"] = "items"


@dataclass(frozen=True)
class Code:
    """A text of code, folded away behind its title."""

    title: str
    code: str
    folded: bool = True
    kind: Literal["code"] = "code"


@dataclass(frozen=True)
class Image:
    """A figure: `name` is that of its files, `data` the SVG as a data URI."""

    name: str
    alt: str
    reading: str
    data: str
    width: int
    height: int
    kind: Literal["image"] = "image"


Block = Table | Text | Items | Code | Image


@dataclass(frozen=True)
class Section:
    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    title: str
    about: str
    """Machine, workload and time, in a line."""
    facts: str
    """Versions, clocks and how long it took, in a line."""
    headline: str
    banner: str
    """What a smoke run shows and does not show; empty for any other."""
    smoke: bool
    complete: bool
    overview: Table
    legend: str
    """What the columns of the overview are."""
    sections: tuple[Section, ...]


def number(text: str, sub: str = "", tone: Tone = "") -> Cell:
    """A cell that stands right."""
    return Cell(text, sub, tone, number=True)


def table(head: tuple[str, ...], rows: Sequence[tuple[Cell, ...]], caption: str = "") -> list[Block]:
    """The table, or nothing if it has no rows."""
    return [Table(head, tuple(rows), caption)] if rows else []


def section(id: str, title: str, blocks: list[Block], nothing: str) -> Section:
    """A section of these blocks, or of a sentence where there are none."""
    return Section(id, title, tuple(blocks or [Text(nothing)]))


def ratio_cell(ratio: Interval | None) -> Cell:
    """A ratio with its interval."""
    if ratio is None:
        return number(fmt.NONE)
    return number(fmt.ratio(ratio.value, 3), fmt.spread(ratio, lambda value: fmt.ratio(value, 3)[:-1]))


def difference(results: Results, ratio: Interval | None, differs: bool | None) -> str:
    """Whether two speeds are told apart, or why that is not judged."""
    if differs is not None:
        return "different" if differs else "not told apart"
    if ratio is None:
        return fmt.NONE
    if results.smoke:
        return "not judged: smoke run"
    return "not judged: the A/A control failed" if ratio.low is not None else "no interval to judge by"


def no_difference(results: Results, ratio: Interval | None, differs: bool | None) -> str:
    """The same beside a ratio, of which it says what the ratio does not: nothing where it is a difference, or stands
    without an interval."""
    silent = differs or results.smoke or ratio is None or ratio.low is None
    return "" if silent else difference(results, ratio, differs)
