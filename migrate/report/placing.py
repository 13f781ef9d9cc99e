"""What is said of a program, file by file: in the lines of each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..facts.files import File, file_at
from ..model import Change, Finding, UnitSummary

_LINE = re.compile(r"`[^`]*`|\bline (\d+)\b")  # what stands in backquotes is the user's own


@dataclass(frozen=True)
class Told:
    """What is said of one file."""

    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]
    units: tuple[UnitSummary, ...]


def told(
    files: Sequence[File],
    names: Sequence[str],
    changes: Iterable[Change],
    findings: Iterable[Finding],
    units: Sequence[UnitSummary],
) -> list[Told]:
    """Changes, findings and units of each file, whose lines so far count through all of them.

    A unit belongs to the file that it begins in; places of a finding in other files are findings there."""
    by_file: list[list[Finding]] = [[] for _ in files]
    for finding in findings:
        for number, part in _parts(files, finding):
            by_file[number].append(_local(files, names, number, part))
    found: list[list[Change]] = [[] for _ in files]
    for change in changes:
        file = file_at(files, change.line)
        less = file.first - 1
        message = _said(files, names, file.number, change.message)
        found[file.number].append(
            replace(change, line=change.line - less, end_line=change.end_line - less, message=message)
        )
    own: list[list[UnitSummary]] = [[] for _ in files]
    for unit in units:
        file = file_at(files, unit.line)
        own[file.number].append(replace(unit, line=unit.line - file.first + 1))
    return [
        Told(
            tuple(sorted(found[file.number], key=lambda c: (c.line, c.end_line, c.rule, c.unit or 0, c.message))),
            tuple(sorted(merged(by_file[file.number]), key=lambda f: (f.line, f.rule, f.message))),
            tuple(own[file.number]),
        )
        for file in files
    ]


def _parts(files: Sequence[File], finding: Finding) -> list[tuple[int, Finding]]:
    """A finding for each file that one of its places lies in."""
    home = file_at(files, finding.line)
    if len(files) == 1:
        return [(home.number, finding)]
    places: dict[int, list[int]] = defaultdict(list)
    for line in finding.lines:
        places[file_at(files, line).number].append(line)
    parts = [(home.number, replace(finding, lines=tuple(places.pop(home.number, ()))))]
    for number, lines in sorted(places.items()):
        # the same unit, seen from another of its files
        message = finding.message if finding.unit is None else f"line {finding.line}: {finding.message}"
        first, *more = lines
        part = replace(finding, line=first, end_line=first, lines=tuple(more), message=message)
        parts.append((number, part))
    return parts


def _local(files: Sequence[File], names: Sequence[str], number: int, finding: Finding) -> Finding:
    less = files[number].first - 1
    suggestion = finding.suggestion
    return replace(
        finding,
        line=finding.line - less,
        end_line=finding.end_line - less,
        lines=tuple(line - less for line in finding.lines),
        message=_said(files, names, number, finding.message),
        suggestion=suggestion if suggestion is None else _said(files, names, number, suggestion),
    )


def _said(files: Sequence[File], names: Sequence[str], number: int, text: str) -> str:
    """A text with the lines that it names as a reader of one file finds them."""
    if len(files) == 1:
        return text

    def local(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        line = int(match[1])
        file = file_at(files, line)
        own = f"line {line - file.first + 1}"
        return own if file.number == number else f"{names[file.number]}, {own}"

    return _LINE.sub(local, text)


def merged(findings: list[Finding]) -> list[Finding]:
    """Findings with the same words about the same unit become one with several lines."""
    grouped: dict[tuple[str, str, int | None, str | None], list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[(finding.rule, finding.message, finding.unit, finding.suggestion)].append(finding)
    out = []
    for same in grouped.values():
        same.sort(key=lambda f: f.line)
        first = same[0]
        more = {n for f in same for n in (f.lines if f is first else (*range(f.line, f.end_line + 1), *f.lines))}
        more -= set(range(first.line, first.end_line + 1))
        out.append(replace(first, lines=tuple(sorted(more))))
    return out
