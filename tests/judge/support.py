"""What the engine hands the judge for a script, and the same for a text in which a fault was planted."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from migrate import engine
from migrate.facts.module import Module
from migrate.facts.sites import collect
from migrate.flow.values import Values
from migrate.judge.judge import judge
from migrate.judge.verdict import Verdict
from migrate.model import ALONE, UNSETTLED, Applicability, ModuleResult, Outside, Settings, Standing, worst
from migrate.plan.plan import Plan
from migrate.rewrite.trace import Run, common_words
from migrate.units.unit import Context
from migrate.validate import validate

SCRIPTS = Path(__file__).resolve().parents[1] / "equivalence" / "scripts"
_LINE = re.compile(r"^([ \t]*)(.*?)[ \t]*$", re.MULTILINE)


class Found(NamedTuple):
    """``line`` is one of the old text."""

    line: int
    said: str


@dataclass(frozen=True)
class Case:
    """One migration as the judge gets it."""

    ctx: Context
    plans: Sequence[Plan]
    text: str
    runs: Sequence[Run]
    result: ModuleResult
    verdict: Verdict

    @property
    def grade(self) -> Applicability:
        return worst(*(unit.applicability for unit in self.result.units))

    def judged(self, text: str) -> Found | None:
        """What is said of another text in the place of the migrated one; None where nothing is.

        A difference makes the units manual, or gives one more reason to review them."""
        kept = [(unit, list(unit.reviews), list(unit.infos)) for unit in (plan.unit for plan in self.plans)]
        try:
            verdict = validate(self.ctx, self.plans, [text], composed(aligned(self.text, text), self.runs))
            more = [one for unit, reviews, _ in kept for one in unit.reviews if one not in reviews]
        finally:
            for unit, reviews, infos in kept:
                unit.reviews[:], unit.infos[:] = reviews, infos
        if verdict.differences:
            return Found(verdict.differences[0].line, verdict.differences[0].said)
        if more:
            return Found(getattr(more[0][0], "lineno", 0), more[0][2])
        return Found(0, verdict.unknown) if verdict.unknown is not None else None


def judged_case(
    text: str, settings: Settings | None = None, standing: Standing = UNSETTLED, outside: Outside = ALONE
) -> Case | None:
    """Migrate a text; None where nothing came before the judge."""
    seen: list[tuple[Context, Sequence[Plan], str, Sequence[Run], Verdict]] = []

    def spied(ctx: Context, plans: Sequence[Plan], new: Sequence[str], runs: Sequence[Run]) -> Verdict:
        verdict = validate(ctx, plans, new, runs)
        seen.append((ctx, plans, *new, runs, verdict))
        return verdict

    with mock.patch.object(engine, "validate", spied):
        result = engine.migrate_module(text, settings or Settings(), outside, standing)
    if not seen:
        return None
    ctx, plans, new, runs, verdict = seen[-1]
    return Case(ctx, plans, new, runs, result, verdict)


@functools.cache
def script_case(name: str) -> Case | None:
    from tests.equivalence.harness import read_header, read_script

    text = read_script(SCRIPTS / f"{name}.py")
    return judged_case(text, read_header(text).settings)


# ---------------------------------------------------------------- run maps


def verdict_of(old: str, new: str, *, patched: bool = True) -> Verdict:
    """The judge on two texts of one file, the second of which somebody wrote."""
    m = Module(old)
    v = Values(m)
    return judge(m, v, collect(m, v), [new], aligned(old, new), maybe_o0=lambda call: False, patched=patched)


def aligned(old: str, new: str) -> list[Run]:
    """Which characters of ``new`` stood where in ``old``: equal lines but for their indentation, and the words
    that changed lines share."""
    before, after = _rows(old), _rows(new)
    matcher = SequenceMatcher(None, [row for row, _ in before], [row for row, _ in after], autojunk=False)
    runs: list[Run] = []
    for tag, low, high, start, end in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(before[low:high], after[start:end], strict=True)
            runs += [Run(at, place, len(row)) for (row, place), (_, at) in pairs if row]
        elif tag == "replace":
            first, place = before[low][1], after[start][1]
            piece, other = old[first : _end(before[high - 1])], new[place : _end(after[end - 1])]
            runs += [Run(place + run.new, first + run.old, run.length) for run in common_words(piece, other)]
    return runs


def _rows(text: str) -> list[tuple[str, int]]:
    return [(found.group(2), found.start(2)) for found in _LINE.finditer(text)]


def _end(row: tuple[str, int]) -> int:
    return row[1] + len(row[0])


def composed(later: Sequence[Run], earlier: Sequence[Run]) -> list[Run]:
    """First ``earlier``, then ``later``: where the characters of the last text stood in the first."""
    found = []
    for run in later:
        for one in earlier:
            low, high = max(run.old, one.new), min(run.old + run.length, one.new + one.length)
            if low < high:
                found.append(Run(run.new + low - run.old, one.old + low - one.new, high - low))
    return found
