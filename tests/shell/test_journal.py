"""Writing is atomic per file and all-or-nothing per unit, whatever happens in between."""

from __future__ import annotations

import errno
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from migrate import journal
from migrate.beneath import Tree
from migrate.errors import UserError
from tests.shell.support import LEGACY, NATIVE, environment, leftovers, tool, tree


def replacement(path: Path, new: bytes = b"new\n") -> journal.Replacement:
    return journal.Replacement(path, journal.digest(path.read_bytes()), lambda: new)


def test_killed_at_every_moment(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.shell.killed", str(tmp_path / "tree")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    moments, recoveries = map(int, re.findall(r"\d+", run.stdout))
    assert moments > 30 and recoveries > 2 * moments


@pytest.mark.parametrize("moment", [1, 6, 12, 20, 24])
def test_the_killed_tool_is_finished_by_its_next_run(tmp_path: Path, moment: int) -> None:
    root = tree(tmp_path, {"a.py": LEGACY, "b/c.py": LEGACY, "b/d.py": LEGACY})
    program = (
        "import sys; from tests.shell import fake, killed; from migrate import cli, pipeline; "
        f"killed.kill_at({moment}); sys.exit(cli.main(sys.argv[1:], fake.engine))"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(root), "--write"],
        env=environment(),
        capture_output=True,
        timeout=60,
    )
    assert killed.returncode == -9
    for path in root.rglob("*.py"):
        assert path.read_text() in (LEGACY, NATIVE)
    if leftovers(root):
        dry = tool(root, "--check")
        assert "was interrupted while it wrote" in dry.stderr
        assert leftovers(root), "a dry run writes nothing"
    assert tool(root, "--write").returncode == 0
    assert [path.read_text() for path in root.rglob("*.py")] == [NATIVE] * 3
    assert not leftovers(root)


def interrupted(root: Path, first: str = "a.py", second: str = "b.py") -> None:
    """What a run leaves that was killed between the two files of a unit."""
    program = (
        "import os, sys; from pathlib import Path; from migrate import journal; root = Path(sys.argv[1]); "
        "real = os.replace; os.replace = lambda old, new, **at: (real(old, new, **at), os.kill(os.getpid(), 9)); "
        "one = lambda name: journal.Replacement(root / name, journal.digest(b'old\\n'), lambda: b'new\\n'); "
        "journal.write(root, [[one(name) for name in sys.argv[2:]]])"
    )
    tree(root, {first: "old\n", second: "old\n"})
    words = [sys.executable, "-c", program, str(root), first, second]
    subprocess.run(words, env=environment(), timeout=60, check=False)
    assert (root / first).read_text() == "new\n"
    assert (root / second).read_text() == "old\n"


def test_a_run_on_a_part_of_the_tree_finds_the_journal_above_it(tmp_path: Path) -> None:
    interrupted(tmp_path, "a.py", "b/c.py")
    run = tool(tmp_path / "b" / "c.py", "--write")
    assert run.stderr == (
        "apex2native: an earlier run had been interrupted while it wrote; it was finished: 1 file written.\n"
    )
    assert (tmp_path / "b" / "c.py").read_text() == "new\n"
    assert not leftovers(tmp_path)


def test_mode_and_attributes_are_kept(tmp_path: Path) -> None:
    path = tree(tmp_path, {"x.py": "old\n"}) / "x.py"
    path.chmod(0o2751)
    has_attributes = hasattr(os, "setxattr")
    if has_attributes:
        try:
            os.setxattr(path, "user.apex2native", b"kept")
        except OSError:
            has_attributes = False
    journal.write(tmp_path, [[replacement(path)]])
    assert path.read_bytes() == b"new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o2751
    assert not has_attributes or os.getxattr(path, "user.apex2native") == b"kept"


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser gives files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tree(tmp_path, {"x.py": "old\n"}) / "x.py"
    os.chown(path, 12345, 23456)
    path.chmod(0o4755)
    journal.write(tmp_path, [[replacement(path)]])
    info = path.stat()
    assert (info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)) == (12345, 23456, 0o4755)


def test_a_read_only_file_stops_the_whole_run(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": LEGACY, "b.py": LEGACY})
    (root / "b.py").chmod(0o444)
    run = tool(root, "--write")
    assert run.returncode == 2
    assert "b.py is read-only; nothing was written." in run.stderr
    assert (root / "a.py").read_text() == LEGACY
    assert not leftovers(root)


def test_a_file_with_a_second_name_stops_the_whole_run(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": LEGACY, "b.py": LEGACY})
    os.link(root / "b.py", root / "backup")
    run = tool(root, "--write")
    assert run.returncode == 2
    assert run.stderr == (
        f"apex2native: {root}/b.py has a second name (a hard link) that would keep the old text; "
        "nothing was written: make it a file of its own first.\n"
    )
    assert (root / "a.py").read_text() == (root / "b.py").read_text() == LEGACY
    assert os.path.samefile(root / "b.py", root / "backup")
    assert not leftovers(root)
    (root / "backup").unlink()
    assert tool(root, "--write").returncode == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser becomes someone else")
@pytest.mark.parametrize("locked", [".", "sub"])
def test_a_read_only_folder_stops_the_whole_run(locked: str) -> None:
    """Permissions do not bind the superuser, so the files are written as nobody, where nobody may go."""
    program = (
        "import os, sys; from pathlib import Path; from migrate import journal; from migrate.errors import UserError\n"
        "root = Path(sys.argv[1]); os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "def one(name):\n"
        "    return journal.Replacement(root / name, journal.digest((root / name).read_bytes()), lambda: b'new')\n"
        "try:\n"
        "    journal.write(root, [[one('a.py')], [one('sub/b.py')]])\n"
        "except UserError as error:\n"
        "    print(error)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        root = tree(Path(folder).resolve(), {"a.py": LEGACY, "sub/b.py": LEGACY})
        for path in (root, *root.rglob("*")):
            os.chown(path, 65534, 65534)
        (root / locked).chmod(0o555)
        words = [sys.executable, "-c", program, str(root)]
        run = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=60)
        (line,) = run.stdout.splitlines()
        assert line.endswith(": permission denied; nothing was written."), run.stderr
        assert (root / "a.py").read_text() == (root / "sub" / "b.py").read_text() == LEGACY
        assert not leftovers(root)


def test_a_file_that_changed_since_it_was_read_stops_the_whole_run(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": "a\n", "b.py": "b\n"})
    planned = [[replacement(root / "a.py")], [replacement(root / "b.py")]]
    (root / "b.py").write_text("edited\n")
    with pytest.raises(UserError, match=r"b\.py was changed while it was analysed; nothing was written"):
        journal.write(root, planned)
    assert (root / "a.py").read_text() == "a\n"
    (root / "b.py").unlink()
    with pytest.raises(UserError, match=r"nothing was written"):
        journal.write(root, planned)
    assert not leftovers(root)


def test_a_file_that_changes_in_the_moment_of_writing_is_left_with_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path, {"a.py": "a\n", "b.py": "b\n", "c.py": "c\n"})
    planned = [[replacement(root / "a.py"), replacement(root / "b.py")], [replacement(root / "c.py")]]
    real = os.rename

    def rename(old: str, new: str, **at: int) -> None:
        real(old, new, **at)
        (root / "b.py").write_text("edited\n")

    monkeypatch.setattr(os, "rename", rename)
    assert journal.write(root, planned) == (root / "a.py", root / "b.py")
    assert [(root / f"{name}.py").read_text() for name in "abc"] == ["a\n", "edited\n", "new\n"]
    assert not leftovers(root)


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": LEGACY, "b.py": LEGACY + "#" * 20000 + "\n"})
    # A limit on the size of files stops a write half way, as a full disk does.
    run = subprocess.run(
        [sys.executable, "-m", "tests.shell.fake", str(root), "--write"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)),
    )
    assert run.returncode == 2
    assert run.stderr == f"apex2native: {root}/b.py: file too large; nothing was written.\n"
    assert (root / "a.py").read_text() == LEGACY
    assert not leftovers(root)


END = "sys.exit(cli.main(sys.argv[1:], fake.engine))"


def limited(program: str, *words: str | Path, size: int) -> subprocess.CompletedProcess[str]:
    """A program whose files cannot grow beyond ``size`` bytes."""
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )


@pytest.mark.parametrize("size", [0, 100, 1000])
def test_a_full_disk_at_any_other_place(tmp_path: Path, size: int) -> None:
    """The journal itself, the report, and the texts that are put away while the run goes on."""
    root = tree(tmp_path / "tree", {f"{at}.py": LEGACY for at in range(12)})
    main = "import sys; from migrate import cli, spool; from tests.shell import fake; "
    run = limited(main + END, root, "--write", "-j", "1", size=size)
    assert run.returncode == 2
    assert run.stderr == (
        f"apex2native: {root}/.apex2native-staging.json: file too large; nothing was written.\n"
    )
    run = limited(main + "spool._IN_MEMORY = 1; " + END, root, "--write", "-j", "1", size=min(size, 100))
    assert run.returncode == 2
    assert re.fullmatch(
        r"apex2native: temporary files( in \S+)? cannot be written: (file too large|no usable temporary directory .*); "
        "nothing was written: make room there, or set TMPDIR to a folder with more.\n",
        run.stderr,
    )
    assert {path.read_text() for path in root.glob("*.py")} == {LEGACY}
    assert not leftovers(tmp_path)


def test_a_report_that_does_not_fit(tmp_path: Path) -> None:
    root = tree(tmp_path / "tree", {"x.py": LEGACY})
    main = "import sys; from migrate import cli; from tests.shell import fake; "
    for options, but in (([], ""), (["--write"], ", but the files were")):
        run = limited(main + END, root, "--report-json", tmp_path / "r.json", *options, size=500)
        assert run.returncode == 2
        assert run.stderr == (
            f"apex2native: the report cannot be written to {tmp_path}/r.json: file too large{but}.\n"
        )
        assert not leftovers(tmp_path) and not (tmp_path / "r.json").exists()
    assert (root / "x.py").read_text() == NATIVE


def test_a_file_that_changes_while_it_is_analysed_stops_the_whole_run(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": LEGACY, "b.py": LEGACY})
    program = (
        "import pathlib, sys; from migrate import cli; from tests.shell import fake\n"
        "def engine(text, settings, outside, standing):\n"
        "    pathlib.Path(sys.argv[1], 'a.py').write_text('import apex  # edited\\n')\n"  # it was read already
        "    return fake.engine(text, settings)\n"
        "sys.exit(cli.main(sys.argv[1:], engine))\n"
    )
    words = [sys.executable, "-c", program, str(root), "--write", "-j", "1"]
    run = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert run.stderr == (
        f"apex2native: {root}/a.py was changed while it was analysed; nothing was written, run again.\n"
    )
    assert (root / "a.py").read_text() == "import apex  # edited\n"
    assert (root / "b.py").read_text() == LEGACY
    assert not leftovers(root)


def test_two_runs_do_not_write_at_once(tmp_path: Path) -> None:
    root = tree(tmp_path, {"a.py": LEGACY})
    entry = journal._Entry("a.py", ".apex2native-00-0.tmp", "", "")
    with Tree(root) as held, journal._claim(held, [[entry]]):
        run = tool(root, "--write")
    assert run.returncode == 2
    assert "another run is writing" in run.stderr
    assert (root / "a.py").read_text() == LEGACY
    (root / journal.STAGING).unlink()


def test_a_journal_that_comes_in_the_last_moment_is_no_other_runs_to_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may give its list the journal's name just before this one takes the name that is free then."""
    root = tree(tmp_path, {"a.py": "a\n"})
    real = Tree.create

    def create(held: Tree, name: str) -> int:
        tree(root, {journal.JOURNAL: "of the other run"})
        return real(held, name)

    monkeypatch.setattr(Tree, "create", create)
    with pytest.raises(UserError, match="or another is writing: run again"):
        journal.write(root, [[replacement(root / "a.py")]])
    assert [one.name for one in leftovers(root)] == [journal.JOURNAL]
    assert (root / journal.JOURNAL).read_text() == "of the other run" and (root / "a.py").read_text() == "a\n"


def test_an_edit_after_the_kill_is_never_overwritten(tmp_path: Path) -> None:
    interrupted(tmp_path)
    (tmp_path / "b.py").write_text("edited\n")
    run = tool(tmp_path, "--write")
    assert run.returncode == 2
    assert "b.py was changed after a run was interrupted" in run.stderr
    assert (tmp_path / "b.py").read_text() == "edited\n"
    (tmp_path / "b.py").write_text("old\n")
    assert tool(tmp_path, "--write").returncode == 0
    assert (tmp_path / "b.py").read_text() == "new\n"
    assert not leftovers(tmp_path)


def test_a_journal_cannot_reach_out_of_its_folder(tmp_path: Path) -> None:
    root = tree(tmp_path / "root", {"x.py": ""})
    tree(tmp_path, {"victim.py": "old\n", ".apex2native-00-0.tmp": "new\n"})
    digests = (
        f'"old": "{journal.digest(b"old" + bytes([10]))}", "new": "{journal.digest(b"new" + bytes([10]))}"'
    )
    for path in ("../victim.py", str(tmp_path / "victim.py")):
        entry = f'{{"path": "{path}", "temporary": ".apex2native-00-0.tmp", {digests}}}'
        (root / journal.JOURNAL).write_text(f'{{"journal": 1, "groups": [[{entry}]]}}')
        with pytest.raises(UserError, match="no journal of this version"):
            journal.recover(root / journal.JOURNAL)
    assert (tmp_path / "victim.py").read_text() == "old\n"


def test_a_staging_file_that_was_cut_short_is_removed(tmp_path: Path) -> None:
    tree(tmp_path, {journal.STAGING: '{"journal": 1, "gro'})
    assert journal.recover(tmp_path / journal.STAGING) == 0
    assert not leftovers(tmp_path)


def test_a_run_that_ends_before_its_lock_is_free_needs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    found = root / journal.STAGING
    found.write_text("{}")

    def lock(descriptor: int, folder: Path) -> None:
        found.unlink()
        found.write_text("of the next run")

    monkeypatch.setattr(journal, "_lock", lock)
    assert journal.recover(found) == 0
    assert found.read_text() == "of the next run"


def test_what_fails_after_the_moment_that_counts_can_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path.resolve(), {"a.py": "old\n", "b.py": "old\n"})
    replaced: list[str] = []

    def replace(own: Tree, old: str, new: str) -> None:
        if replaced:
            raise OSError(errno.EIO, "broken", str(own.root / new))
        replaced.append(new)
        os.replace(own.root / old, own.root / new)

    with monkeypatch.context() as broken, pytest.raises(UserError, match=r"b\.py: .*; run again with --write"):
        broken.setattr(Tree, "replace", replace)
        journal.write(root, [[replacement(root / "a.py")], [replacement(root / "b.py")]])
    assert journal.recover(root / journal.JOURNAL) == 1
    assert (root / "a.py").read_text() == (root / "b.py").read_text() == "new\n" and not leftovers(root)
