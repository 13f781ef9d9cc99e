"""What becomes of one notebook: its code is migrated as one program, and written back cell by cell."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..facts.mentions import mentions
from ..model import UNSETTLED, Change, Finding, ModuleResult, Outside, Settings, Severity, Standing
from .cells import Cell, code_cells, with_sources
from .joined import Joined, join, split

_LINE = re.compile(r"`[^`]*`|\bline (\d+)\b")  # what stands in backquotes is the user's own
_WORD = re.compile(r"\bapex\b")
_SHELL = "these lines are for the shell or another language, and speak of Apex"
_USES = re.compile(
    r"\bscale_loss\b|\bamp\s*\.\s*(?:initialize|master_params|(?:load_)?state_dict)\b|\b(?:from|import)\s+apex\b"
)
_UNREAD = "this uses Apex and is not read as Python, as its cell does not parse or IPython runs the line"
_BESIDE = "left as it is: other lines of this notebook that use Apex could not be read"
_IMPORTS = ("APX010", "APX011")
_SPANS = "what would be written reaches from one cell into the next, so the notebook stays as it is"

Engine = Callable[[str, Settings, Outside, Standing], ModuleResult]


def migrate_notebook(
    text: str, settings: Settings, outside: Outside, engine: Engine, standing: Standing = UNSETTLED
) -> ModuleResult:
    """Migrate a notebook's JSON; changes and findings say the cell and the line in it.

    Raises NotebookError where it is none."""
    cells = code_cells(text)
    joined = join(cells)
    if unread := _unread(cells, joined):
        return ModuleResult(None, findings=(*unread, *_beside(cells, joined)))
    result = engine(joined.text, settings, outside, standing) if joined.indexes else ModuleResult(None)
    changes = tuple(_placed(joined, one) for one in result.changes)
    findings = tuple(part for one in result.findings for part in _parts(joined, one))
    findings = (*findings, *_beside(cells, joined))
    placed = replace(
        result,
        new_text=None,
        changes=changes,
        findings=findings,
        origin=(),
        needs=None,
    )
    if result.new_text is None:
        return placed
    if all(change.rule in _IMPORTS for change in changes):  # a cell that only shows that Apex is there
        return replace(placed, changes=(), findings=(*findings, *_shown(changes)))
    sources = split(result.new_text, joined)
    if sources is None:
        first = min((one.line for one in result.changes), default=1)
        cell, line = joined.place(first)
        stays = Finding("APX091", Severity.MANUAL, line, line, _SPANS, cell=cell)
        return replace(placed, changes=(), units=(), findings=(*findings, stays))
    new = with_sources(text, cells, sources)
    _check(text, new, sources)
    return replace(placed, new_text=new)


def _unread(cells: list[Cell], joined: Joined) -> list[Finding]:
    """Where Apex is used in what is Python and could not be read: then all of its uses stay."""
    found = []
    for cell in cells:
        told = [n for n, line in enumerate(cell.source.split("\n"), 1) if _used(joined, cell, line)]
        if told:
            advice = "Mend the cell, take the command (%time) off, or run with the Python version it is written for."
            found.append(_told(_UNREAD, told, cell.index, advice))
    lines = mentions(joined.text) if found else ()
    return [*found, *(_parts(joined, _told(_BESIDE, lines)) if lines else [])]


def _used(joined: Joined, cell: Cell, line: str) -> bool:
    return _USES.search(line) is not None and joined.unread(cell.index, line)


def _told(said: str, lines: Sequence[int], cell: int | None = None, advice: str | None = None) -> Finding:
    first, *more = lines
    return Finding("APX001", Severity.MANUAL, first, first, said, suggestion=advice, lines=tuple(more), cell=cell)


def _beside(cells: list[Cell], joined: Joined) -> list[Finding]:
    """A finding for each cell that speaks of Apex on lines for the shell, or that is no Python."""
    found = []
    for cell in cells:
        lines = cell.source.split("\n")
        held = [(n, line) for n, line in enumerate(lines, 1) if joined.holds(cell.index, line)]
        told = [n for n, line in held if _WORD.search(line) and not _used(joined, cell, line)]
        if told:
            first, *more = told
            found.append(Finding("APX093", Severity.INFO, first, first, _SHELL, lines=tuple(more), cell=cell.index))
    return found


def _shown(changes: tuple[Change, ...]) -> list[Finding]:
    """Imports of Apex that nothing in the notebook uses."""
    said = "apex is imported here and nothing of it is used"
    return [Finding("APX090", Severity.INFO, c.line, c.end_line, said, cell=c.cell) for c in changes]


def _check(old: str, new: str, sources: dict[int, str]) -> None:
    """Nothing but sources of cells has changed."""
    before, after = json.loads(old), json.loads(new)
    for index, source in sources.items():
        if "".join(after["cells"][index]["source"]) != source:
            raise AssertionError(f"cell {index} is not what was to be written")
        after["cells"][index]["source"] = before["cells"][index]["source"]
    if before != after:
        raise AssertionError("more than the sources of cells has changed")


def _placed(joined: Joined, change: Change) -> Change:
    cell, line = joined.place(change.line)
    last, end = joined.place(change.end_line)
    return replace(
        change, cell=cell, line=line, end_line=end if last == cell else line, message=_said(joined, change.message)
    )


def _parts(joined: Joined, finding: Finding) -> list[Finding]:
    """A finding for each cell that one of its places lies in."""
    cell, line = joined.place(finding.line)
    last, end = joined.place(finding.end_line)
    lines: dict[int, list[int]] = defaultdict(list)
    for one in finding.lines:
        where, number = joined.place(one)
        lines[where].append(number)
    said = replace(
        finding,
        message=_said(joined, finding.message),
        suggestion=None if finding.suggestion is None else _said(joined, finding.suggestion),
    )
    first = replace(
        said, cell=cell, line=line, end_line=end if last == cell else line, lines=tuple(lines.pop(cell, ()))
    )
    more = [
        replace(said, cell=where, line=numbers[0], end_line=numbers[0], lines=tuple(numbers[1:]))
        for where, numbers in lines.items()
    ]
    return [first, *more]


def _said(joined: Joined, text: str) -> str:
    """A text with the lines that it names as a reader of the notebook finds them."""

    def local(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        cell, line = joined.place(int(match[1]))
        return f"cell {cell}, line {line}"

    return _LINE.sub(local, text)
