"""What a person reads: the diff, a summary table and the findings, coloured on a terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from .. import harmless
from ..model import Applicability, FileResult, Finding, Severity
from ..pipeline import Analysed, Outcome
from ..spool import Spool
from .around import is_around, print_around
from .diff import unified

_STYLES = {"safe": "green", "review": "yellow", "manual": "bold red", "info": "cyan"}
_PAST = {True: "changed", False: "to change"}
_PROGRESS_FROM = 64  # candidates; fewer are done before a bar can be read


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the caller, who knows the exit code; the inherited method ends the program."""
        raise BrokenPipeError


def terminal() -> Console:
    """The console for standard output; it knows about colours, NO_COLOR and pipes."""
    return _Console(highlight=False, markup=False, emoji=False, soft_wrap=True)


def progress_bar(total: int) -> tuple[Callable[[int, int], None] | None, Callable[[], None]]:
    """A function to call after each file, and one to end with; no bar in a pipe or for a short run."""
    console = Console(stderr=True)
    if not console.is_terminal or total < _PROGRESS_FROM:
        return None, lambda: None
    # No refreshing thread: worker processes are forked beside this bar.
    columns = (TextColumn("analysing"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
    task = bar.add_task("", total=total)
    bar.start()

    def step(done: int, _: int) -> None:
        bar.update(task, completed=done, refresh=True)

    return step, bar.stop


def print_diffs(console: Console, changed: Sequence[Analysed], spool: Spool) -> None:
    """The diff of every changed file: exact bytes in a pipe, coloured and harmless on a terminal."""
    for one in changed:
        if one.texts is None:
            continue
        lines = unified(one.result.path, spool.get(one.texts.old), spool.get(one.texts.new))
        if console.is_terminal:
            for line in lines:
                text = line.decode("utf-8", "replace").rstrip("\n")
                console.print(_diff_line(harmless.code(text.removesuffix("\r"))))
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(b"".join(lines))
            sys.stdout.buffer.flush()


def print_summary(console: Console, outcome: Outcome, *, written: bool) -> None:
    """The table of counts, then what has to be known of each file."""
    if outcome.changed and not written:
        console.print()
    console.print(_table(outcome, written=written))
    for file in outcome.results:
        findings = [finding for finding in file.findings if not is_around(finding)]
        if findings:
            console.print()
            console.print(Text(harmless.line(file.path), style="bold"))
            shown = {(f.rule, _where(f), f.message, f.suggestion): f for f in reversed(findings)}
            for finding in reversed(shown.values()):  # what holds for several units is said once
                _print_finding(console, finding)
    print_around(console, outcome.results)
    verdict = _verdict(outcome, written=written)
    if verdict:
        console.print()
        console.print(verdict)


def _table(outcome: Outcome, *, written: bool) -> Text:
    results = outcome.results
    units = Counter(unit.applicability for file in results for unit in file.units)
    severities = Counter(found.severity for file in results for found in file.findings)
    unparseable = sum(file.status == "unparseable" for file in results)
    files = [(outcome.scanned, "scanned", ""), (len(outcome.changed), _PAST[written], "green")]
    files += [(unparseable, "unparseable", "bold red")] if unparseable else []
    rows = {
        "Files": files,
        "Units": [(units[one], one.value, _STYLES[one.value]) for one in Applicability],
        "Findings": [(severities[one], one.value, _STYLES[one.value]) for one in Severity],
    }
    table = Text()
    for name, cells in rows.items():
        table.append(f"{name:<9}", style="bold")
        for count, what, style in cells:
            width = 0 if what == cells[-1][1] else 11  # no spaces at the end of a line
            table.append(f"{count:>6} {what:<{width}}", style=style if count else "dim")
        table.append("\n")
    table.right_crop(1)
    return table


def _print_finding(console: Console, finding: Finding) -> None:
    head = Text("  ")
    head.append(f"{finding.severity.value:<6}", style=_STYLES[finding.severity.value])
    head.append(f"  {finding.rule}  {_where(finding)}: {harmless.line(finding.message)}")
    console.print(head)
    for line in (finding.suggestion or "").splitlines():
        console.print(Text(f"          {harmless.code(line)}", style="dim"))


def _where(finding: Finding) -> str:
    lines = sorted({finding.line, *finding.lines})
    if len(lines) > 1:
        where = "lines " + ", ".join(map(str, lines))
    elif finding.end_line > finding.line:
        where = f"lines {finding.line}-{finding.end_line}"
    else:
        where = f"line {finding.line}"
    return where if finding.cell is None else f"cell {finding.cell}, {where}"


def _verdict(outcome: Outcome, *, written: bool) -> str:
    manual = sum(_is_manual(file) for file in outcome.results)
    by_hand = f"{_files(manual)} {'needs' if manual == 1 else 'need'} work by hand." if manual else ""
    if not outcome.changed:
        return by_hand or "Nothing is left to do."
    done = (
        f"{_files(len(outcome.changed))} changed."
        if written
        else "Nothing was written: run again with --write to apply this."
    )
    return f"{done} {by_hand}".rstrip()


def _is_manual(file: FileResult) -> bool:
    return any(found.severity is Severity.MANUAL for found in file.findings)


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"


def _diff_line(line: str) -> Text:
    if line.startswith(("--- ", "+++ ")):
        return Text(line, style="bold")
    style = {"@": "cyan", "+": "green", "-": "red"}.get(line[:1], "")
    return Text(line, style=style)

