"""The files that others copy: read as their engines read them, their commands run in real repositories."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.report.made import BY_HAND, LEGACY, git

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs" / "recipes"
FAILS = 2  # what apex2native says of a refusal

Shell = Callable[..., int]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a script to migrate, one that is left by hand, and both committed."""
    place = tmp_path / "a clone"
    place.mkdir()
    (place / "train.py").write_text(LEGACY)
    (place / "other.py").write_text(BY_HAND)
    (place / "requirements.txt").write_text("torch\n")
    git(place, "init", "-q", "-b", "main")
    for key, value in (("user.email", "a@b.c"), ("user.name", "n"), ("commit.gpgsign", "false")):
        git(place, "config", key, value)
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "x")
    return place


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for the path: `apex2native` as it is here, `pip` doing nothing, `gh` writing down what it is asked."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "apex2native").write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from migrate.__main__ import main\nsys.exit(main())\n"
    )
    (place / "pip").write_text("#!/bin/sh\n")
    (place / "gh").write_text('#!/bin/sh\necho "$@" >>"$ASKED"\ncase $* in *--jq*) printf "$COMMENTS" ;; esac\n')
    for tool in place.iterdir():
        tool.chmod(0o755)
    return place


@pytest.fixture
def shell(tmp_path: Path, tools: Path) -> Shell:
    def run(command: str, cwd: Path, engine: str = "sh -e", **more: str) -> int:
        script = tmp_path / "script"
        script.write_text(command)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "APEX2NATIVE": "x", **more}
        return subprocess.run([*engine.split(), str(script)], cwd=cwd, env=environment, check=False).returncode

    return run


def read(name: str) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load((RECIPES / name).read_text())
    return found


def break_it(tools: Path) -> None:
    (tools / "apex2native").write_text(f"#!/bin/sh\nexit {FAILS}\n")


# ---------------------------------------------------------------- GitHub


GITHUB = "bash --noprofile --norc -eo pipefail"


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read("github-action.yml")["jobs"]["check"]["steps"]
    return found


def of_github(tmp_path: Path, comments: str = "") -> dict[str, str]:
    return {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_REPOSITORY": "o/r",
        "NUMBER": "7",
        "ASKED": str(tmp_path / "asked"),
        "COMMENTS": comments,
    }


@pytest.mark.parametrize(
    ("comments", "asked"), [("", "pr comment 7"), ("12\\n34\\n", "PATCH repos/o/r/issues/comments/12")]
)
def test_the_workflow_reports_and_then_fails(
    clone: Path, shell: Shell, tmp_path: Path, comments: str, asked: str
) -> None:
    runs = [step["run"] for step in steps() if "run" in step]
    codes = [shell(run, clone, GITHUB, **of_github(tmp_path, comments)) for run in runs]
    assert codes == [0, 0, 0, 0, 1], "only the check fails, and it comes last"
    uploaded = next(step["with"]["sarif_file"] for step in steps() if "upload-sarif" in step.get("uses", ""))
    sarif = tmp_path / uploaded.replace("${{ runner.temp }}/", "")
    assert '"version": "2.1.0"' in sarif.read_text()
    assert "### Left by hand" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "comment.md").read_text().startswith("<!-- apex2native -->\n## ")
    assert asked in (tmp_path / "asked").read_text().splitlines()[-1]
    assert git(clone, "status", "--porcelain") == b"", "nothing is written into the checkout"


def test_an_error_ends_the_workflow(clone: Path, shell: Shell, tools: Path, tmp_path: Path) -> None:
    break_it(tools)
    runs = [step["run"] for step in steps() if "apex2native ." in step.get("run", "")]
    assert [shell(run, clone, GITHUB, **of_github(tmp_path)) == 0 for run in runs] == [False] * 3


def test_the_workflow_may_do_what_it_does_and_no_more() -> None:
    assert read("github-action.yml")["permissions"] == {
        "contents": "read",
        "pull-requests": "write",
        "security-events": "write",
    }
    # What a fork sends is never handed a token that may write, and no expression of an event stands in a script.
    assert "pull_request_target" not in (RECIPES / "github-action.yml").read_text()
    assert not any("${{" in step.get("run", "") for step in steps())


# ---------------------------------------------------------------- GitLab


def test_the_gitlab_job(clone: Path, shell: Shell) -> None:
    job = read("gitlab-ci.yml")["apex"]
    assert [shell(line, clone) for line in job["script"]] == [0, 0, 1]
    (page,) = job["artifacts"]["paths"]
    assert "</html>" in (clone / page).read_text()
    assert job["artifacts"]["when"] == "always"


# ---------------------------------------------------------------- Sourcegraph


def batch_step(tmp_path: Path) -> str:
    (step,) = read("batch-change.yml")["steps"]
    run: str = step["run"].replace("/tmp/body.md", str(tmp_path / "body.md"))
    return run


def test_the_batch_change(clone: Path, shell: Shell, tmp_path: Path) -> None:
    assert shell(batch_step(tmp_path), clone, "bash") == 0
    assert "### Left by hand" in (tmp_path / "body.md").read_text()
    assert b"GradScaler" in git(clone, "diff")


def test_an_error_ends_the_batch_change(clone: Path, shell: Shell, tools: Path, tmp_path: Path) -> None:
    """src runs the step in a shell that goes on behind an error."""
    break_it(tools)
    assert shell(batch_step(tmp_path), clone, "bash") != 0


def test_what_the_batch_change_asks_for_finds_uses_of_apex() -> None:
    spec = {("on" if key is True else key): value for key, value in read("batch-change.yml").items()}  # YAML 1.1
    (query,) = (one["repositoriesMatchingQuery"] for one in spec["on"])
    words = [word for word in query.split(" ") if not re.match(r"(patterntype|file|count):", word)]
    pattern = re.compile(" ".join(words))
    assert all(
        map(pattern.search, ("from apex import amp", "import apex", "    from apex.amp import x", '"import apex\\n"'))
    )
    assert not any(map(pattern.search, ("import apexlib", "from apexes import a", "# apex")))


# ---------------------------------------------------------------- multi-gitter


SCRIPT = RECIPES / "multi-gitter.sh"


def test_multi_gitter_commits_what_could_be_migrated(clone: Path, shell: Shell) -> None:
    assert os.access(SCRIPT, os.X_OK)
    (clone / "mine").write_text("not git's\n")
    before = git(clone, "rev-parse", "HEAD")
    assert shell(f"'{SCRIPT}'", clone) == 0
    assert git(clone, "rev-parse", "HEAD~1") == before
    assert git(clone, "status", "--porcelain") == b"?? mine\n"
    title, _, text = git(clone, "log", "-1", "--format=%B").decode().partition("\n")
    assert title == "Native AMP instead of NVIDIA Apex"
    assert "### Left by hand" in text
    # Once more: what is left by hand is no reason for a pull request.
    before = git(clone, "rev-parse", "HEAD")
    assert shell(f"'{SCRIPT}'", clone) == 0
    assert git(clone, "rev-parse", "HEAD") == before


def test_multi_gitter_is_told_of_a_refusal(clone: Path, shell: Shell) -> None:
    before = git(clone, "rev-parse", "HEAD")
    (clone / "train.py").write_text(LEGACY + "# mine\n")  # git could not bring it back
    assert shell(f"'{SCRIPT}'", clone) == FAILS
    assert git(clone, "rev-parse", "HEAD") == before


# ---------------------------------------------------------------- pre-commit


def hooks() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return found


def test_the_hooks() -> None:
    assert [hook["id"] for hook in hooks()] == ["apex2native-check", "apex2native-fix"]
    for hook in hooks():
        assert hook["entry"] == "apex2native" and hook["language"] == "python"
        # pre-commit hands on names in batches, several at a time; a repository is one program.
        assert hook["pass_filenames"] is False and hook["require_serial"] is True
        assert hook["args"][0] == "."


def test_pre_commit_runs_the_hooks(clone: Path, shell: Shell, tmp_path: Path) -> None:
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    # The installation alone is left out: it asks a package index.
    local = [{**hook, "language": "system"} for hook in hooks()]
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home")}

    def run(hook: str, *words: str) -> int:
        return shell(f"{sys.executable} -m pre_commit run -c '{config}' {hook} {' '.join(words)}", clone, **home)

    assert run("apex2native-check", "--all-files") == 1
    (clone / "other.py").unlink()
    git(clone, "add", "-A")
    assert run("apex2native-fix", "--all-files") == 1, "files were modified by this hook"
    assert b"GradScaler" in git(clone, "diff")
    assert run("apex2native-check") == 0, "a commit without Python files asks nothing"
    git(clone, "add", "-A")
    assert run("apex2native-fix") == 0
    assert run("apex2native-check") == 0


# ---------------------------------------------------------------- the container


def test_the_image_gets_what_pip_needs(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77", reason="setuptools 77 builds it")
    text = (RECIPES / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert [words[0] for words in lines] == ["FROM", "RUN", "COPY", "COPY", "COPY", "RUN", "WORKDIR", "CMD"]
    assert "git" in lines[1] and "safe.directory" in lines[1], "--write asks git"
    source = tmp_path / "source"
    source.mkdir()
    for _, *names, target in lines[2:5]:
        for name in names:
            if (ROOT / name).is_dir():
                ignore = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, tmp_path / "source" / target.removeprefix("/apex2native/"), ignore=ignore)
            else:
                shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*pip, "-w", str(tmp_path), str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    extra = re.search(r'"/apex2native\[(\w+)\]"', text)
    assert extra is not None and f"\n{extra[1]} = [" in (ROOT / "pyproject.toml").read_text()
