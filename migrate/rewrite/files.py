"""Edits of a program as edits of its files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..facts.files import File, file_at
from ..model import DeleteLines, Edit, InsertLines, Reindent, Replace


def by_file(files: Sequence[File], edits: Iterable[Edit]) -> list[list[Edit]]:
    """The edits of each file, in the order given, by positions in its own text.

    What goes in behind a file's last line stands at the fence, which is its own."""
    found: list[list[Edit]] = [[] for _ in files]
    for edit in edits:
        file = _file(files, edit)
        found[file.number].append(_within(file, edit))
    return found


def _file(files: Sequence[File], edit: Edit) -> File:
    match edit:
        case Replace(start=start):
            return next(f for f in reversed(files) if f.start <= start or f.number == 0)
        case DeleteLines(first=line) | Reindent(first=line) | InsertLines(before=line):
            return file_at(files, line)


def _within(file: File, edit: Edit) -> Edit:
    lines = file.first - 1
    match edit:
        case Replace(start=start, end=end):
            return replace(edit, start=start - file.start, end=end - file.start)
        case DeleteLines(first=first, last=last) | Reindent(first=first, last=last):
            return replace(edit, first=first - lines, last=last - lines)
        case InsertLines(before=before):
            return replace(edit, before=before - lines)
