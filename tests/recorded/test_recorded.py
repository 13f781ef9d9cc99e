"""All that the tool says of many programs is what it said before: the diff, the grade, every finding.

The other tests ask whether a migration is right; these ask whether it is still the same one. A change that was meant
is recorded by ``make record``, and read in the diff of ``__snapshots__``: what became better, and what else moved.

Recorded is also how many pairs of states the judge looked at, and what it says of faults planted into the result.
"""

from __future__ import annotations

import difflib
import hashlib
import random
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileAmberSnapshotExtension

pytest.importorskip("torch", reason="what generates the programs and plants the faults runs them elsewhere")

from migrate.engine import migrate_module
from migrate.model import ModuleResult, Outside, Settings
from tests.equivalence.generate import program
from tests.equivalence.harness import HERE, SCRIPTS, read_header, read_script
from tests.equivalence.plant import planted
from tests.judge.support import Case, judged_case, script_case
from tests.rules.cases import load_all

PROGRAMS = sorted([*SCRIPTS.glob("*.py"), *(HERE / "fresh").glob("*.py")])
RULES = load_all()
FAULTS = 6  # planted into each program
SEEDS, CHUNK = 400, 20


@pytest.fixture
def recorded(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(SingleFileAmberSnapshotExtension)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path, recorded: SnapshotAssertion) -> None:
    text = read_script(path)
    settings = read_header(text).settings
    case = script_case(path.stem) if path.parent == SCRIPTS else judged_case(text, settings)
    lines = _said(case.result if case else migrate_module(text, settings))
    if case is not None:
        lines += _judged(path.stem, case)
        lines += difflib.unified_diff(text.splitlines(), (case.result.new_text or text).splitlines(), lineterm="")
    assert "\n".join(lines) == recorded


@pytest.mark.parametrize("rule", sorted({case.path.parent.name for case in RULES}))
def test_case(rule: str, recorded: SnapshotAssertion) -> None:
    """Texts of cases are golden already; here is the rest."""
    lines = []
    for case in RULES:
        if case.path.parent.name == rule:
            lines += [case.path.name, *_said(migrate_module(case.before, case.settings, Outside(case.exported)))]
    assert "\n".join(lines) == recorded


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_generated(first: int, recorded: SnapshotAssertion) -> None:
    """A line for each file: the grade, the judge's pairs, and a digest of all that is said and of the text."""
    lines = []
    for seed in range(first, first + CHUNK):
        for name, text in program(seed).files.items():
            case = judged_case(text)
            result = case.result if case else migrate_module(text, Settings())
            whole = "\n".join([*_said(result), result.new_text or ""])
            grades = " ".join(unit.applicability.value for unit in result.units)
            pairs = case.verdict.pairs if case else 0
            lines.append(f"{seed} {name} {grades} {pairs} {hashlib.sha256(whole.encode()).hexdigest()[:12]}")
    assert "\n".join(lines) == recorded


def _said(result: ModuleResult) -> list[str]:
    """Units, findings and changes, a line each."""
    lines = [f"unit {unit.number} of line {unit.line}: {unit.applicability.value}" for unit in result.units]
    for one in result.findings:
        places = f"{one.line}-{one.end_line}" + "".join(f" {line}" for line in one.lines)
        lines.append(f"{one.rule} {one.severity.value} {places} unit {one.unit}: {one.message} | {one.suggestion}")
    for change in result.changes:
        where = f"{change.line}-{change.end_line}"
        lines.append(f"{change.rule} {change.applicability.value} {where} unit {change.unit}: {change.message}")
    return lines


def _judged(name: str, case: Case) -> list[str]:
    lines = [f"judge: {case.verdict.pairs} pairs, {case.verdict.unknown or 'all paths'}"]
    faults = planted(case.text)
    for one in random.Random(name).sample(faults, min(FAULTS, len(faults))):
        found = case.judged(one.text)
        lines.append(f"planted {one.kind} in line {one.line}: {found.said if found else 'nothing is said'}")
    return lines
