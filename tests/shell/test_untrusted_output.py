"""Names and sources of others neither steer the terminal nor forge a line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from migrate import harmless
from migrate.model import FileResult, Finding, Severity
from migrate.report.diff import unified
from tests.shell.support import LEGACY, NATIVE, command, environment, git, tool, tree
from tests.shell.test_cli import MANUAL, on_terminal
from tests.shell.test_report import text_of

ESCAPE = "\x1b]0;owned\x07"
CONTROLS = "\x1b[2J\x9b31m\x85\u202e\u2066\u2028\u200f\x7f\x08\r\ufeff"
FORGED = "x\napex2native: all is well.\n.py"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def colours_off(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text.replace("\r\n", "\n"))


def test_one_line_stays_one() -> None:
    for text in (CONTROLS, FORGED, ESCAPE, "a\tb"):
        shown = harmless.line(text)
        assert not BAD.search(shown) and "\n" not in shown and "\t" not in shown
        assert len(shown.splitlines()) == 1
    assert harmless.code("\ta\nb\x0c") == "\ta^Jb^L"
    assert harmless.paragraphs("a\n\tb\x0c\u202e") == "a\n\tb^L\\u202e"
    assert harmless.line("\u00e4 \u4f60 \U0001f600") == "\u00e4 \u4f60 \U0001f600"


@pytest.mark.parametrize("name", [f"{CONTROLS}.py", FORGED, f"{ESCAPE}.py"])
@pytest.mark.parametrize("content", [LEGACY, MANUAL, "import apex\nprint 'x'\n", "import apex  # CRASH\n"])
def test_names(tmp_path: Path, name: str, content: str) -> None:
    root = tree(tmp_path, {name: content})
    for run in (tool(root), tool(root, "--check")):
        assert not BAD.search(run.stdout + run.stderr)
        assert not re.search("^apex2native: all", run.stdout + run.stderr, re.M)
    shown = on_terminal(command(root))
    assert not BAD.search(colours_off(shown))


def test_names_on_standard_error(tmp_path: Path) -> None:
    root = tree(tmp_path / f"{FORGED}{CONTROLS}", {"x.py": LEGACY, ".apex2native-journal.json": "{}"})
    for words in ([root], [root, "--write"], [root / "nowhere"], [root, "--report-json", root / "no" / "r"]):
        run = tool(*words)
        assert run.stderr.startswith("apex2native: ")
        assert not BAD.search(run.stderr) and len(run.stderr.splitlines()) == 1
    (root / ".apex2native-journal.json").unlink()
    git(root, "init", "--quiet")
    run = tool(root, "--write")
    assert "not committed" in run.stderr
    assert not BAD.search(run.stderr) and len(run.stderr.splitlines()) == 1


def test_arguments_on_standard_error() -> None:
    for words in ([f"--{ESCAPE}{CONTROLS}"], ["x", "--dtype", CONTROLS], ["explain", CONTROLS]):
        run = tool(*words)
        assert run.returncode == 2
        assert not BAD.search(run.stderr) and len(run.stderr.splitlines()) == 1


def test_an_internal_error_tells_names_harmlessly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from migrate import cli, command

    def fail(*_: object) -> None:
        raise KeyError(f"no {CONTROLS}") from ValueError(CONTROLS)

    monkeypatch.setattr(command, "collect", fail)
    assert cli.main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "Traceback" in said and not BAD.search(said)


def test_sources_on_a_terminal(tmp_path: Path) -> None:
    controls = CONTROLS.replace("\r", "")  # which would end the line for Python
    root = tree(tmp_path, {"x.py": f"x = '{controls}'\n{LEGACY}y = '{ESCAPE}'\t# z\n"})
    shown = on_terminal(command(root))
    assert not BAD.search(colours_off(shown))
    assert "\\u202e\\u2066" in shown and "\\x9b31m" in shown and "^I" not in shown


def test_the_summary() -> None:
    finding = Finding("APX010", Severity.MANUAL, 1, 1, f"say {CONTROLS}{FORGED}", suggestion=f"a{CONTROLS}\n\tb")
    text = text_of(FileResult(f"{CONTROLS}{FORGED}", "unchanged", findings=(finding,)))
    assert not BAD.search(text)
    assert not re.search("^apex2native", text, re.M)


NAMES = [
    "plain.py",
    "with space.py",
    "with\ttab.py",
    "with\nline.py",
    'with"quote.py',
    "with\\back.py",
    "with\x1b[31m.py",
    "\u00e4\u202e.py",
    "a\n+++ b/evil.py",
    "\x07\x08\x0b\x0c\r\x7f.py",
    "two \u00e4.py",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_header_of_a_diff_is_that_of_git(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {name: LEGACY})
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    (tmp_path / name).write_text(NATIVE)
    theirs = git(tmp_path, "-c", "core.quotePath=true", "diff")
    ours = b"".join(unified(name, LEGACY.encode(), NATIVE.encode())).decode("ascii")
    assert ours.split("\n")[:2] == theirs.split("\n")[2:4]
    (tmp_path / name).write_text(LEGACY)
    for patch in (["git", "apply"], ["patch", "-p1", "-R"]):
        subprocess.run(patch, input=ours.encode(), cwd=tmp_path, env=environment(), check=True, capture_output=True)
        assert (tmp_path / name).read_text() == (NATIVE if patch[0] == "git" else LEGACY)
