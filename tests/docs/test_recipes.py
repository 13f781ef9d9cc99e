"""The files that others copy: their YAML is read, their commands are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.report.made import BY_HAND, LEGACY, git

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs" / "recipes"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    place = tmp_path / "clone"
    place.mkdir()
    (place / "train.py").write_text(LEGACY)
    (place / "other.py").write_text(BY_HAND)
    (place / "requirements.txt").write_text("torch\n")
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "-c", "user.email=a@b.c", "-c", "user.name=n", "commit", "-q", "-m", "x")
    return place


@pytest.fixture
def shell(tmp_path: Path) -> Any:
    """Runs a command with `apex2native` on the path, and `pip` doing nothing."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "apex2native").write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m migrate "$@"\n')
    (tools / "pip").write_text("#!/bin/sh\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)

    def run(command: str, cwd: Path) -> int:
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "APEX2NATIVE": "x"}
        return subprocess.run(["sh", "-e", "-c", command], cwd=cwd, env=environment, check=False).returncode

    return run


def read(name: str) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load((RECIPES / name).read_text())
    return found


def test_the_github_workflow(clone: Path, shell: Any) -> None:
    steps = read("github-action.yml")["jobs"]["check"]["steps"]
    codes = [shell(step["run"], clone) for step in steps if "run" in step]
    assert codes == [0, 1, 0], "the check fails, and the log is there all the same"
    assert '"version": "2.1.0"' in (clone / "apex2native.sarif").read_text()
    assert steps[-1]["with"]["sarif_file"] == "apex2native.sarif"


def test_the_gitlab_job(clone: Path, shell: Any) -> None:
    job = read("gitlab-ci.yml")["apex"]
    assert [shell(line, clone) for line in job["script"]] == [0, 0, 1]
    assert "</html>" in (clone / job["artifacts"]["paths"][0]).read_text()


def test_the_batch_change(clone: Path, shell: Any, tmp_path: Path) -> None:
    spec = read("batch-change.yml")
    (step,) = spec["steps"]
    assert shell(step["run"].replace("/tmp/body.md", str(tmp_path / "body.md")), clone) == 0
    assert "### Left by hand" in (tmp_path / "body.md").read_text()
    assert b"GradScaler" in git(clone, "diff")
    assert {"title", "body", "branch", "commit", "published"} <= set(spec["changesetTemplate"])


def test_multi_gitter_commits_what_could_be_migrated(clone: Path, shell: Any) -> None:
    script = RECIPES / "multi-gitter.sh"
    assert os.access(script, os.X_OK)
    assert shell(str(script), clone) == 0
    assert b"GradScaler" in git(clone, "diff")
    (clone / "train.py").write_text(LEGACY + "# mine\n")  # what git could not bring back is refused
    assert shell(str(script), clone) == 1


def test_the_hooks() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["apex2native-check", "apex2native-fix"]
    for hook in hooks:
        assert hook["entry"] == "apex2native" and hook["language"] == "python"
        assert hook["pass_filenames"] is False and hook["require_serial"] is True
        assert hook["args"][0] == "."


def test_the_hooks_commands_on_a_repository(clone: Path, shell: Any) -> None:
    check, fix = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert shell(" ".join([check["entry"], *check["args"]]), clone) == 1
    (clone / "other.py").unlink()
    assert shell(" ".join([fix["entry"], *fix["args"]]), clone) == 0
    assert shell(" ".join([check["entry"], *check["args"]]), clone) == 0


def test_the_image_installs_what_it_says() -> None:
    lines = (RECIPES / "Dockerfile").read_text().splitlines()
    words = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert words == ["FROM", "COPY", "RUN", "WORKDIR", "CMD"]
    assert any("/apex2native[report]" in line for line in lines)


@pytest.mark.parametrize("name", ["bash", "zsh", "tcsh"])
def test_completion_is_printed(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", "--print-completion", name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "interactive" in done.stdout, done.stderr


def test_bash_completes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", "--print-completion", "bash"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / "completion").write_text(done.stdout)
    asked = (
        f"source {tmp_path}/completion; COMP_WORDS=(apex2native --inter); COMP_CWORD=1; "
        "$(complete -p apex2native | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo \"${COMPREPLY[@]}\""
    )
    said = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["--interactive"], said.stderr
