"""The page: what is open first, then the diffs. jinja2 escapes everything; nothing is loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from ... import __version__, explain, harmless
from ...errors import UserError
from ...model import Applicability, Change, Finding, Severity
from ..given import Given, places
from .sides import Row, rows_of

_ORDER = (Severity.MANUAL, Severity.REVIEW, Severity.INFO)
_OPEN_FILES = 8  # of more files the diffs are folded


@dataclass(frozen=True)
class Site:
    """One thing to look at, with a box to tick. ``key`` is made of its content, so that a tick outlives a new run."""

    key: str
    rule: str
    title: str
    kind: str  # manual, review, info; of a change: safe or review
    path: str
    where: str
    anchor: str | None
    message: str
    suggestion: str | None


@dataclass(frozen=True)
class Note:
    """What is said beside a line of a diff."""

    site: Site
    line: int


@dataclass(frozen=True)
class FileView:
    """A changed file."""

    number: int
    path: str
    rows: tuple[tuple[Row, tuple[Site, ...]], ...]
    sites: int


def require() -> None:
    """Raise UserError where jinja2 is missing: before any work is done."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise UserError(
            "the format html needs jinja2, which comes with the extra report: pip install '.[report]' in a clone."
        ) from None


def render(given: Given) -> Iterator[bytes]:
    """The page as UTF-8, in parts."""
    import jinja2

    folder = resources.files(__package__)
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    script = folder.joinpath("script.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(folder.joinpath("page.html.jinja").read_text(encoding="utf-8"))
    parts = template.generate(
        **_view(given), style=style, script=script, style_hash=_hash(style), script_hash=_hash(script)
    )
    for part in parts:
        yield part.encode("utf-8", "backslashreplace")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _view(given: Given) -> dict[str, Any]:
    outcome = given.outcome
    titles = dict(_titles())
    numbers = {one.result.path: number for number, one in enumerate(outcome.changed, 1)}
    findings: list[Site] = []
    by_file: dict[str, list[Note]] = {}
    for file in outcome.results:
        for finding in file.findings:
            site = _finding(given, file.path, finding, titles, numbers.get(file.path))
            findings.append(site)
            by_file.setdefault(file.path, []).append(Note(site, finding.line))
    findings.sort(key=lambda one: [each.value for each in _ORDER].index(one.kind))
    units = Counter(unit.applicability for file in outcome.results for unit in file.units)
    return {
        "version": __version__,
        "written": given.written,
        "scanned": outcome.scanned,
        "changed": len(outcome.changed),
        "units": [(units[one], one.value) for one in Applicability],
        "counts": [(sum(one.kind == each.value for one in findings), each.value) for each in _ORDER],
        "findings": findings,
        "files": _files(given, titles, by_file, numbers),
        "rules": _pages(given),
        "fold": len(outcome.changed) > _OPEN_FILES,
    }


def _titles() -> Iterator[tuple[str, str]]:
    for page in explain.pages():
        yield page.id, page.title
        yield from page.notes.items()


def _pages(given: Given) -> list[tuple[str, str, str]]:
    """Number, title and page of each rule that the report names."""
    used = {change.rule for file in given.outcome.results for change in file.changes}
    used |= {finding.rule for file in given.outcome.results for finding in file.findings}
    known = explain.pages()
    names = {page.id for page in known}.union(*(page.notes for page in known))
    titles = dict(_titles())
    return [(rule, titles.get(rule, ""), explain.page_text(rule, known)) for rule in sorted(used & names)]


def _finding(given: Given, path: str, finding: Finding, titles: Mapping[str, str], file: int | None) -> Site:
    lines = places(finding)
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    return Site(
        _key(finding.rule, path, lines, finding.message),
        finding.rule,
        titles.get(finding.rule, ""),
        finding.severity.value,
        harmless.line(given.path(path)),
        where if finding.cell is None else f"cell {finding.cell}, {where}",
        f"f{file}L{finding.line}" if file is not None and finding.cell is None else None,
        harmless.line(finding.message),
        None if finding.suggestion is None else harmless.paragraphs(finding.suggestion),
    )


def _change(given: Given, path: str, change: Change, titles: Mapping[str, str]) -> Site:
    return Site(
        _key(change.rule, path, [change.line, change.end_line], change.message),
        change.rule,
        titles.get(change.rule, ""),
        change.applicability.value,
        harmless.line(given.path(path)),
        f"line {change.line}" if change.cell is None else f"cell {change.cell}, line {change.line}",
        None,
        harmless.line(change.message),
        None,
    )


def _key(rule: str, path: str, lines: list[int], message: str) -> str:
    said = "\0".join((rule, path, ",".join(map(str, lines)), message))
    return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:20]


def _files(
    given: Given, titles: Mapping[str, str], by_file: Mapping[str, list[Note]], numbers: Mapping[str, int]
) -> Iterator[FileView]:
    for one in given.outcome.changed:
        texts = given.texts(one)
        if texts is None:
            continue
        path = one.result.path
        notes = [Note(_change(given, path, change, titles), change.line) for change in one.result.changes]
        cells = any(change.cell is not None for change in one.result.changes)
        notes += by_file.get(path, [])
        rows = rows_of(*texts, keep=set() if cells else {note.line for note in notes})
        yield FileView(
            numbers[path],
            harmless.line(given.path(path)),
            tuple(_beside(rows, [] if cells else notes)) if not cells else tuple(_all_first(rows, notes)),
            len(one.result.changes),
        )


def _beside(rows: list[Row], notes: list[Note]) -> Iterator[tuple[Row, tuple[Site, ...]]]:
    """Each row with what is said of its old line."""
    left = sorted(notes, key=lambda note: note.line)
    for row in rows:
        here = [note.site for note in left if row.old is not None and note.line == row.old]
        yield row, tuple(dict.fromkeys(here))


def _all_first(rows: list[Row], notes: list[Note]) -> Iterator[tuple[Row, tuple[Site, ...]]]:
    """A notebook's lines are those of its cells: everything is said above its diff."""
    for at, row in enumerate(rows):
        yield row, tuple(note.site for note in notes) if at == 0 else ()
