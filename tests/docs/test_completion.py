"""Completion, in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from migrate import cli, explain

pytest.importorskip("shtab", reason="shtab is not installed")
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {"explain", "verify", "convert-checkpoint"}
FILES = {"a folder", "train.py"}

ASKED = [
    ([""], COMMANDS | FILES),
    (["tr"], {"train.py"}),
    (["ve"], {"verify"}),
    (["--inter"], {"--interactive"}),
    (["train.py", "--wr"], {"--write"}),
    (["--format", ""], {"text", "json", "html", "markdown", "patch", "sarif", "github"}),
    (["--report-json", "t"], {"train.py"}),
    (["explain", "APX05"], {name for page in explain.pages() for name in (page.id, *page.notes) if "X05" in name}),
    (["verify", "--stu"], {"--stub"}),
    (["verify", "--device", ""], {"auto", "cpu", "cuda"}),
    (["convert-checkpoint", "--to"], {"--to-apex"}),
]


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["--print-completion", shell]) == 0
    return capsys.readouterr().out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "here"
    (place / "a folder").mkdir(parents=True)
    (place / "train.py").touch()
    return place


def said(command: list[str], folder: Path) -> set[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return {line.split("\t")[0].rstrip("/").replace("\\", "") for line in done.stdout.splitlines() if line}


@pytest.mark.parametrize(("words", "offered"), ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_bash(words: list[str], offered: set[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "script").write_text(script("bash", capsys))
    ask = (
        'source ../script; COMP_WORDS=(apex2native "$@"); COMP_CWORD=$#; '
        '$(complete -p apex2native | sed "s/.*-F \\([^ ]*\\).*/\\1/"); printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert said(["bash", "-c", ask, "bash", *words], folder) == offered


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("words", "offered"), ASKED, ids=[" ".join(words) for words, _ in ASKED])
def test_fish(words: list[str], offered: set[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "script").write_text(script("fish", capsys))
    line = " ".join(["apex2native", *words])
    assert said(["fish", "--no-config", "-c", f"source ../script; complete -C '{line}'"], folder) == offered


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it offers shows at a terminal alone."""
    (folder.parent / "script").write_text(script("zsh", capsys))
    assert said(["zsh", "-f", "-n", "../script"], folder) == set()


def test_what_cannot_be_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.main(["--print-completion", "cmd"]) == 2
    assert capsys.readouterr().err.startswith("apex2native: name one shell: bash, zsh")
    for words in (["--print-completion"], ["--print-completion", "bash", "."]):
        assert cli.main(words) == 2
        assert capsys.readouterr().err.startswith("apex2native: ")
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert cli.main(["--print-completion", "bash"]) == 2
    assert capsys.readouterr().err == "apex2native: --print-completion needs shtab: pip install shtab.\n"
