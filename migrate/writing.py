"""From what the rules wish to the new text of each file, and which lines that accounts for."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from .facts.files import join
from .facts.module import Module
from .model import DeleteLines, Edit, Reindent, Replace
from .plan.home.places import Parameter
from .plan.inserted import has_default
from .plan.plan import Plan
from .plan.unread import Unread
from .rewrite.apply import apply_traced
from .rewrite.described import described
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


def drop_names(work: Work, stmt: ast.Import | ast.ImportFrom, names: Sequence[ast.alias]) -> None:
    """An import goes, or some of its names."""
    if len(names) == len(stmt.names):
        work.draft.delete(stmt)
    else:
        kept = [alias for alias in stmt.names if alias not in names]
        for alias in names:
            at = stmt.names.index(alias)
            if any(other in kept for other in stmt.names[at + 1 :]):
                work.draft.cut(work.m.start(alias), work.m.start(stmt.names[at + 1]))
            else:
                work.draft.cut(work.m.end(stmt.names[at - 1]), work.m.end(alias))
    work.note(None, "APX011", stmt, "nothing reads this import any more")


def describe(ctx: Context, work: Work, plans: Sequence[Plan], unread: Sequence[Unread]) -> None:
    """Docstrings list the parameters that their functions have now: without the ``unread`` ones, with the scaler."""
    gone: dict[ast.FunctionDef | ast.AsyncFunctionDef, list[str]] = defaultdict(list)
    new: dict[ast.FunctionDef | ast.AsyncFunctionDef, dict[str, tuple[str | None, bool]]] = defaultdict(dict)
    for one in unread:
        gone[one.function].append(one.name)
    for parameter in (one for plan in plans if plan.scaled for one in plan.homes.parameters):
        node, after = parameter.function.node, parameter.behind
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            new[node][parameter.name] = after, _optional(parameter, node)
    for node in [*gone, *(one for one in new if one not in gone)]:
        for said in described(ctx.m, node, gone.get(node, ()), new.get(node, {})):
            if said.end > said.start:
                work.draft.cut(said.start, said.end)
            if said.text:
                work.draft.insert_at(said.start, said.text)
            note = "the docstring lists the parameters that there are now"
            work.note_lines(None, "APX011", said.first, said.last, note)


def _optional(parameter: Parameter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a parameter for the scaler has a default."""
    if parameter.outside is not None:
        return not parameter.outside.required
    return parameter.after is not None and has_default(node, parameter.after)


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
