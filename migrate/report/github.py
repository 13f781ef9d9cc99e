"""``--format github``: annotations, as a GitHub workflow reads them from its log.

Source: the page "Workflow commands for GitHub Actions" of GitHub's documentation. GitHub shows ten of each level a
step, and fifty a job.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import harmless
from ..model import Finding, Severity
from .given import Given, places

_LEVELS = {Severity.MANUAL: "error", Severity.REVIEW: "warning", Severity.INFO: "notice"}


def render(given: Given) -> Iterator[bytes]:
    """What is left by hand first: of more than ten of a level GitHub shows the first."""
    found = sorted(given.findings(), key=lambda one: list(_LEVELS).index(one[1].severity))
    for path, finding in found:
        yield _finding(given.path(path), finding)
    for one in given.outcome.changed:
        number = len(one.result.changes)
        text = f"{number} {'place' if number == 1 else 'places'}: " + (
            "changed" if given.written else "apex2native --write changes them"
        )
        yield _command("notice", text, file=given.path(one.result.path), line="1", title="apex2native")


def _finding(path: str, finding: Finding) -> bytes:
    lines = places(finding)
    more = f" (also line {', '.join(map(str, lines[1:]))})" if len(lines) > 1 else ""
    cell = f" (cell {finding.cell})" if finding.cell is not None else ""
    text = finding.message + more + cell + (f"\n{finding.suggestion}" if finding.suggestion else "")
    return _command(
        _LEVELS[finding.severity],
        text,
        file=path,
        # A notebook's lines are those of its cells, which GitHub does not know.
        line=str(finding.line if finding.cell is None else 1),
        endLine=str(finding.end_line if finding.cell is None else 1),
        title=f"{finding.rule} ({finding.severity.value})",
    )


def _command(level: str, text: str, **properties: str) -> bytes:
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_data(text)}\n".encode("utf-8", "backslashreplace")


def _data(text: str) -> str:
    return harmless.paragraphs(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    # A line end in a file's name would begin a command of its own.
    return _data(text).replace(":", "%3A").replace(",", "%2C")
