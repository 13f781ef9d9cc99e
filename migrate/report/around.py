"""What surrounds the code, for the console: never more than a screen, as the JSON report has all of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from .. import harmless
from ..model import FileResult, Finding
from ..packaging.mention import FOUND, About

_MOST_FILES = 20
_MOST_LINES = 6
_EXAMPLES = 3


def is_around(finding: Finding) -> bool:
    """Whether a finding is about what surrounds the code."""
    return finding.rule == FOUND


def print_around(console: Console, files: Sequence[FileResult]) -> None:
    """The findings by what they say: each with its files, or with some of them where they are many."""
    said: dict[tuple[str, str | None], list[tuple[str, Finding]]] = defaultdict(list)
    for file in files:
        for finding in filter(is_around, file.findings):
            said[finding.message, finding.suggestion].append((file.path, finding))
    if not said:
        return
    rows = sum(map(len, said.values()))
    most = rows if rows <= _MOST_FILES else _EXAMPLES
    console.print()
    console.print(Text("Around the code", style="bold"))
    for (message, hint), places in sorted(said.items(), key=lambda item: _rank(item[0][0])):
        head = Text("  ")
        head.append("info  ", style="cyan")
        head.append(f"  {FOUND}  {harmless.line(message)}")
        console.print(head)
        for path, finding in places[:most]:
            console.print(Text(f"            {harmless.line(path)}: {_where(finding)}"))
        if len(places) > most:
            more = f"and {len(places) - most} more files; the JSON report (--report-json FILE) has all of them"
            console.print(Text(f"            {more}", style="dim"))
        if hint:
            console.print(Text(f"          {harmless.code(hint)}", style="dim"))


def _rank(message: str) -> int:
    """What installs comes first, what only speaks last."""
    return next((rank for rank, about in enumerate(About) if message.startswith(about.value)), len(About))


def _where(finding: Finding) -> str:
    lines = [finding.line, *finding.lines]
    if len(lines) == 1:
        return f"line {lines[0]}"
    shown = ", ".join(map(str, lines[:_MOST_LINES]))
    return f"lines {shown}" + (f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else "")
