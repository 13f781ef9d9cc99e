"""Every snippet becomes just what its author wrote beside it, or stays as it is."""

from __future__ import annotations

import difflib
from dataclasses import replace

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, ModuleResult, Outside, worst

from .cases import HERE, Case, apex_lines, load_all, reported_lines

CASES = load_all()


def _params(cases: list[Case]) -> list[object]:
    return [
        pytest.param(one, id=one.name, marks=[pytest.mark.xfail(reason=one.bug, strict=True)] if one.bug else [])
        for one in cases
    ]


def _run(case: Case, text: str) -> ModuleResult:
    return migrate_module(text, case.settings, Outside(case.exported))


@pytest.mark.parametrize("case", _params(CASES))
def test_case(case: Case) -> None:
    result = _run(case, case.before)
    complaints = [*_text(case, result), *_said(case, result)]
    if result.parsed and not case.unparsed:
        complaints += _accounted(case, result)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("case", [pytest.param(one, id=one.name) for one in CASES if one.after is not None])
def test_migrated_code_is_left_alone(case: Case) -> None:
    """A second run has nothing to do; it may go on saying what it said about Apex that stays."""
    assert case.after is not None
    assert _run(case, case.after).new_text is None


@pytest.mark.parametrize(
    "case", [pytest.param(one, id=one.name) for one in CASES if one.wants("review") and not one.bug]
)
def test_safe_only_holds_reviews_back(case: Case) -> None:
    again = migrate_module(case.before, replace(case.settings, safe_only=True), Outside(case.exported))
    assert again.new_text is None


def _text(case: Case, result: ModuleResult) -> list[str]:
    wanted = case.before if case.after is None else case.after
    got = case.before if result.new_text is None else result.new_text
    if got == wanted:
        return []
    diff = difflib.unified_diff(wanted.splitlines(), got.splitlines(), "wanted", "got", lineterm="")
    return ["the text differs:", *diff]


def _said(case: Case, result: ModuleResult) -> list[str]:
    complaints = []
    if case.unparsed != (not result.parsed):
        complaints.append(f"parsed is {result.parsed}")
    for severity, message in case.expect:
        if severity != "unparsed" and not any(
            one.severity.value == severity and message in one.message for one in result.findings
        ):
            complaints.append(f"no {severity} finding says {message!r}")
    if case.after is not None:
        if not any(one.rule == case.rule for one in result.changes):
            complaints.append(f"no change names {case.rule}: {sorted({one.rule for one in result.changes})}")
        grade = worst(*(unit.applicability for unit in result.units))
        if not case.wants("review") and not case.wants("manual") and grade is not Applicability.SAFE:
            complaints.append(f"the unit is {grade.value}")
        if not case.wants("manual") and any(one.severity.value == "manual" for one in result.findings):
            complaints.append("a finding asks for work by hand")
    elif not case.expect and (result.findings or result.changes):
        complaints.append("there is nothing to say about this snippet")
    if complaints:
        complaints += [f"    {one.severity.value} {one.line}: {one.message}" for one in result.findings]
    return complaints


def _accounted(case: Case, result: ModuleResult) -> list[str]:
    known = reported_lines(result)
    return [
        f"line {line} is in no change and no finding: {text}"
        for line, text in sorted(apex_lines(case.before).items())
        if line not in known
    ]


def test_there_are_more_snippets_that_stay_than_that_change() -> None:
    changing = [one for one in CASES if one.after is not None]
    assert len(changing) >= 25, "transforms"
    assert len(CASES) - len(changing) > len(changing)


def test_every_golden_file_has_its_input() -> None:
    inputs = {one.path.name.removesuffix(".in.py") for one in CASES}
    for path in HERE.glob("*/*.py"):
        assert path.name.endswith((".in.py", ".out.py")), path
        assert path.name.rsplit(".", 2)[0] in inputs, path
