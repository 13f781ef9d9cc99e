"""Files through the engine: isolation of faults, order, numbers, memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from migrate import limits
from migrate.components import Component
from migrate.errors import Tangled
from migrate.flow import solver
from migrate.imports.tree import Imports
from migrate.model import (
    TOGETHER,
    Applicability,
    Change,
    FileResult,
    Finding,
    ModuleResult,
    Need,
    Outside,
    Settings,
    Severity,
    Standing,
    UnitSummary,
)
from migrate.outcome import Analysed, Outcome, Texts
from migrate.pipeline import _all_within, _as_wider_says, _may_change, analyse
from migrate.sources import collect
from migrate.spool import Slot, Spool
from tests.shell.fake import engine
from tests.shell.support import LEGACY, NATIVE, tree


def run(root: Path, jobs: int = 1) -> Outcome:
    with Spool() as spool:
        return analyse(collect([str(root)]), Settings(), spool, jobs=jobs, engine=engine)


def messages(outcome: Outcome) -> dict[str, list[str]]:
    return {result.path: [found.message for found in result.findings] for result in outcome.results}


def test_one_process_and_many_give_the_same(tmp_path: Path) -> None:
    files = {f"{at:02}.py": LEGACY * (at % 4) + "import apex  # MANUAL\n" * (at % 2) for at in range(20)}
    tree(tmp_path, files)
    alone, together = run(tmp_path), run(tmp_path, jobs=3)
    assert alone.results == together.results
    assert [result.path for result in alone.results] == sorted(result.path for result in alone.results)


def test_units_are_numbered_over_the_tree_in_path_order(tmp_path: Path) -> None:
    tree(tmp_path, {"b.py": LEGACY * 2, "a.py": LEGACY + "import apex  # MANUAL\n", "c.py": LEGACY})
    outcome = run(tmp_path)
    assert [[unit.number for unit in result.units] for result in outcome.results] == [[1, 2], [3, 4], [5]]
    assert [[change.unit for change in result.changes] for result in outcome.results] == [[1], [3, 4], [5]]
    assert outcome.results[0].findings[0].unit == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_crash_on_one_file_is_a_finding_of_it(tmp_path: Path, jobs: int) -> None:
    tree(tmp_path, {f"{at}.py": LEGACY for at in range(9)} | {"bad.py": "# apex\nCRASH = 1\n"})
    outcome = run(tmp_path, jobs)
    assert outcome.crashed
    assert len(outcome.changed) == 9
    (message,) = messages(outcome)["bad.py"]
    assert "KeyError: 'no such thing'" in message
    assert "fake.py, line " in message
    (finding,) = next(result for result in outcome.results if result.path == "bad.py").findings
    assert finding.rule == "APX000"


def test_a_process_that_dies_costs_only_its_file(tmp_path: Path) -> None:
    tree(tmp_path, {f"{at}.py": LEGACY for at in range(9)} | {"bad.py": "# apex\nDIE = 1\n"})
    outcome = run(tmp_path, jobs=2)
    assert len(outcome.changed) == 9
    assert "died" in messages(outcome)["bad.py"][0]


def test_files_that_cannot_be_analysed(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "broken.py": "import apex\ndef f(:\n",
            "cookie.py": "# coding: nonsense\nimport apex\n",
            "deep.py": "# apex\nDEEP = 1\n",
            "latin.py": b"import apex\nx = '\xe4'\n",
            "nested.py": "import apex\nx = " + "(" * 5000 + ")" * 5000 + "\n",
            "null.py": b"import apex\n\0",
            "two.py": "import apex\nprint 'hello'\n",
            "unrelated.py": "# of apexes\nprint 'hello'\n",
        },
    )
    outcome = run(tmp_path)
    told = messages(outcome)
    assert {result.path: result.status for result in outcome.results} == {
        "broken.py": "unparseable",
        "cookie.py": "unparseable",
        "deep.py": "unchanged",
        "latin.py": "unparseable",
        "nested.py": "unparseable",
        "null.py": "unparseable",
        "two.py": "unparseable",
    }
    assert "Python 2" in told["two.py"][0]
    assert "null bytes" in told["null.py"][0]
    assert "nested too deeply" in told["deep.py"][0]
    lines = {result.path: result.findings[0].line for result in outcome.results}
    assert (lines["broken.py"], lines["two.py"], lines["null.py"]) == (2, 2, 1)
    assert not outcome.crashed


def endless(text: str, settings: Settings, outside: Outside, standing: Standing) -> ModuleResult:
    while True:
        pass


def test_a_file_that_takes_too_long_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"x.py": LEGACY})
    monkeypatch.setattr(limits, "MOST_SECONDS", 0.2)
    with Spool() as spool:
        outcome = analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1, engine=endless)
    (result,) = outcome.results
    assert result.findings[0].message == "this file is too tangled to follow: it was given 0.2 seconds."
    assert not outcome.changed and not outcome.crashed


def test_a_class_below_very_many_others_is_left(tmp_path: Path) -> None:
    asks = "    def go(self, x):\n        return super().go(x)\n\n\n"
    line = "".join(f"class L{i}({f'L{i - 1}' if i else 'object'}):\n{asks}" for i in range(220))
    tree(tmp_path, {"x.py": "from apex import amp\n\n\n" + line + "amp.init()\nL219().go(1)\n"})
    with Spool() as spool:
        (result,) = analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1).results
    assert "stands below more than 200 classes" in result.findings[0].message


def _work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="there is no bound of time")
def test_each_program_that_is_linked_has_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_SECONDS", 0.4)
    with limits.guarded():
        for _ in range(3):
            limits.begin_anew()
            _work(0.2)
    with pytest.raises(Tangled), limits.guarded():
        _work(0.6)
    limits.begin_anew()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no bound of time")
def test_all_that_share_files_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty scripts that derive from one base, each with the time of one: what they take together is bounded, too."""
    monkeypatch.setattr(limits, "MOST_IN_ALL", 0.3)
    with pytest.raises(Tangled, match="all programs that share its files were given"), limits.guarded():
        for _ in range(3):
            limits.begin_anew()
            _work(0.2)


def greedy(text: str, settings: Settings, outside: Outside, standing: Standing) -> ModuleResult:
    held = []
    while True:
        held.append(bytes(1 << 20))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process may map")
def test_a_file_that_takes_too_much_memory_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    tree(tmp_path, {"x.py": LEGACY})
    monkeypatch.setattr(limits, "MOST_MEMORY", 200 << 20)
    with Spool() as spool:
        outcome = analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1, engine=greedy)
    (result,) = outcome.results
    assert result.findings[0].message == "this file is too tangled to follow: it was given 200 megabytes of memory."
    assert not outcome.changed and not outcome.crashed
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_file_that_holds_too_much_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"x.py": LEGACY})
    monkeypatch.setattr(solver, "MAX_FACTS", 0)
    with Spool() as spool:
        outcome = analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1)
    (result,) = outcome.results
    told = result.findings[0]
    assert "too tangled to follow" in told.message and not outcome.changed
    used = [n for n, line in enumerate(LEGACY.splitlines(), 1) if "apex" in line or "amp." in line]
    assert [told.line, *told.lines] == [used[0], *used]  # each site is told


def test_the_text_comes_without_its_mark_and_goes_back_with_it(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": b"\xef\xbb\xbfimport apex\r\nx = '\xc3\xa4'"})
    with Spool() as spool:
        outcome = analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1, engine=engine)
        texts = outcome.changed[0].texts
        assert texts is not None
        assert spool.get(texts.new) == b"\xef\xbb\xbfimport torch\r\nx = '\xc3\xa4'"
        assert spool.get(texts.old) == (tmp_path / "x.py").read_bytes()


def echo(text: str, settings: Settings, outside: Outside, standing: Standing) -> ModuleResult:
    return ModuleResult(new_text=text)


def unencodable(text: str, settings: Settings, outside: Outside, standing: Standing) -> ModuleResult:
    return ModuleResult(new_text=text + "# \u20ac\n")


def test_a_text_that_comes_back_as_it_was_is_no_change(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": LEGACY})
    with Spool() as spool:
        assert not analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1, engine=echo).files


def test_a_text_that_its_encoding_cannot_hold_is_not_written(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": "# coding: latin-1\n" + LEGACY})
    with Spool() as spool:
        outcome = analyse(collect([str(tmp_path)]), Settings(), spool, jobs=1, engine=unencodable)
    assert outcome.crashed and not outcome.changed


def test_files_that_share_a_unit_are_written_together() -> None:
    def file(name: str, *units: int) -> Analysed:
        changes = tuple(Change("APX010", unit, 1, 1, Applicability.SAFE, "") for unit in units)
        texts = Texts(Path(name), "", Slot(0, 0), Slot(0, 0))
        return Analysed(FileResult(name, "changed", changes=changes), texts)

    files = [file("a", 1), file("b", 2), file("c", 3, 1), file("d"), file("e", 2, 4), file("f", 4, 3)]
    groups = Outcome(6, tuple(files)).groups()
    named = sorted(sorted(str(texts.location) for texts in group) for group in groups)
    assert named == [["a", "b", "c", "e", "f"], ["d"]]
    assert [len(group) for group in Outcome(2, (file("a", 1), file("b", 2))).groups()] == [1, 1]


def test_texts_of_many_files_lie_on_disk(tmp_path: Path) -> None:
    blob = os.urandom(1 << 20)
    with Spool() as spool:
        slots = [spool.put(blob[at:]) for at in range(12)]
        assert all(spool.get(slot) == blob[at:] for at, slot in enumerate(slots))
        assert spool._file._rolled  # type: ignore[attr-defined]


def test_progress_is_told_of_every_file(tmp_path: Path) -> None:
    tree(tmp_path, {f"{at}.py": NATIVE + "# apex\n" for at in range(9)})
    seen: list[tuple[int, int]] = []
    with Spool() as spool:
        selection = collect([str(tmp_path)])
        analyse(
            selection,
            Settings(),
            spool,
            jobs=2,
            engine=engine,
            progress=lambda done, of: seen.append((done, of)),
        )
    assert seen == [(at, 9) for at in range(1, 10)]


def test_a_program_that_was_widened_holds_all_of_those_it_shares_a_file_with(tmp_path: Path) -> None:
    """Else a file of one that stays would be written: half of it, and told of twice."""
    files = dict.fromkeys(("a.py", "b.py", "c.py", "far.py"), LEGACY) | {"helper.py": "x = 1\n"}
    tree(tmp_path, files)
    selection = collect([str(tmp_path)])
    selection = replace(selection, amp=selection.candidates)
    source = {Path(one.location).name: one for one in selection.candidates}
    source["helper.py"] = replace(source["a.py"], location=str(tmp_path / "helper.py"))

    def program(*names: str) -> Component:
        return Component(tuple(source[name] for name in names), ({},) * len(names))

    near, crossing, beside, apart = (
        (program(*names), ()) for names in (("a.py",), ("b.py", "c.py"), ("b.py", "helper.py"), ("far.py",))
    )
    wide = program("a.py", "b.py")
    assert _all_within(wide, [near, apart], selection) == [near]
    assert _all_within(wide, [near, crossing, apart], selection) is None
    assert _all_within(wide, [near, beside], selection) == [near, beside]  # a helper uses no amp


def _stays(path: str, why: str, *numbers: int) -> FileResult:
    findings = tuple(Finding("APX091", Severity.MANUAL, 1, 1, why, number) for number in numbers)
    return FileResult(path, "unchanged", (), findings, tuple(UnitSummary(n, Applicability.MANUAL, 1) for n in numbers))


def test_a_program_that_stays_says_why_it_does_beside_the_files_around_it(tmp_path: Path) -> None:
    """What the small one lacks, the larger one may have: what is in the way there is worth knowing."""
    tree(tmp_path, dict.fromkeys(("a.py", "b.py"), LEGACY))
    sources = {Path(one.location).name: one for one in collect([str(tmp_path)]).candidates}
    small, wide = Component((sources["a.py"],), ({},)), Component((sources["b.py"], sources["a.py"]), ({}, {}))

    def said(found: FileResult, *more: FileResult) -> FileResult:
        (told,) = _as_wider_says(small, (found,), wide if more else None, {wide: more})
        return told

    lacks = _stays("a.py", "nobody calls it here", 1, 2)
    told = said(lacks, _stays("b.py", "a reader", 1), _stays("a.py", "a reader between them", 2, 3))
    assert told == _stays("a.py", "a reader between them", 1, 2)
    assert said(lacks) is lacks
    for other in (
        _stays("a.py", "another unit", 2),
        _stays("a.py", f"line 3 stays: {TOGETHER}", 2, 3),
        replace(_stays("a.py", "", 2, 3), findings=(Finding("APX001", Severity.MANUAL, 1, 1, "too tangled"),)),
        replace(_stays("a.py", "", 2, 3), findings=()),
    ):
        assert said(lacks, _stays("b.py", "a reader", 1), other) is lacks
    goes = replace(lacks, units=(UnitSummary(1, Applicability.SAFE, 1), UnitSummary(2, Applicability.MANUAL, 1)))
    assert said(goes, _stays("b.py", "a reader", 1), _stays("a.py", "a reader between them", 2, 3)) is goes



def test_a_widened_program_changes_what_a_migrated_one_shares_but_not_what_one_that_stays_does(tmp_path: Path) -> None:
    """A second run did, as the other one needs amp no more by then."""
    serves = "from apex import amp\nfrom samples import sample\n"
    tree(tmp_path, {"asks.py": serves, "serves.py": serves, "third.py": "import serves\n" + serves, "samples.py": ""})
    selection = collect([str(tmp_path)])
    imports = Imports(selection.python, selection.notebooks)
    at = {Path(one.location).name: one for one in selection.candidates}
    at["samples.py"] = replace(at["asks.py"], location=str(tmp_path / "samples.py"))
    wide = Component((at["asks.py"], at["samples.py"]), ({}, {}))
    unit = (UnitSummary(1, Applicability.SAFE, 1),)
    results = [FileResult(name, "changed", units=unit, new=b"new") for name in ("asks.py", "samples.py")]

    def may(**left: int | None) -> bool:
        found = {
            at[f"{name}.py"]: Analysed(
                FileResult(f"{name}.py", "changed", units=unit, needs=None if line is None else Need(line)),
                Texts(Path(at[f"{name}.py"].location), "", Slot(0, 0), Slot(0, 0)),
            )
            for name, line in left.items()
        }
        return _may_change(wide, results, [], found, selection, imports)

    assert may(serves=None, third=None)
    assert not may(serves=None, third=2)  # beside it, it may stay, too
    assert not may(serves=3, third=None)
    assert not may()
