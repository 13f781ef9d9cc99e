"""From what the rules wish to the new text of each file, and which lines that accounts for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from .facts.files import join
from .facts.module import Module
from .model import DeleteLines, Edit, Reindent, Replace
from .rewrite.apply import apply_traced
from .rewrite.draft import Draft
from .rewrite.files import by_file
from .rewrite.layout import lay_out
from .rewrite.templates import Templates
from .rewrite.trace import Run
from .rules.common import Work
from .units.unit import Context


def begun(ctx: Context, migrated: bool = False) -> Work:
    """What the rules are handed: nothing is wished for yet."""
    templates = [Templates(ctx.m, file, ctx.settings) for file in ctx.m.files]
    return Work(ctx.m, Draft(ctx.m), templates, migrated=migrated)


def edited(ctx: Context, work: Work, edits: list[Edit]) -> tuple[tuple[str, ...], tuple[Run, ...]]:
    """The new text of each file, and which characters of all together stood where."""
    texts: list[str] = []
    runs: list[Run] = []
    begins = 0
    for file, mine in zip(ctx.m.files, by_file(ctx.m.files, edits), strict=True):
        new, moved = lay_out(file.text, *apply_traced(file.text, mine), work.draft.unit(file.tree))
        texts.append(new)
        runs += [Run(begins + one.new, file.start + one.old, one.length) for one in moved]
        begins += len(join([new, ""]))
    return tuple(texts), tuple(runs)


def came_from(m: Module, texts: Sequence[str], runs: Sequence[Run]) -> list[tuple[int, ...]]:
    """For each line of each file's new text, the line of its old one that it came from, or the one before did."""
    runs = sorted(runs, key=lambda run: run.new)
    begins = [run.new for run in runs]
    found: list[tuple[int, ...]] = []
    start = 0
    for file in m.files:
        at = start
        lines: list[int] = []
        last = 1
        for line in texts[file.number].splitlines(keepends=True):
            end = at + len(line)
            for number in range(max(0, bisect_right(begins, at) - 1), len(runs)):
                run = runs[number]
                if run.new >= end:
                    break
                old = run.old + max(at - run.new, 0)
                if run.new + run.length > at and line[max(run.new - at, 0) :].strip():
                    old += len(line) - len(line.lstrip()) if run.new <= at else 0
                    last = bisect_right(m.starts, min(old, run.old + run.length - 1)) - file.first + 1
                    break
            lines.append(last)
            at = end
        found.append(tuple(lines))
        start += len(join([texts[file.number], ""]))
    return found


def _no_code(line: str) -> bool:
    return not line.strip() or line.strip().startswith("#")


def account(ctx: Context, work: Work, edits: list[Edit]) -> None:
    """Lines that go without a rule having said so stood only for what went: a guard, an import's handler."""
    named: set[int] = set()
    for _, noted in work.noted:
        named.update(range(noted.line, noted.end_line + 1))
    for edit in edits:
        match edit:
            case DeleteLines(first, last):
                low, high = first, last
            case Reindent(first, last):
                begins = last + 1  # of the comments behind the last statement
                while begins > first and begins - 1 not in named and _no_code(ctx.m.line_text(begins - 1)):
                    begins -= 1
                if begins <= last:
                    work.note_lines(None, "APX011", begins, last, "a comment moves with its block")
                continue
            case Replace(start, end, _) if end > start:
                low, high = bisect_right(ctx.m.starts, start), bisect_right(ctx.m.starts, end - 1)
            case _:
                continue
        if not {n for n in range(low, high + 1) if ctx.m.line_text(n).strip()} <= named:
            work.note_lines(None, "APX011", low, high, "stood only for what went")
