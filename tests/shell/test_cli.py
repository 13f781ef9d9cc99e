"""The command line: exit codes, refusals, output on a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from migrate import __version__
from tests.shell.support import (
    LEGACY,
    NATIVE,
    PROJECT,
    command,
    environment,
    leftovers,
    tool,
    tree,
)

MANUAL = "import apex  # MANUAL\n"


def on_terminal(words: Sequence[str], **extra: str) -> str:
    """What a command prints when both its outputs are a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(words, env=environment(TERM="xterm", **extra), stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    child.wait(timeout=30)
    return b"".join(parts).decode()


@pytest.mark.parametrize(
    ("files", "options", "code"),
    [
        ({"x.py": "x = 1\n"}, [], 0),
        ({"x.py": NATIVE + "# apex\n"}, [], 0),
        ({"x.py": LEGACY}, [], 1),
        ({"x.py": LEGACY}, ["--check"], 1),
        ({"x.py": LEGACY}, ["--write"], 0),
        ({"x.py": LEGACY + MANUAL}, ["--write"], 1),
        ({"x.py": MANUAL}, [], 1),
        ({"x.py": "import apex\nprint 'x'\n"}, ["--write"], 1),
        ({"x.py": "CRASH = 'apex'\n", "y.py": LEGACY}, ["--write"], 2),
    ],
)
def test_exit_codes(tmp_path: Path, files: dict[str, str], options: list[str], code: int) -> None:
    assert tool(tree(tmp_path, files), *options).returncode == code


def test_a_dry_run_writes_nothing_and_a_second_write_changes_nothing(tmp_path: Path) -> None:
    root = tree(tmp_path, {"x.py": b"import apex\r\ny = 1"})
    before = (root / "x.py").stat()
    for options in ([], ["--check"], ["--format", "json"]):
        tool(root, *options)
    after = (root / "x.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert tool(root, "--write").returncode == 0
    assert (root / "x.py").read_bytes() == b"import torch\r\ny = 1"
    written = (root / "x.py").stat()
    assert tool(root, "--write").returncode == 0
    assert (root / "x.py").stat().st_mtime_ns == written.st_mtime_ns
    assert not leftovers(root)


def test_a_crash_on_one_file_does_not_keep_others_from_being_written(tmp_path: Path) -> None:
    root = tree(tmp_path, {"x.py": "CRASH = 'apex'\n", "y.py": LEGACY})
    run = tool(root, "--write", "--report-json", tmp_path / "r.json")
    assert run.returncode == 2
    assert (root / "y.py").read_text() == NATIVE
    (crashed,) = [file for file in json.loads((tmp_path / "r.json").read_text())["files"] if file["findings"]]
    assert crashed["findings"][0]["rule"] == "APX000"


def test_a_link_that_is_named_stays_a_link(tmp_path: Path) -> None:
    tree(tmp_path, {"real.py": LEGACY})
    (tmp_path / "link.py").symlink_to("real.py")
    assert tool(tmp_path / "link.py", "--write").returncode == 0
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_text() == NATIVE


def test_files_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": LEGACY + "a = 1\n", "tree/x.py": LEGACY + "b = 2\n"})
    run = tool("tree", "x.py", "--write", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "x.py").read_text() == NATIVE + "a = 1\n"
    assert (tmp_path / "tree" / "x.py").read_text() == NATIVE + "b = 2\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name at least one PATH"),
        (["migrate"], "name at least one PATH"),
        (["nowhere"], "there is no file or directory nowhere."),
        (["lint", "x.py"], "the command lint is not part of this version (a path of that name is ./lint)."),
        (["x.py", "--format", "xml"], "the formats are text, json, sarif, html, patch, github, markdown, not 'xml'"),
        (["x.py", "--dtype", "float32"], "dtype is one of float16, bfloat16"),
        (["x.py", "--eval", "no"], "eval is one of autocast, fp32"),
        (["x.py", "--target-torch", "two"], "target-torch is a version"),
        (["x.py", "--target-torch", "1.5"], "target-torch is 1.6 or newer"),
        (["x.py", "--device-type", "cuda:0"], "device-type is a word"),
        (["x.py", "--dtype", "bfloat16", "--target-torch", "1.9"], "need target-torch 1.10 or newer"),
        (["x.py", "-j", "0"], "jobs is a whole number"),
        (["x.py", "-j", "many"], "jobs is a whole number"),
        (["x.py", "--write", "--check"], "not allowed with argument"),
        ([""], "there is no file or directory of an empty name."),
        (["x.py", "--wri"], "unrecognized arguments: --wri"),
        (["x.py", "--report-json", "no/such/r.json"], "there is no directory no/such."),
        (["x.py", "--report-json", "."], "it is a directory"),
        (["x.py", "--dtype", "float16", "--dtype", "bfloat16"], "--dtype is given twice, with different values"),
        (["x.py", "--eval=fp32", "--eval=autocast"], "--eval is given twice"),
        (["x.py", "--format", "text", "--format", "json"], "--format is given twice"),
        (["x.py", "-j", "1", "--jobs", "2"], "-j/--jobs is given twice"),
        (["--report-json", "a.json", "x.py", "--report-json", "b.json"], "--report-json is given twice"),
    ],
)
def test_wrong_usage_is_one_sentence(tmp_path: Path, words: list[str], said: str) -> None:
    tree(tmp_path, {"x.py": LEGACY})
    run = tool(*words, cwd=tmp_path)
    assert run.returncode == 2
    assert run.stdout == ""
    (line,) = run.stderr.splitlines()
    assert line.startswith("apex2native: ") and said in line
    assert (tmp_path / "x.py").read_text() == LEGACY


def test_what_is_said_twice_alike_holds(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": LEGACY, "y.py": LEGACY})
    words = ["x.py", "x.py", "./x.py", "--dtype", "float16", "--dtype=float16", "-j1", "-j", "1", "--write", "--write"]
    run = tool(*words, "--exclude", "a", "--exclude", "b", cwd=tmp_path)
    assert run.returncode == 0 and "1 scanned" in run.stdout, run.stderr
    assert (tmp_path / "x.py").read_text() == NATIVE and (tmp_path / "y.py").read_text() == LEGACY


@pytest.mark.parametrize("name", ["x.py", "sub/y.ipynb", "link.json", "script", "pyproject.toml", "new.py"])
def test_the_report_never_takes_the_place_of_a_source(tmp_path: Path, name: str) -> None:
    files = {"x.py": LEGACY, "sub/y.ipynb": "{}", "script": LEGACY, "pyproject.toml": ""}
    tree(tmp_path, files)
    (tmp_path / "link.json").symlink_to("x.py")
    for options in ([], ["--write"]):
        run = tool(".", "script", "--report-json", name, *options, cwd=tmp_path)
        assert run.returncode == 2
        assert run.stderr == (
            f"apex2native: the report cannot be written to {name}: that is the name of a source file.\n"
        )
    assert {one: (tmp_path / one).read_text() for one in files} == files
    assert not (tmp_path / "new.py").exists()


def test_the_report_only_takes_the_place_of_a_report(tmp_path: Path) -> None:
    other = {"setup.cfg": "[metadata]\n", "package.json": "{}\n", "notes": "\n\nmine"}
    tree(tmp_path, {"x.py": LEGACY, "empty.json": "", **other})
    for name, text in other.items():
        run = tool("x.py", "--write", "--report-json", name, cwd=tmp_path)
        said = f"the report cannot be written to {name}: what is there is no report, and would be lost."
        assert run.returncode == 2 and run.stderr == f"apex2native: {said}\n"
        assert (tmp_path / name).read_text() == text and (tmp_path / "x.py").read_text() == LEGACY
    for _ in range(2):
        assert tool("x.py", "--report-json", "empty.json", cwd=tmp_path).returncode == 1
        assert json.loads((tmp_path / "empty.json").read_text())["schema"] == 1


@pytest.mark.parametrize("columns", ["0", "-1", "1", "many"])
def test_any_width_of_the_terminal_will_do(tmp_path: Path, columns: str) -> None:
    root = tree(tmp_path, {f"{at}.py": LEGACY for at in range(70)} | {"m.py": MANUAL})
    for options in ([], ["--check"], ["--help"]):
        run = tool(root, *options, COLUMNS=columns, LINES=columns)
        assert run.returncode == int(options != ["--help"]) and run.stderr == ""
        assert options == ["--help"] or "70 to change" in run.stdout
        shown = on_terminal(command(root, *options), COLUMNS=columns, LINES=columns)
        assert "Traceback" not in shown and shown
        assert options != ["--check"] or columns == "1" or "70 to change" in shown


CLOSED = ("1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-")


@pytest.mark.parametrize("closed", CLOSED)
def test_closed_streams_change_nothing_but_what_is_said(tmp_path: Path, closed: str) -> None:
    root = tree(tmp_path, {f"{at}.py": LEGACY for at in range(12)})

    def run(*words: str | Path) -> tuple[int, str]:
        shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *command(*words)]
        done = subprocess.run(shell, env=environment(), stderr=subprocess.PIPE, text=True, timeout=60)
        return done.returncode, done.stderr

    assert run(root, "-j", "2") == (1, "")
    assert run(root, "--format", "json") == (1, "")
    assert run("--help") == run("--version") == (0, "")
    code, said = run("nowhere")
    assert code == 2 and said == ("" if "2>&-" in closed else "apex2native: there is no file or directory nowhere.\n")
    assert run(root, "--write", "--report-json", tmp_path / "r.json") == (0, "")
    assert {path.read_text() for path in root.glob("*.py")} == {NATIVE}
    assert json.loads((tmp_path / "r.json").read_text())["summary"]["files_changed"] == 12


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_an_output_that_takes_nothing_is_one_sentence(tmp_path: Path) -> None:
    root = tree(tmp_path, {"x.py": LEGACY})
    for options, but in (([], ""), (["--format", "json"], ""), (["--write"], ", but the files were")):
        with open("/dev/full", "w") as full:
            run = subprocess.run(
                command(root, *options), env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
            )
        assert run.returncode == 2
        assert run.stderr == f"apex2native: the output cannot be written: no space left on device{but}.\n"
    assert (root / "x.py").read_text() == NATIVE


def test_the_first_word_may_be_a_command_and_else_is_a_path(tmp_path: Path) -> None:
    tree(tmp_path, {"lint/x.py": LEGACY, "migrate/y.py": LEGACY})
    assert "+++ b/x.py" in tool("./lint", cwd=tmp_path).stdout
    assert "+++ b/x.py" in tool("migrate", "lint", cwd=tmp_path).stdout
    assert "+++ b/y.py" in tool("migrate", "migrate", cwd=tmp_path).stdout
    assert "+++ b/lint/x.py" in tool("--safe-only", "lint", "-j1", "migrate", cwd=tmp_path).stdout


def test_version_and_help() -> None:
    assert tool("--version").stdout == f"apex2native {__version__}\n"
    for words in (["-h"], ["--help"], ["migrate", "-h"], ["explain", "-h"]):
        run = tool(*words)
        assert run.returncode == 0 and run.stdout.startswith("usage: apex2native")


def test_the_version_of_the_package_is_that_of_its_metadata() -> None:
    assert f'\nversion = "{__version__}"\n' in (PROJECT / "pyproject.toml").read_text()


def test_text_in_a_pipe_is_plain(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": b"# coding: latin-1\nimport apex\nx = '\xe4'\n", "y.py": MANUAL})
    run = subprocess.run(command(tmp_path), env=environment(), capture_output=True, timeout=30)
    assert run.stderr == b""
    assert b"\x1b" not in run.stdout
    assert b" x = '\xe4'\n" in run.stdout, "the diff keeps the bytes of the file"
    assert b"-import apex\n+import torch\n" in run.stdout
    assert b"\nNothing was written: run again with --write" in run.stdout
    assert run.stdout.count(b"1 file needs work by hand.\n") == 1


def test_check_and_write_print_the_summary_alone(tmp_path: Path) -> None:
    root = tree(tmp_path, {"x.py": LEGACY})
    for option, word in (("--check", "1 to change"), ("--write", "1 changed")):
        run = tool(root, option)
        assert "@@" not in run.stdout and word in run.stdout


def test_json_is_all_that_is_printed(tmp_path: Path) -> None:
    root = tree(tmp_path, {"x.py": LEGACY})
    for options, mode in (([], "dry-run"), (["--write"], "write")):
        run = tool(root, "--format", "json", *options)
        assert json.loads(run.stdout)["mode"] == mode
        assert json.loads(run.stdout)["summary"]["files_changed"] == 1
        (root / "x.py").write_text(LEGACY)


def test_colours_on_a_terminal(tmp_path: Path) -> None:
    root = tree(tmp_path, {"x.py": "import apex  # \x1b[31m\n", "y.py": MANUAL})
    coloured = on_terminal(command(root))
    assert "\x1b[32m+import torch  # ^[[31m" in coloured
    assert "\x1b[1;31mmanual" in coloured
    plain = on_terminal(command(root), NO_COLOR="1")
    assert "\x1b[3" not in plain and "+import torch" in plain


def test_a_progress_bar_on_long_trees(tmp_path: Path) -> None:
    root = tree(tmp_path, {f"{at}.py": NATIVE + "# apex\n" for at in range(70)})
    assert "70/70" in on_terminal(command(root))
    assert "70/70" not in tool(root).stderr
    assert "1/1" not in on_terminal(command(tree(tmp_path / "short", {"x.py": "# apex\n"})))


@pytest.mark.parametrize("options", [[], ["--format", "json"], ["--write"]])
def test_a_reader_that_leaves_is_no_error(tmp_path: Path, options: list[str]) -> None:
    root = tree(tmp_path, {f"{at}.py": LEGACY + "x = 1\n" * 50 + MANUAL * 200 for at in range(20)})
    child = subprocess.Popen(
        command(root, *options), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None and child.stderr is not None
    child.stdout.read(10)
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(timeout=30) == 1
    assert (root / "0.py").read_text().startswith(NATIVE if "--write" in options else LEGACY)


def test_an_output_that_cannot_say_a_name(tmp_path: Path) -> None:
    root = tree(tmp_path, {"\u00e4.py": MANUAL, "b.py": "print 'apex \u20ac'\n"})
    run = tool(root, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert run.returncode == 1 and "\\xe4.py" in run.stdout


def test_settings_reach_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from migrate import cli
    from migrate.model import ModuleResult, Outside, Settings, Standing

    seen: list[Settings] = []

    def engine(text: str, settings: Settings, outside: Outside, standing: Standing) -> ModuleResult:
        seen.append(settings)
        return ModuleResult(None)

    path = str(tree(tmp_path, {"x.py": LEGACY}) / "x.py")
    words = ["--dtype", "bfloat16", "--device-type", "xpu", "--target-torch", "2.10.1", "--eval", "fp32"]
    assert cli.main([path, *words, "--safe-only"], engine) == 0
    assert cli.main([path], engine) == 0
    assert seen == [Settings("bfloat16", "xpu", (2, 10), "fp32", True), Settings()]


def test_an_internal_error_is_exit_code_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from migrate import cli, command

    monkeypatch.setattr(command, "collect", lambda *_: 1 / 0)
    assert cli.main([str(tmp_path)]) == 2
    assert "internal error" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "spared"),
    [(["--version"], ("migrate.pipeline", "rich")), (["--check", "."], ("migrate.engine", "pyflakes"))],
)
def test_nobody_waits_for_what_is_not_needed(tmp_path: Path, words: list[str], spared: tuple[str, ...]) -> None:
    """The version needs nothing, a tree without Apex no engine."""
    tree(tmp_path, {"x.py": "import torch\n"})
    program = f"import sys; from migrate import cli; cli.main({words}); print(sys.modules.keys() & {set(spared)})"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60
    )
    assert run.stdout.endswith("\nset()\n"), run.stdout + run.stderr
