"""The JSON report, the diff and the text."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from migrate.errors import UserError
from migrate.model import (
    Applicability,
    Change,
    FileResult,
    Finding,
    Severity,
    UnitSummary,
)
from migrate.outcome import Analysed, Outcome
from migrate.report import console, json_report
from migrate.report.diff import unified
from tests.shell.support import LEGACY, report_of, tool, tree

LINES = st.integers(1, 10**6)
UNITS = st.none() | st.integers(1, 99)
RULES = st.from_regex(r"\AAPX[0-9]{3}\Z")
CHANGES = st.builds(
    Change,
    RULES,
    UNITS,
    LINES,
    LINES,
    st.sampled_from([Applicability.SAFE, Applicability.REVIEW]),
    st.text(),
    st.none() | st.integers(0, 9),
)
FINDINGS = st.builds(
    Finding,
    RULES,
    st.sampled_from(Severity),
    LINES,
    LINES,
    st.text(),
    UNITS,
    st.none() | st.text(),
    st.lists(LINES, max_size=3).map(tuple),
    st.none() | st.integers(0, 9),
)
FILES = st.builds(
    FileResult,
    st.text(min_size=1),
    st.sampled_from(["changed", "unchanged", "unparseable"]),
    st.lists(CHANGES, max_size=3).map(tuple),
    st.lists(FINDINGS, max_size=3).map(tuple),
    st.lists(st.builds(UnitSummary, LINES, st.sampled_from(Applicability), LINES), max_size=3).map(tuple),
)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json_report.schema())


@given(st.lists(FILES, max_size=4), st.sampled_from(["dry-run", "write"]))
def test_every_report_fits_the_schema(files: list[FileResult], mode: json_report.Mode) -> None:
    report = json.loads(json_report.render(json_report.build(files, scanned=9, mode=mode)))
    jsonschema.validate(report, json_report.schema())


def test_the_report_of_a_run(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "changed.py": "import apex\nimport apex  # MANUAL\n",
            "plain.py": "# apex\n",
            "other.py": "",
            "z.py": "print 'apex'\n",
        },
    )
    report = report_of(tmp_path)
    jsonschema.validate(report, json_report.schema())
    assert list(report) == ["schema", "tool", "mode", "summary", "files"]
    assert report["mode"] == "dry-run"
    assert report["summary"] == {
        "files_scanned": 4,
        "files_changed": 1,
        "units": {"safe": 1, "review": 0, "manual": 1},
    }
    assert [(file["path"], file["status"]) for file in report["files"]] == [
        ("changed.py", "changed"),
        ("z.py", "unparseable"),
    ]
    assert report["files"][0]["changes"] == [
        {
            "rule": "APX010",
            "unit": 1,
            "line": 1,
            "end_line": 1,
            "cell": None,
            "applicability": "safe",
            "message": "an import",
        }
    ]
    assert report["files"][0]["findings"] == [
        {
            "rule": "APX010",
            "unit": 2,
            "severity": "manual",
            "line": 2,
            "end_line": 2,
            "lines": [],
            "cell": None,
            "message": "a missing fact",
            "suggestion": "write\nthis",
        }
    ]


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    root = tree(tmp_path / "tree", {f"{at}.py": LEGACY * at for at in range(20)})
    outputs = []
    for name in ("1.json", "2.json"):
        assert tool(root, "-j", name[0], "--report-json", tmp_path / name).returncode == 1
        outputs.append((tmp_path / name).read_bytes())
    assert outputs[0] == outputs[1]


def test_a_report_replaces_the_old_one_wholly_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "r.json"
    target.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UserError, match="no space left on device"):
        json_report.write({}, str(target))
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_report_goes_through_a_link_and_into_a_device(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    json_report.write({"x": 1}, str(tmp_path / "link.json"))
    assert json.loads((tmp_path / "real.json").read_text()) == {"x": 1}
    json_report.write({}, os.devnull)
    assert not Path(os.devnull).is_file()


TEXTS = st.lists(st.sampled_from([b"a\n", b"b\r\n", b"c\x0c\n", b"\n", b"\xe4\n", b"d\re\n"]), max_size=12)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("patches")


@given(TEXTS, TEXTS, st.booleans(), st.booleans())
def test_the_diff_is_a_patch(
    workplace: Path, old: list[bytes], new: list[bytes], cut: bool, trim: bool
) -> None:
    before = b"x\n" + b"".join(old) + b"end"[: 3 * cut]
    after = b"x\n" + b"".join(new) + b"end"[: 3 * trim]
    patch = b"".join(unified("f.py", before, after))
    if before == after:
        assert patch == b""
        return
    (workplace / "f.py").write_bytes(before)
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=patch, cwd=workplace, check=True)
    assert (workplace / "f.py").read_bytes() == after


def text_of(*results: FileResult, written: bool = False, **options: bool) -> str:
    target = io.StringIO()
    outcome = Outcome(12, tuple(Analysed(result) for result in results))
    console.print_summary(Console(file=target, soft_wrap=True, width=80, **options), outcome, written=written)  # type: ignore[arg-type]
    return target.getvalue()


def test_the_summary() -> None:
    findings = (
        Finding(
            "APX010",
            Severity.MANUAL,
            3,
            5,
            "who owns it? " + "long " * 30 + "end",
            suggestion="if a:\n    b()",
        ),
        Finding("APX011", Severity.INFO, 7, 7, "also there", lines=(9, 8)),
    )
    units = (UnitSummary(1, Applicability.MANUAL, 3), UnitSummary(2, Applicability.SAFE, 9))
    text = text_of(FileResult("a/b.py", "unchanged", findings=findings, units=units))
    assert text.splitlines() == [
        "Files        12 scanned         0 to change",
        "Units         1 safe            0 review          1 manual",
        "Findings      1 manual          0 review          1 info",
        "",
        "a/b.py",
        "  manual  APX010  lines 3-5: who owns it? " + "long " * 30 + "end",
        "          if a:",
        "              b()",
        "  info    APX011  lines 7, 8, 9: also there",
        "",
        "1 file needs work by hand.",
        "",
        "Next: look at a/b.py:3 first.",
    ]
    assert text_of().endswith("\n\nNothing is left to do.\n")


def test_escape_sequences_of_a_file_do_not_reach_the_terminal() -> None:
    finding = Finding("APX010", Severity.INFO, 1, 1, "say \x1b]0;title\x07", suggestion="\x1b[2J\tx")
    text = text_of(FileResult("\x1b[1m.py", "unchanged", findings=(finding,)))
    assert "\x1b" not in text and "\x07" not in text
    assert "^[]0;title^G" in text
