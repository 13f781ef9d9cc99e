"""What a person reads: the diff, a summary table and the findings, coloured on a terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NoReturn, cast

from rich.console import Console
from rich.text import Text

from .. import harmless
from ..model import Applicability, FileResult, Finding, Severity
from ..outcome import Analysed, Outcome
from ..spool import Spool
from .around import is_around, print_around
from .diff import unified
from .pager import paged

_STYLES = {"safe": "green", "review": "yellow", "manual": "bold red", "info": "cyan"}
_PAST = {True: "changed", False: "to change"}
_MANY_PLACES = 20  # of what is only to be known
_MANY_FILES = 3  # that the same is said of, until it is said once
_WIDE = 60  # columns; narrower, three columns of text are harder to read than lines
_PROGRESS_FROM = 64  # candidates; fewer are done before a bar can be read


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the caller, who knows the exit code; the inherited method ends the program."""
        raise BrokenPipeError


def terminal() -> Console:
    """The console for standard output; it knows about colours, NO_COLOR and pipes."""
    console = _Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if console.width < 1:  # COLUMNS=0: nothing would be printed
        console.width = 80
    return console


def progress_bar(total: int) -> tuple[Callable[[int, int], None] | None, Callable[[], None]]:
    """A function to call after each file, and one to end with; no bar in a pipe or for a short run."""
    console = Console(stderr=True)
    if not console.is_terminal or total < _PROGRESS_FROM:
        return None, lambda: None
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    # No refreshing thread: worker processes are forked beside this bar.
    columns = (TextColumn("analysing"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
    task = bar.add_task("", total=total)
    bar.start()

    def step(done: int, _: int) -> None:
        bar.update(task, completed=done, refresh=True)

    return step, bar.stop


def print_diffs(console: Console, changed: Sequence[Analysed], spool: Spool, pager: bool = True) -> None:
    """The diff of every changed file: exact bytes in a pipe; on a terminal coloured, harmless, and in a pager."""
    if not console.is_terminal:
        sys.stdout.flush()
        for one in changed:
            sys.stdout.buffer.write(b"".join(_diff(one, spool)))
        sys.stdout.buffer.flush()
        return
    with paged(pager) as stream:
        shown = _Console(
            file=stream, force_terminal=True, color_system=_colours(console), no_color=console.no_color,
            width=console.width, highlight=False, markup=False, emoji=False, soft_wrap=True,
        )  # fmt: skip
        for one in changed:
            for line in _diff(one, spool):
                text = line.decode("utf-8", "replace").rstrip("\n")
                shown.print(_diff_line(harmless.code(text.removesuffix("\r"))))


def _colours(console: Console) -> Literal["auto", "standard", "256", "truecolor", "windows"] | None:
    system = console.color_system
    return None if system is None else cast(Literal["standard", "256", "truecolor", "windows"], system)


def _diff(one: Analysed, spool: Spool) -> list[bytes]:
    if one.texts is None:
        return []
    return unified(one.result.path, spool.get(one.texts.old), spool.get(one.texts.new))


def print_summary(console: Console, outcome: Outcome, *, written: bool, again: str = "") -> None:
    """The table of counts, what has to be known of each file, and what to do next.

    ``again`` is the command that applies what a dry run showed."""
    if outcome.changed and not written:
        console.print()
    console.print(_table(outcome, written=written))
    shared = _shared(outcome.results)
    for file in outcome.results:
        findings = [one for one in file.findings if not is_around(one) and _said(one) not in shared]
        if findings:
            console.print()
            console.print(Text(harmless.line(file.path), style="bold"))
            shown = {(f.rule, _where(f), f.message, f.suggestion): f for f in reversed(findings)}
            for finding in reversed(shown.values()):  # what holds for several units is said once
                _print_finding(console, finding, f"{_where(finding)}: ")
    for places in shared.values():
        console.print()
        console.print(Text(f"In {len({path for path, _ in places})} files", style="bold"))
        _print_finding(console, places[0][1], "")
        most = len(places) if places[0][1].severity is not Severity.INFO else _MANY_PLACES
        for path, finding in places[:most]:
            console.print(Text(f"          {harmless.line(path)}: {_where(finding)}"))
        if places[most:]:
            more = f"and {len(places) - most} more; the JSON report (--report-json FILE) has all of them"
            console.print(Text(f"          {more}"))
    print_around(console, outcome.results)
    for line in (_verdict(outcome, written=written), _next(outcome, written=written, again=again)):
        if line:
            console.print()
            console.print(Text(line))


Said = tuple[str, Severity, str, str | None]


def _said(finding: Finding) -> Said:
    return finding.rule, finding.severity, finding.message, finding.suggestion


def _shared(files: Sequence[FileResult]) -> dict[Said, list[tuple[str, Finding]]]:
    """What is said in the same words of many files: said once, with its places. The gravest first."""
    found: dict[Said, list[tuple[str, Finding]]] = {}
    for file in files:
        for finding in file.findings:
            if not is_around(finding):
                found.setdefault(_said(finding), []).append((file.path, finding))
    many = {said: places for said, places in found.items() if len({path for path, _ in places}) >= _MANY_FILES}
    order = list(Severity)
    return dict(sorted(many.items(), key=lambda one: order.index(one[0][1])))


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


def _print_finding(console: Console, finding: Finding, where: str) -> None:
    severity = Text(finding.severity.value, style=_STYLES[finding.severity.value])
    said = f"{where}{harmless.line(finding.message)}"
    if console.is_terminal and console.width >= _WIDE:
        from rich.padding import Padding
        from rich.table import Table

        # Wrapped, with what belongs together below each other; in a pipe a finding is a line.
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=6, no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(severity, finding.rule, said)
        console.print(Padding(grid, (0, 0, 0, 2)), soft_wrap=False)
    else:
        head = Text("  ")
        head.append(f"{severity.plain:<6}", style=severity.style)
        head.append(f"  {finding.rule}  {said}")
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


def _next(outcome: Outcome, *, written: bool, again: str) -> str:
    """What to do now, in one line."""
    first = next(
        (
            f"{harmless.line(file.path)}{f':{found.line}' if found.cell is None else f' ({_where(found)})'}"
            for severity in (Severity.MANUAL, Severity.REVIEW)
            for file in outcome.results
            for found in file.findings
            if found.severity is severity and not is_around(found)
        ),
        None,
    )
    if outcome.changed and not written:
        return f"Next: {harmless.line(again)}" if again else ""
    look = f"look at {first} first" if first is not None else ""
    if outcome.changed:
        return f"Next: {', '.join(filter(None, ['read the diff', look, 'run your tests, or apex2native verify']))}."
    return f"Next: {look}." if look else ""


def _is_manual(file: FileResult) -> bool:
    return any(found.severity is Severity.MANUAL for found in file.findings)


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"


def _diff_line(line: str) -> Text:
    if line.startswith(("--- ", "+++ ")):
        return Text(line, style="bold")
    style = {"@": "cyan", "+": "green", "-": "red"}.get(line[:1], "")
    return Text(line, style=style)

