"""Comments about mixed precision go with what they are about."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..model import DeleteLines, Edit, InsertLines, Reindent
from .comments import ABOUT_AMP, comments_from, comments_until
from .draft import Draft

_INITIALIZES = re.compile(r"\binitiali[sz](?:e|ing) amp\b|\bamp accepts\b|\bamp\.initialize\b", re.I)
_CHOOSES = re.compile(r"\b(?:check|checks|whether|if|switch|choose|select|depend\w*|between)\b", re.I)
_APEX = re.compile(r"\bapex\b", re.I)
MAX_HEADING = 3  # lines


def dropped_comments(draft: Draft, went: Sequence[ast.stmt], edits: Sequence[Edit]) -> list[Edit]:
    """Comments about mixed precision directly above lines that go, where nothing comes in their place, go too."""
    m, found = draft.m, list[Edit]()
    kept = {e.before for e in edits if isinstance(e, InsertLines)}
    for stmt in went:
        first, last = m.first_line(stmt), m.last_line(stmt)
        start = comments_from(m, stmt)
        begin = m.line_text(start) if start < first else ""  # what a comment begins with it is about
        of_amp = ABOUT_AMP.search(begin) and not kept & set(range(start, last + 2))
        if start < first and (of_amp or stmt in draft.taken):
            found.append(DeleteLines(start, first - 1))
        found += _heading(draft, stmt, kept)
    for stmt in draft.unwrapped:
        found += _choice(draft, stmt, kept)
    for stmt in draft.rewritten:
        last = m.last_line(stmt)
        end = comments_until(m, stmt)
        said = "\n".join(m.line_text(n) for n in range(last + 1, end + 1))
        if end > last and not draft.dropped(stmt):
            if isinstance(stmt, ast.Try) or ABOUT_AMP.search(said):
                found.append(DeleteLines(last + 1, end))
            elif not draft.rewritten[stmt]:  # what they were indented below is not there any more
                inner = said[: len(said) - len(said.lstrip())]
                found.append(Reindent(last + 1, end, inner, m.indent(stmt)))
    return found


def _choice(draft: Draft, stmt: ast.stmt, kept: set[int]) -> list[Edit]:
    """Comments above a condition that is not asked any more, which say how it chose between Apex and something else."""
    m = draft.m
    start, first = comments_from(m, stmt), m.first_line(stmt)
    said = "\n".join(m.line_text(n) for n in range(start, first))
    alone = isinstance(stmt, ast.If) and kept.isdisjoint(range(start, first + 1))
    if alone and 0 < first - start <= MAX_HEADING and _APEX.search(said) and _CHOOSES.search(said):
        return [DeleteLines(start, first - 1)]
    return []


def _heading(draft: Draft, stmt: ast.stmt, kept: set[int]) -> list[Edit]:
    """Comments above a condition that stays, which say how amp is initialized, go with the initialize that its arm
    began with, where nothing comes in its place."""
    m = draft.m
    guard = m.parent[stmt]
    if not isinstance(guard, ast.If) or stmt is not guard.body[0]:
        return []
    if draft.gone(guard) or guard in draft.unwrapped:
        return []
    start, first = comments_from(m, guard), m.first_line(guard)
    alone = kept.isdisjoint(range(start, first + 1))
    if alone and 0 < first - start <= MAX_HEADING and _INITIALIZES.search(m.line_text(start)):
        return [DeleteLines(start, first - 1)]
    return []
