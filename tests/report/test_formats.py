"""Each format, opened by what it is for."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from migrate import cli
from migrate.report import markdown
from migrate.report.sarif import _replacements
from tests.report.made import FILES, git, repository, tool


def files_of(place: Path) -> dict[str, bytes]:
    return {name: (place / name).read_bytes() for name in FILES}


# ---------------------------------------------------------------- patch


def test_a_patch_is_what_write_does(legacy: Path, migrated: Path, tmp_path: Path) -> None:
    patch = tool(".", "--format", "patch", cwd=legacy)
    assert patch.returncode == 1
    place = repository(tmp_path / "again")
    git(place, "apply", "--check", "-", given=patch.stdout)
    git(place, "apply", "-", given=patch.stdout)
    assert files_of(place) == files_of(migrated)
    assert files_of(place) != files_of(legacy)
    git(place, "apply", "-R", "-", given=patch.stdout)
    assert files_of(place) == files_of(legacy)


def test_a_patch_of_a_folder_fits_the_top_of_the_repository(legacy: Path, tmp_path: Path) -> None:
    patch = tool("sub", "--format", "patch", cwd=legacy).stdout
    place = repository(tmp_path / "again")
    git(place, "apply", "-", given=patch)
    changed = git(place, "-c", "core.quotepath=false", "diff", "--name-only", "-z").decode().split("\0")
    assert sorted(filter(None, changed)) == sorted(name for name in FILES if name.startswith("sub/"))
    assert tool(".", "--format", "patch", cwd=legacy / "sub").stdout == patch


@pytest.mark.parametrize(
    ("words", "start", "names"),
    [
        (["{place}/plain.py"], "/", {"plain.py"}),  # whoever runs it stands elsewhere, or in another repository
        (["{place}/sub/with space.py"], str(Path(__file__).parent), {"sub/with space.py"}),
        (["{place}/sub", "{place}/crlf.py"], "/", {name for name in FILES if name.startswith("sub/")} | {"crlf.py"}),
        (["sub", "sub/with space.py"], "{place}", {name for name in FILES if name.startswith("sub/")}),
        ([".", "sub"], "{place}", {name for name in FILES if name not in ("hand.py", "ignored.py")}),
        (["link.py"], "{place}", {"plain.py"}),  # a patch of a link cannot be applied
        (["linked"], "{place}", {name for name in FILES if name.startswith("sub/")}),
    ],
)
def test_a_patch_fits_wherever_it_is_made(tmp_path: Path, words: list[str], start: str, names: set[str]) -> None:
    place = repository(tmp_path)
    (place / "link.py").symlink_to("plain.py")
    (place / "linked").symlink_to("sub")
    told = [word.format(place=place) for word in words]
    patch = tool(*told, "--format", "patch", cwd=Path(start.format(place=place))).stdout
    git(place, "apply", "-", given=patch)
    changed = git(place, "-c", "core.quotepath=false", "diff", "--name-only", "-z").decode().split("\0")
    assert set(filter(None, changed)) == names


def test_a_name_that_is_no_utf_8_is_patched_and_placed(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        (tmp_path / name).write_bytes(FILES["plain.py"])
    except OSError:
        pytest.skip("this file system takes no such name")
    git(tmp_path, "init", "-q")
    git(tmp_path, "apply", "-", given=tool(".", "--format", "patch", cwd=tmp_path).stdout)
    assert b"GradScaler" in (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(FILES["plain.py"])
    log = json.loads(tool(".", "--format", "sarif", cwd=tmp_path).stdout)
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in log["runs"][0]["results"]}
    assert uris == {"caf%E9.py"}
    assert rb"`caf\xe9.py`" in tool(".", "--format", "markdown", cwd=tmp_path).stdout


def test_outside_of_a_repository_a_patch_names_files_as_they_were_given(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_bytes(FILES["plain.py"])
    patch = tool(".", "--format", "patch", cwd=tmp_path).stdout
    done = subprocess.run(["patch", "-p1"], cwd=tmp_path, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    assert b"GradScaler" in (tmp_path / "plain.py").read_bytes()


def test_nothing_to_change_is_an_empty_patch(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("import torch\n")
    done = tool(".", "--format", "patch", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")


def test_after_write_the_patch_says_what_was_done(legacy: Path, tmp_path: Path) -> None:
    place = repository(tmp_path / "again")
    done = tool(".", "--write", "--format", "patch", cwd=place)
    assert done.stdout == tool(".", "--format", "patch", cwd=legacy).stdout


# ---------------------------------------------------------------- github

_COMMAND = re.compile(r"::(error|warning|notice) ([^:\n]*)::([^\n]*)")


def unescaped(text: str) -> str:
    for code, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, plain)
    return text


def test_a_name_steers_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m\x9b\r\u202e.py").write_bytes(FILES["plain.py"])
    shown = tool(".", "--format", "github", cwd=tmp_path).stdout.decode()
    assert "file=a^[[31m\\x9b^M\\u202e.py" in shown
    assert not set(shown) & set("\x1b\x9b\r\u202e")


def test_annotations_are_commands_and_nothing_else(legacy: Path) -> None:
    done = tool(".", "--format", "github", cwd=legacy)
    lines = done.stdout.decode().splitlines()
    found = [_COMMAND.fullmatch(line) for line in lines]
    assert lines and all(found), [line for line, one in zip(lines, found, strict=True) if one is None]
    levels = [one[1] for one in found if one]
    assert levels[0] == "error", "what is left by hand comes first: GitHub shows ten of a level"
    assert {"error", "warning", "notice"} == set(levels)
    named = {
        unescaped(value)
        for one in found
        if one
        for key, _, value in (part.partition("=") for part in one[2].split(","))
        if key == "file"
    }
    assert named <= set(FILES)
    assert "sub/line\nend,colon:%.py" in named
    for one in filter(None, found):
        keys = [part.partition("=")[0] for part in one[2].split(",")]
        assert keys == ["file", "line", "endLine", "title"] or keys == ["file", "line", "title"]


# ---------------------------------------------------------------- sarif


@pytest.fixture(scope="module")
def log(legacy: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(tool(".", "--format", "sarif", cwd=legacy).stdout)
    return found


def test_the_log_has_what_code_scanning_reads(log: dict[str, Any]) -> None:
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"] and rule["help"]["text"] and rule["fullDescription"]["text"]
    prints = [result["partialFingerprints"]["apex2native/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
        uri = place["artifactLocation"]["uri"]
        assert re.fullmatch(r"[\w./%~-]+", uri, re.ASCII), uri
        assert unquote(uri) in FILES
        assert 1 <= place["region"]["startLine"] <= place["region"]["endLine"]
    levels = {result["level"] for result in run["results"]}
    assert levels == {"error", "warning", "note"}


def test_what_is_ignored_is_suppressed(log: dict[str, Any]) -> None:
    held = [result for result in log["runs"][0]["results"] if result.get("suppressions")]
    assert held
    assert {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in held} == {"ignored.py"}
    assert all(one["kind"] == "inSource" for result in held for one in result["suppressions"])


@pytest.mark.skipif("SARIF_SCHEMA" not in os.environ, reason="SARIF_SCHEMA names no file with OASIS's schema")
def test_the_log_is_valid(log: dict[str, Any]) -> None:
    schema = json.loads(Path(os.environ["SARIF_SCHEMA"]).read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(log)


def test_fixes_give_what_write_does(log: dict[str, Any], legacy: Path, migrated: Path) -> None:
    changes = [
        change
        for result in log["runs"][0]["results"]
        for fix in result.get("fixes", ())
        for change in fix["artifactChanges"]
    ]
    assert len(changes) == len([name for name in FILES if files_of(legacy)[name] != files_of(migrated)[name]])
    for change in changes:
        name = unquote(change["artifactLocation"]["uri"])
        encoding = {"latin.py": "latin-1", "mark.py": "utf-8-sig"}.get(name, "utf-8")
        before = FILES[name].decode(encoding)
        after = (migrated / name).read_bytes().decode(encoding)
        assert applied(before, change["replacements"]) == after, name


def applied(text: str, replacements: list[dict[str, Any]]) -> str:
    """As SARIF says: positions are those of the old text, columns count UTF-16 units from 1."""
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text))]

    def offset(line: int, column: int) -> int:
        start = starts[line - 1]
        rest = text[start:].encode("utf-16-le")[: (column - 1) * 2].decode("utf-16-le")
        return start + len(rest)

    for one in reversed(replacements):
        region = one["deletedRegion"]
        first = offset(region["startLine"], region["startColumn"])
        last = offset(region["endLine"], region["endColumn"])
        text = text[:first] + one["insertedContent"]["text"] + text[last:]
    return text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("", "x\n"),
        ("\U0001f600 a", "\U0001f600 b"),
        ("a\r\nb\r\n", "a\r\nx\r\ny\r\n"),
        ("a\rb\rc", "a\rc"),
        ("a\n", ""),
    ],
)
def test_replacements_at_every_end(before: str, after: str) -> None:
    assert applied(before, list(_replacements(before, after))) == after


def test_fingerprints_outlive_moved_lines(log: dict[str, Any], tmp_path: Path) -> None:
    place = repository(tmp_path / "again")
    for name in ("plain.py", "hand.py"):
        (place / name).write_bytes(b"# one\n# more\n" + FILES[name])

    def prints(found: dict[str, Any], name: str) -> list[str]:
        return [
            result["partialFingerprints"]["apex2native/v1"]
            for result in found["runs"][0]["results"]
            if result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == name
        ]

    moved = json.loads(tool(".", "--format", "sarif", cwd=place).stdout)
    for name in ("plain.py", "hand.py"):
        assert prints(moved, name) == prints(log, name) != []


# ---------------------------------------------------------------- markdown


def test_markdown_says_what_changed_what_to_look_at_and_what_was_proved(legacy: Path) -> None:
    text = tool(".", "--format", "markdown", cwd=legacy).stdout.decode()
    for title in ("### Left by hand", "### To look at", "### To change", "### What was proved"):
        assert title in text
    assert "| `plain.py` |" in text
    assert "- [ ] `hand.py` line" in text
    assert text.count("<details>") == text.count("</details>")


def test_nothing_of_a_name_or_a_source_is_markup(legacy: Path) -> None:
    text = tool(".", "--format", "markdown", cwd=legacy).stdout.decode()
    without_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    without_code = "\n".join(line for line in without_code.splitlines() if not line.startswith("      "))
    assert "<b>" not in without_code and "<img" not in without_code
    assert not re.search(r"@\w", without_code)
    assert "\u202e" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and ".py" in line]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows), rows


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a *b* _c_ d_e", r"a \*b\* \_c\_ d_e"),
        ("see #12 and @me", "see \\#12 and @\u200bme"),
        ("`x | y` <b>", r"`x | y` \<b\>"),
        ("one ` alone", r"one \` alone"),
        ("https://a.b", "https:\u200b//a.b"),
    ],
)
def test_sentences(said: str, shown: str) -> None:
    assert markdown.plain(said) == shown


@pytest.mark.parametrize(("text", "shown"), [("a", "`a`"), ("`", "`` ` ``"), ("a``b", "```a``b```"), (" ", "`   `")])
def test_code_in_a_line(text: str, shown: str) -> None:
    assert markdown.code(text) == shown


def test_a_long_text_is_cut_where_github_would_refuse_it(tmp_path: Path) -> None:
    for number in range(450):
        (tmp_path / f"{'a_long_name_' * 8}{number}.py").write_bytes(FILES["hand.py"])
    text = tool(".", "--format", "markdown", "-j", "1", cwd=tmp_path).stdout.decode()
    assert len(text) <= 65_536
    assert "Cut here" in text
    assert text.count("<details>") == text.count("</details>")


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", ["sarif", "html", "patch", "github", "markdown"])
def test_every_format_is_the_same_each_time_and_has_the_same_exit_code(legacy: Path, name: str) -> None:
    one = tool(".", "--format", name, "-j", "1", cwd=legacy)
    other = tool(".", "--format", name, "-j", "2", "--report-json", "/dev/null", cwd=legacy)
    assert one.stdout == other.stdout
    assert one.returncode == other.returncode == 1
    assert tool("plain.py", "--format", name, "--check", cwd=legacy).returncode == 1


def test_html_without_jinja2_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    (tmp_path / "x.py").write_bytes(FILES["plain.py"])
    assert cli.main([str(tmp_path), "--write", "--format", "html"]) == 2
    assert "jinja2, which comes with the extra report" in capsys.readouterr().err
    assert (tmp_path / "x.py").read_bytes() == FILES["plain.py"]
