"""What the judge says of two programs: that they are the same, or what differs and on which path."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A question that was answered on the way: line and text of the old program, and the answer; or what happens."""

    line: int
    text: str
    answer: bool = True
    happens: bool = False


@dataclass(frozen=True)
class Difference:
    """What differs on one path. ``line`` is one of the old text."""

    kind: str
    line: int
    message: str
    path: tuple[Note, ...] = ()

    @property
    def said(self) -> str:
        """The path and what differs, as a reader of the old text follows it."""
        steps = [
            f"line {n.line} {n.text}"
            if n.happens
            else f"line {n.line} `{n.text}` {'holds' if n.answer else 'does not hold'}"
            for n in self.path
        ]
        where = f" at line {self.line}" if self.line else ""
        return f"{', '.join(steps)}: {self.message}{where}" if steps else f"{self.message}{where}"


@dataclass(frozen=True)
class Verdict:
    """``differences``: what was found, empty where both programs are equal on every path that was followed;
    ``unknown``: why not all could be followed."""

    differences: tuple[Difference, ...] = ()
    unknown: str | None = None
    pairs: int = 0

    def and_of(self, other: Verdict) -> Verdict:
        """What is said of both, where a program may begin in several ways."""
        differences = tuple(dict.fromkeys((*self.differences, *other.differences)))
        return Verdict(differences, self.unknown or other.unknown, self.pairs + other.pairs)
