"""A repository that nobody vouches for may name programs in many places: none of them is run.

Each hostile repository is shown to be one: plain git springs the trap that the tool leaves alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from migrate import gitstate
from migrate.errors import UserError
from tests.shell.support import LEGACY, NATIVE, environment, git, repository, tool, tree


class Trap:
    """A program that leaves a mark when it is run."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "trap"
        self._mark = folder / "sprung"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> {self._mark}\nexit 1\n")
        self.program.chmod(0o755)

    def sprung(self) -> bool:
        found = self._mark.exists()
        self._mark.unlink(missing_ok=True)
        return found


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    return repository(tmp_path / "repo", {"a.py": LEGACY, "sub/b.py": LEGACY})


def plain(root: Path, *words: str) -> None:
    """git as anybody would run it; how it ends does not matter."""
    subprocess.run(
        ["git", *words], cwd=root, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )


def touch(root: Path) -> None:
    """git has to look into a file again whose times have changed."""
    for path in root.rglob("*.py"):
        os.utime(path, (1, 1))


@pytest.mark.parametrize("where", [".git/info/attributes", ".gitattributes"])
@pytest.mark.parametrize("filter", ["clean", "process"])
def test_filters(root: Path, trap: Trap, where: str, filter: str) -> None:
    tree(root, {where: "*.py filter=evil\n"})
    git(root, "config", f"filter.evil.{filter}", str(trap.program))
    touch(root)
    run = tool(root, "--write")
    assert not trap.sprung()
    assert run.returncode == 0, run.stderr
    assert (root / "a.py").read_text() == NATIVE
    plain(root, "add", "--all")
    assert trap.sprung()


def test_a_filter_of_a_submodule(tmp_path: Path, root: Path, trap: Trap) -> None:
    (tmp_path / "other").mkdir()
    other = repository(tmp_path / "other", {"x.py": LEGACY})
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "below")
    git(root, "commit", "--quiet", "--message", "a submodule")
    inside = root / "below"
    git(inside, "config", "filter.evil.clean", str(trap.program))
    tree(root, {".git/modules/below/info/attributes": "*.py filter=evil\n"})
    touch(root)
    run = tool(root, "--write")
    assert not trap.sprung()
    assert run.returncode == 0, run.stderr
    assert (inside / "x.py").read_text() == NATIVE
    plain(inside, "add", "--all")
    assert trap.sprung()


@pytest.mark.parametrize("url", [".", "ssh://host/x", "ext::TRAP"])
def test_a_remote_that_promises_what_is_missing(root: Path, trap: Trap, url: str) -> None:
    missing = git(root, "rev-parse", "HEAD:sub").strip()
    (root / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": url.replace("TRAP", str(trap.program)),
        "remote.evil.uploadpack": str(trap.program),
        "core.sshCommand": str(trap.program),
        "protocol.allow": "always",
        "protocol.file.allow": "always",
        "protocol.ext.allow": "always",
        "protocol.ssh.allow": "always",
    }
    for key, value in settings.items():
        git(root, "config", key, value)
    run = tool(root, "--write")
    assert not trap.sprung()
    assert run.returncode == 2
    assert "git says:" in run.stderr and len(run.stderr.splitlines()) == 1
    assert (root / "a.py").read_text() == LEGACY
    plain(root, "ls-tree", "HEAD", "sub/b.py")
    assert trap.sprung()


HOOKS = ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout", "fsmonitor-watchman")


def test_hooks(root: Path, trap: Trap) -> None:
    for folder in (root / ".git" / "hooks", root / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            (folder / name).symlink_to(trap.program)
    git(root, "config", "core.hooksPath", str(root / "hooks"))
    touch(root)
    trap.sprung()
    assert tool(root, "--write").returncode == 0
    assert not trap.sprung()
    plain(root, "update-ref", "refs/heads/new", "HEAD")
    assert trap.sprung()


PROGRAMS = """
core.fsmonitor core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand
credential.helper diff.external diff.evil.command diff.evil.textconv merge.evil.driver sequence.editor
gpg.program gpg.ssh.program uploadpack.packObjectsHook pager.ls-tree pager.status web.browser trailer.x.command
""".split()


@pytest.mark.parametrize("key", [*PROGRAMS, "alias.ls-tree", "alias.status"])
def test_programs_that_the_configuration_names(root: Path, trap: Trap, key: str) -> None:
    tree(root, {".git/info/attributes": "*.py diff=evil merge=evil\n"})
    git(root, "config", key, f"!{trap.program}" if key.startswith("alias.") else str(trap.program))
    touch(root)
    trap.sprung()
    run = tool(root, "--write")
    assert not trap.sprung()
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("words", [["diff"], ["log", "-p"], ["status"]])
def test_the_traps_of_the_configuration_are_some(root: Path, trap: Trap, words: list[str]) -> None:
    tree(root, {".git/info/attributes": "*.py diff=evil\n", "a.py": LEGACY + "x = 1\n"})
    for key in ("diff.evil.textconv", "core.fsmonitor"):
        git(root, "config", key, str(trap.program))
    trap.sprung()
    plain(root, *words)
    assert trap.sprung()


@pytest.mark.parametrize(
    "inherited",
    [
        {"GIT_DIR": "OTHER/.git", "GIT_WORK_TREE": "OTHER"},
        {"GIT_INDEX_FILE": "OTHER/.git/index"},
        {"GIT_OBJECT_DIRECTORY": "OTHER/.git/objects"},
        {"GIT_EXTERNAL_DIFF": "TRAP", "GIT_PAGER": "TRAP", "GIT_SSH_COMMAND": "TRAP", "GIT_ASKPASS": "TRAP"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "TRAP"},
        {"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=TRAP'"},
        {"GIT_CONFIG_GLOBAL": "OTHER/config", "GIT_CONFIG_SYSTEM": "OTHER/config"},
        {"GIT_EXEC_PATH": "OTHER"},
        {"GIT_TRACE": "TRACE", "GIT_TRACE2_EVENT": "TRACE", "GIT_TRACE_SETUP": "TRACE"},
    ],
    ids=lambda inherited: next(iter(inherited)),
)
def test_inherited_variables(tmp_path: Path, root: Path, trap: Trap, inherited: dict[str, str]) -> None:
    (tmp_path / "other").mkdir()
    other = repository(tmp_path / "other", {"a.py": LEGACY + "x = 1\n", "sub/b.py": LEGACY})
    tree(other, {"config": f"[core]\n\tfsmonitor = {trap.program}\n"})
    words = {"OTHER": str(other), "TRAP": str(trap.program), "TRACE": str(tmp_path / "trace")}
    for short, long in words.items():
        inherited = {key: value.replace(short, long) for key, value in inherited.items()}
    run = tool(root, "--write", **inherited)
    assert run.returncode == 0, run.stderr
    (root / "a.py").write_text(LEGACY + "x = 1\n")
    assert "a.py (uncommitted changes)" in tool(root, "--write", **inherited).stderr
    assert not trap.sprung()
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("first", [".", "", "bin"])
def test_a_git_of_the_target_is_not_git(root: Path, trap: Trap, first: str) -> None:
    for name in ("git", "bin/git"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(trap.program)
    path = os.pathsep.join([first, os.environ["PATH"]])
    run = tool(".", "--write", cwd=root, PATH=path)
    assert not trap.sprung()
    assert run.returncode == 0, run.stderr


def test_a_folder_that_looks_like_a_repository_is_none(root: Path, trap: Trap) -> None:
    """``.git`` itself is broken, and git would take the folder around it for a bare repository."""
    shown = {"HEAD": "ref: refs/heads/x\n", "config": f"[core]\n\tbare = true\n\tfsmonitor = {trap.program}\n"}
    tree(root, {**shown, "objects/x": "", "refs/x": ""})
    (root / ".git" / "HEAD").unlink()
    run = tool(root, "--write")
    assert run.returncode == 2
    assert "git says:" in run.stderr
    assert not trap.sprung()


@pytest.mark.parametrize("name", [".git/info/attributes", ".git/info/exclude", ".gitignore", ".gitattributes"])
@pytest.mark.parametrize("kind", ["pipe", "zero", "folder"])
def test_files_for_git_that_are_none(root: Path, name: str, kind: str) -> None:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    touch(root)
    assert tool(root, "--write").returncode == 0


def test_a_git_that_hangs_is_given_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".git" / "config").unlink()
    os.mkfifo(root / ".git" / "config")
    monkeypatch.setattr(gitstate, "_PATIENCE", 1)
    with pytest.raises(UserError, match="git did not answer"):
        gitstate.refuse_unsaved([root / "a.py"])


def test_a_repository_of_somebody_else_is_refused(root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only the superuser gives files away")
    for path in (root, *root.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    run = tool(root, "--write")
    assert run.returncode == 2
    assert "dubious ownership" in run.stderr
