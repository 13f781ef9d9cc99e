"""Two texts side by side: rows of old and new lines, with some around each change."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from ... import harmless
from ...textio import Undecodable, decode

_AROUND = 3  # lines


@dataclass(frozen=True)
class Row:
    """A line before and after; None where there is none. A gap stands for lines that are left out."""

    kind: Literal["equal", "change", "gap"]
    old: int | None
    before: str | None
    new: int | None
    after: str | None


def rows_of(old: bytes, new: bytes, keep: set[int]) -> list[Row]:
    """The rows; old lines in ``keep`` are shown also where nothing changes."""
    before, after = _lines(old), _lines(new)
    rows: list[Row] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after).get_opcodes():
        kind: Literal["equal", "change"] = "equal" if tag == "equal" else "change"
        for at in range(max(i2 - i1, j2 - j1)):
            i, j = i1 + at, j1 + at
            rows.append(
                Row(
                    kind,
                    i + 1 if i < i2 else None,
                    before[i] if i < i2 else None,
                    j + 1 if j < j2 else None,
                    after[j] if j < j2 else None,
                )
            )
    return _without_the_rest(rows, keep)


def _without_the_rest(rows: list[Row], keep: set[int]) -> list[Row]:
    shown: set[int] = set()
    for at, row in enumerate(rows):
        if row.kind == "change" or row.old in keep:
            shown.update(range(at - _AROUND, at + _AROUND + 1))
    kept: list[Row] = []
    for at, row in enumerate(rows):
        if at in shown:
            kept.append(row)
        elif not kept or kept[-1].kind != "gap":
            kept.append(Row("gap", None, None, None, None))
    return kept


def _lines(data: bytes) -> list[str]:
    try:
        text = decode(data)[0]
    except Undecodable:
        text = data.decode("latin-1")
    return [harmless.code(line) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
