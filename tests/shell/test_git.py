"""Inside a git work tree nothing is written that git could not bring back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.shell.support import LEGACY, NATIVE, git, leftovers, repository, tool, tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path, {"a.py": LEGACY, "sub/b.py": LEGACY, "c.py": "x = 1\n"})


def test_a_clean_tree_is_written(root: Path) -> None:
    run = tool(root, "--write")
    assert run.returncode == 0, run.stderr
    assert git(root, "status", "--porcelain") == " M a.py\n M sub/b.py\n"


def test_uncommitted_changes_refuse_the_whole_run(root: Path) -> None:
    (root / "sub" / "b.py").write_text(LEGACY + "edited = 1\n")
    run = tool(root, "--write", "--report-json", root / "report.json")
    assert run.returncode == 2
    assert run.stderr == (
        "apex2native: nothing was written, because git could not bring back sub/b.py (uncommitted changes): "
        "commit first, or say --allow-dirty.\n"
    )
    assert (root / "a.py").read_text() == LEGACY
    assert not (root / "report.json").exists(), "a report would say that files were changed"
    assert not leftovers(root)
    assert tool(root, "--write", "--allow-dirty").returncode == 0
    assert (root / "a.py").read_text() == NATIVE


def test_staged_changes_count(root: Path) -> None:
    (root / "a.py").write_text(LEGACY + "edited = 1\n")
    git(root, "add", "a.py")
    assert tool(root, "--write").returncode == 2


@pytest.mark.parametrize("mark", ["assume-unchanged", "skip-worktree"])
def test_a_file_that_git_was_told_to_overlook_is_not_taken_for_saved(root: Path, mark: str) -> None:
    git(root, "update-index", f"--{mark}", "sub/b.py")
    (root / "sub" / "b.py").write_text(LEGACY + "edited = 1\n")
    assert git(root, "status", "--porcelain") == ""
    run = tool("b.py", "--write", cwd=root / "sub")
    assert run.returncode == 2
    assert "sub/b.py (uncommitted changes)" in run.stderr
    assert (root / "sub" / "b.py").read_text() == LEGACY + "edited = 1\n"
    assert tool(root / "a.py", "--write").returncode == 0, "others do not suffer"
    assert tool(root, "--write", "--allow-dirty").returncode == 0


def test_a_work_tree_that_was_moved_by_configuration_does_not_answer_for_the_files(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tree(tmp_path_factory.mktemp("elsewhere"), {"a.py": LEGACY, "sub/b.py": LEGACY, "c.py": "x = 1\n"})
    git(root, "config", "core.worktree", str(elsewhere))
    assert git(elsewhere, f"--git-dir={root}/.git", "status", "--porcelain") == ""
    (root / "a.py").write_text(LEGACY + "edited = 1\n")
    run = tool(root, "--write")
    assert run.returncode == 2
    assert "a.py (uncommitted changes)" in run.stderr
    (root / "a.py").write_text(LEGACY)
    assert tool(root, "--write").returncode == 0
    assert (elsewhere / "a.py").read_text() == LEGACY


def test_linked_work_trees_and_submodules_answer_for_their_own_files(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outer = repository(tmp_path_factory.mktemp("outer"), {"o.py": LEGACY})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "inner")
    git(outer, "commit", "--quiet", "--message", "with a submodule")
    linked = tmp_path_factory.mktemp("linked") / "tree"
    git(root, "worktree", "add", "--quiet", str(linked))
    for place, name in ((outer / "inner", "inner"), (linked, "linked")):
        (place / "a.py").write_text(LEGACY + "edited = 1\n")
        run = tool(place, "--write")
        assert run.returncode == 2 and "a.py (uncommitted changes)" in run.stderr, name
        (place / "a.py").write_text(LEGACY)
        assert tool(place, "--write").returncode == 0, name
        assert (place / "a.py").read_text() == NATIVE


def test_untracked_and_ignored_files_cannot_be_brought_back(root: Path) -> None:
    tree(root, {"new.py": LEGACY, "ignored/x.py": LEGACY, ".gitignore": "ignored\n"})
    run = tool(root, "--write")
    assert run.returncode == 2
    assert "new.py (not committed)" in run.stderr
    assert "ignored/x.py (not committed)" in run.stderr


def test_changes_of_other_files_do_not_matter(root: Path) -> None:
    (root / "c.py").write_text("x = 2\n")
    tree(root, {"untracked.py": "y = 1\n"})
    assert tool(root, "--write").returncode == 0


def test_a_dry_run_and_a_run_with_nothing_to_write_never_ask(root: Path) -> None:
    (root / "a.py").write_text(NATIVE + "# apex\n")
    (root / "sub" / "b.py").write_text(NATIVE + "# apex\n")
    assert tool(root, "--write").returncode == 0
    (root / "a.py").write_text(LEGACY + "x = 1\n")
    assert tool(root).returncode == 1


def test_names_are_taken_literally_and_from_below(root: Path) -> None:
    name = "[a]* \u00e4.py"
    tree(root, {f"sub/{name}": LEGACY})
    run = tool(name, "--write", cwd=root / "sub")
    assert run.returncode == 2
    assert f"sub/{name} (not committed)" in run.stderr
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "more")
    assert tool(name, "--write", cwd=root / "sub").returncode == 0


def test_each_repository_is_asked_about_its_own_files(root: Path) -> None:
    inner = root / "inner"
    inner.mkdir()
    repository(inner, {"x.py": LEGACY})
    assert tool(root, "--write").returncode == 0
    assert (inner / "x.py").read_text() == NATIVE


def test_the_variables_of_a_hook_do_not_mislead(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = repository(tmp_path_factory.mktemp("other"), {"z.py": ""})
    (root / "a.py").write_text(LEGACY + "x = 1\n")
    assert tool(root, "--write", GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other)).returncode == 2


def test_a_work_tree_without_git_is_refused(root: Path, tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    run = tool(root, "--write", PATH=str(empty))
    assert run.returncode == 2
    assert "git cannot be run" in run.stderr
    assert (root / "a.py").read_text() == LEGACY


def test_what_git_says_is_passed_on(root: Path) -> None:
    (root / ".git" / "HEAD").unlink()
    run = tool(root, "--write")
    assert run.returncode == 2
    assert "git says: fatal:" in run.stderr
    assert "Traceback" not in run.stderr


def test_before_the_first_commit_nothing_can_be_brought_back(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": LEGACY})
    git(root, "init", "--quiet")
    git(root, "add", "a.py")
    run = tool(root, "--write")
    assert run.returncode == 2
    assert "a.py (not committed)" in run.stderr


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_to_overlook_is_seen(root: Path, flag: str) -> None:
    git(root, "update-index", flag, "a.py")
    (root / "a.py").write_text(LEGACY + "edited = 1\n")
    assert "a.py (uncommitted changes)" in tool(root, "--write").stderr


def test_line_ends_that_git_puts_in_are_no_changes(root: Path) -> None:
    git(root, "config", "core.autocrlf", "true")
    (root / "a.py").unlink()
    git(root, "checkout", "--", "a.py")
    assert (root / "a.py").read_bytes() == LEGACY.encode().replace(b"\n", b"\r\n")
    assert tool(root, "--write").returncode == 0


def test_repositories_of_the_longer_hash(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": LEGACY})
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "--quiet", "--message", "all of it")
    assert tool(tmp_path, "--write").returncode == 0
    assert tool(tmp_path, "--write").returncode == 0
    (tmp_path / "a.py").write_text(LEGACY)
    assert tool(tmp_path, "--write").returncode == 0
    (tmp_path / "a.py").write_text(LEGACY + "edited = 1\n")
    assert tool(tmp_path, "--write").returncode == 2


def test_outside_of_git_nothing_is_asked(tmp_path: Path) -> None:
    if any((folder / ".git").exists() for folder in tmp_path.parents):
        pytest.skip("the temporary folder lies in a work tree")
    tree(tmp_path / "plain", {"a.py": LEGACY})
    assert tool(tmp_path / "plain", "--write", PATH=os.devnull).returncode == 0
