"""``--interactive``: what belongs together is shown and asked for, one after the other, as ``git add -p`` does it.

A training loop over several files is one question, and so are the loops of one program: half of them would be wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from rich.console import Console

from . import explain, harmless
from .errors import UserError
from .model import Finding, Severity
from .outcome import Analysed, Outcome
from .report import console
from .spool import Spool

_HELP = """\
y  apply this
n  leave this as it is
w  why: the rules, what is proved of it, and what it differs in
d  show the diff again
a  apply this and all that follow
q  leave this and all that follow; what was accepted is written
?  this text"""

_WORDS = {"yes": "y", "no": "n", "why": "w", "diff": "d", "all": "a", "quit": "q"}  # abort is none of them

Ask = Callable[[str], str]


@dataclass(frozen=True)
class Question:
    """Files that are written together or not at all."""

    files: tuple[Analysed, ...]


def require() -> None:
    """Raise UserError where there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("--interactive asks on a terminal, and this is none: --write applies everything.")


def questions(outcome: Outcome) -> list[Question]:
    """One for each group of files that is written together, in the order of their first files."""
    by_place = {one.texts.location: one for one in outcome.changed if one.texts is not None}
    asked = [Question(tuple(by_place[texts.location] for texts in group)) for group in outcome.groups()]
    return sorted(asked, key=lambda one: one.files[0].result.path)


def choose(outcome: Outcome, spool: Spool, ask: Ask = input) -> Outcome:
    """Ask for each question; the outcome in which what was declined stays as it is."""
    terminal = console.terminal()
    declined: set[str] = set()
    all_asked = questions(outcome)
    for number, question in enumerate(all_asked, 1):
        answer = _answer(terminal, question, f"({number}/{len(all_asked)})", spool, ask)
        if answer == "n":
            declined |= {one.result.path for one in question.files}
        elif answer in ("a", "q"):
            if answer == "q":
                declined |= {one.result.path for left in all_asked[number - 1 :] for one in left.files}
            break
    return replace(outcome, files=tuple(_left(one) if one.result.path in declined else one for one in outcome.files))


def _answer(terminal: Console, question: Question, number: str, spool: Spool, ask: Ask) -> str:
    _show(terminal, question, spool)
    while True:
        names = ", ".join(harmless.line(one.result.path) for one in question.files)
        terminal.print(f"{number} {names}: {_grade(question)}", style="bold")
        try:
            said = ask("Apply this [y,n,w,d,a,q,?]? ").strip().lower()
        except EOFError:
            terminal.print()
            return "q"
        answer = _WORDS.get(said, said)
        if answer in ("y", "n", "a", "q"):
            return answer
        if answer == "w":
            _explain(terminal, question)
        elif answer == "d":
            _show(terminal, question, spool)
        else:
            terminal.print(_HELP)


def _show(terminal: Console, question: Question, spool: Spool) -> None:
    terminal.print()
    console.print_diffs(terminal, question.files, spool, pager=False)


def _grade(question: Question) -> str:
    units = sorted(unit.applicability.value for one in question.files for unit in one.result.units)
    if not units:
        return "no training loop"
    loops = "1 training loop" if len(units) == 1 else f"{len(units)} training loops"
    return f"{loops}, {', '.join(dict.fromkeys(units))}"


def _explain(terminal: Console, question: Question) -> None:
    titles = {page.id: page.title for page in explain.pages()}
    titles.update((name, title) for page in explain.pages() for name, title in page.notes.items())
    for one in question.files:
        terminal.print(harmless.line(one.result.path), style="bold")
        for change in one.result.changes:
            terminal.print(f"  {change.rule}  line {change.line}: {harmless.line(change.message)}")
            terminal.print(f"          {titles.get(change.rule, '')}", style="dim")
        for finding in one.result.findings:
            terminal.print(
                f"  {finding.severity.value}  {finding.rule}  line {finding.line}: {harmless.line(finding.message)}"
            )
    grades = {unit.applicability.value for one in question.files for unit in one.result.units}
    if "safe" in grades:
        terminal.print("safe: old and new code were run side by side, symbolically, on every path, and do the same.")
    if "review" in grades:
        terminal.print("review: the same, but for the differences that are named above.")


def _left(one: Analysed) -> Analysed:
    """A file that stays as it is because somebody said so: accounted for, and left to do."""
    lines = sorted({change.line for change in one.result.changes}) or [1]
    finding = Finding(
        one.result.changes[0].rule if one.result.changes else "APX090",
        Severity.MANUAL,
        lines[0],
        lines[0],
        "left as it is: declined in --interactive",
        lines=tuple(lines[1:]),
    )
    result = replace(one.result, status="unchanged", changes=(), findings=(*one.result.findings, finding), new=None)
    return replace(one, result=result, texts=None)
