"""A journal that somebody else wrote reaches nothing out of its folder, and ends in one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate import journal
from migrate.errors import UserError
from tests.shell.support import LEGACY, NATIVE, leftovers, tool, tree

TEMPORARY = ".apex2native-00-0.tmp"
BOTH = [journal.JOURNAL, journal.STAGING]
OUTSIDE = {"v.py": "old\n", TEMPORARY: "new\n"}


def entry(path: object, temporary: object = TEMPORARY) -> dict[str, object]:
    digests = {"old": journal.digest(b"old\n"), "new": journal.digest(b"new\n")}
    return {"path": path, "temporary": temporary, **digests}


def plant(root: Path, name: str, *entries: object) -> None:
    (root / name).write_text(json.dumps({"journal": 1, "groups": [list(entries)]}))


def outside(tmp_path: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (tmp_path / "outside").iterdir()}


def refused(root: Path) -> str:
    """The one sentence of a run that stops at the journal, which it leaves where it is."""
    run = tool(root, "--write")
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert run.stdout == "" and line.startswith("apex2native: ")
    return line


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree(tmp_path / "outside", OUTSIDE)
    tree(tmp_path / "root", {"x.py": LEGACY, "sub/y.py": LEGACY})
    (tmp_path / "root" / "lnk").symlink_to("../outside")
    return tmp_path / "root"


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("path", ["lnk/v.py", "sub/../lnk/v.py", "../outside/v.py", "/OUTSIDE/v.py", "//OUTSIDE/v.py"])
def test_nothing_outside_is_written_or_deleted(tmp_path: Path, root: Path, name: str, path: str) -> None:
    plant(root, name, entry(path.replace("OUTSIDE", str(tmp_path / "outside"))))
    run = tool(root, "--write")
    assert outside(tmp_path) == OUTSIDE
    assert "Traceback" not in run.stderr
    if name == journal.JOURNAL or path == "lnk/v.py":
        assert run.returncode == 2
        assert str(root / name) in run.stderr and "delete" in run.stderr
        assert (root / "x.py").read_text() == LEGACY


def test_a_temporary_file_that_is_a_link(tmp_path: Path, root: Path) -> None:
    """It is nothing to put in the place of a file, and goes alone."""
    tree(root, {"sub/v.py": "old\n"})
    (root / "sub" / TEMPORARY).symlink_to(tmp_path / "outside" / TEMPORARY)
    plant(root, journal.JOURNAL, entry("sub/v.py"))
    assert tool(root, "--write").returncode == 0
    assert (root / "sub" / "v.py").read_text() == "old\n"
    assert outside(tmp_path) == OUTSIDE
    assert not leftovers(root)


PATHS = ["", ".", "..", "sub/", "sub//y.py", "./x.py", "x\0.py", "\ud800.py", 1, None, ["x.py"], {}]
TEMPORARIES = ["x.py", "", "../" + TEMPORARY, "sub/" + TEMPORARY, TEMPORARY + "\n", TEMPORARY + "\0", 1, None]


@pytest.mark.parametrize("one", [*map(entry, PATHS), *(entry("x.py", odd) for odd in TEMPORARIES)], ids=str)
def test_names_that_no_run_writes(tmp_path: Path, one: dict[str, object]) -> None:
    tree(tmp_path, {"x.py": "old\n", TEMPORARY: "new\n"})
    plant(tmp_path, journal.JOURNAL, one)
    with pytest.raises(UserError, match=r"is no journal of this version: delete it"):
        journal.recover(tmp_path / journal.JOURNAL)
    assert (tmp_path / "x.py").read_text() == "old\n"


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100000,
        '{"journal": 1, "groups": ' + "[" * 50000 + "]" * 50000 + "}",
        '{"a":' * 100000,
        "9" * 10000,
        "",
        "\0",
        b"\xff\xfe",
        "null",
        "[]",
        "{}",
        '"journal"',
        '{"journal": 1}',
        '{"journal": 1, "groups": 1}',
        '{"journal": 1, "groups": {"a": 1}}',
        '{"journal": 1, "groups": ["ab"]}',
        '{"journal": 1, "groups": [[[]]]}',
        '{"journal": 1, "groups": [[{"path": "x.py"}]]}',
        '{"journal": 2, "groups": []}',
    ],
    ids=range(18),
)
def test_contents_that_no_run_writes(tmp_path: Path, content: str | bytes) -> None:
    tree(tmp_path, {journal.JOURNAL: content, journal.STAGING: content})
    with pytest.raises(UserError, match=r"is no journal of this version: delete it"):
        journal.recover(tmp_path / journal.JOURNAL)
    assert journal.recover(tmp_path / journal.STAGING) == 0
    assert not (tmp_path / journal.STAGING).exists()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def link(path: Path) -> None:
    path.symlink_to("../outside/v.py")


def zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [pipe, folder, link, zero])
@pytest.mark.parametrize("name", BOTH)
def test_a_journal_that_is_no_file(tmp_path: Path, root: Path, name: str, make: Callable[[Path], None]) -> None:
    make(root / name)
    assert tool(root).returncode == 1
    assert f"delete {root / name}" in refused(root)
    assert (root / "x.py").read_text() == LEGACY
    assert outside(tmp_path) == OUTSIDE


def test_a_journal_of_another_user_above_the_target_does_not_count(tmp_path: Path, root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only the superuser gives files away")
    plant(tmp_path, journal.JOURNAL, entry("outside/v.py"))
    os.chown(tmp_path / journal.JOURNAL, 12345, 12345)
    run = tool(root, "--write")
    assert run.returncode == 0 and run.stderr == ""
    assert outside(tmp_path) == OUTSIDE
    os.chown(tmp_path / journal.JOURNAL, os.getuid(), 0)
    assert "finished: 1 file written" in tool(root, "--write").stderr


def test_a_text_of_another_user_does_not_take_the_place_of_a_file(tmp_path: Path, root: Path) -> None:
    """In /tmp nobody may replace what others have there; a journal counts there that belongs to the target's owner."""
    if os.getuid() != 0:
        pytest.skip("only the superuser gives files away")
    tree(tmp_path, {"v.py": "old\n", TEMPORARY: "new\n"})
    plant(tmp_path, journal.JOURNAL, entry("v.py"))
    for path in (root, tmp_path / journal.JOURNAL, tmp_path / TEMPORARY):
        os.chown(path, 12345, 12345)
    tool(root, "--write")
    assert (tmp_path / "v.py").read_text() == "old\n"
    assert not (tmp_path / journal.JOURNAL).exists() and not (tmp_path / TEMPORARY).exists()


def test_a_file_that_became_a_folder(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": "new\n", "b.py/x": "", TEMPORARY: "new\n"})
    plant(tmp_path, journal.JOURNAL, entry("a.py", ".apex2native-00-1.tmp"), entry("b.py"))
    said = refused(tmp_path)
    assert f"{tmp_path / 'b.py'} was changed after a run was interrupted" in said
    assert f"delete {tmp_path / journal.JOURNAL}" in said
    (tmp_path / journal.JOURNAL).unlink()
    assert tool(tmp_path, "--write").returncode == 0


def test_a_new_text_that_became_a_folder(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": "old\n", f"{TEMPORARY}/x": ""})
    plant(tmp_path, journal.JOURNAL, entry("a.py"))
    assert f"delete {tmp_path / journal.JOURNAL}" in refused(tmp_path)


def test_a_folder_that_became_a_file_or_went(tmp_path: Path) -> None:
    tree(tmp_path, {"sub": "a file"})
    plant(tmp_path, journal.JOURNAL, entry("sub/a.py"))
    assert f"delete {tmp_path / journal.JOURNAL}" in refused(tmp_path)
    plant(tmp_path, journal.JOURNAL, entry("gone/a.py"))
    assert tool(tmp_path, "--write").returncode == 0
    assert not leftovers(tmp_path)


def test_a_huge_file_is_not_hashed(tmp_path: Path) -> None:
    with open(tmp_path / "a.py", "wb") as stream:
        stream.truncate(1 << 40)
    plant(tmp_path, journal.JOURNAL, entry("a.py"))
    assert journal.recover(tmp_path / journal.JOURNAL) == 0


# ---------------------------------------------------------------- a folder that is swapped in the midst


def swap(root: Path) -> None:
    """What somebody does who may write to the tree: the folder makes place for a link."""
    os.rename(root / "sub", root / "away")
    (root / "sub").symlink_to("../outside")


def planned(root: Path, content: Callable[[], bytes] = NATIVE.encode) -> list[list[journal.Replacement]]:
    names = ["x.py", "sub/y.py"]
    return [[journal.Replacement(root / name, journal.digest(LEGACY.encode()), content)] for name in names]


def test_a_folder_swapped_before_the_moment_that_counts(tmp_path: Path, root: Path) -> None:
    tree(tmp_path, {"outside/y.py": LEGACY})
    before = outside(tmp_path)
    calls = 0

    def content() -> bytes:
        nonlocal calls
        calls += 1
        if calls == 3:  # two for the digests, then the first text is staged
            swap(root)
        return NATIVE.encode()

    with pytest.raises(UserError, match="nothing was written"):
        journal.write(root, planned(root, content))
    assert (root / "x.py").read_text() == (root / "away" / "y.py").read_text() == LEGACY
    assert outside(tmp_path) == before
    assert not leftovers(root)


@pytest.mark.parametrize("moment", ["rename", "replace"])
def test_a_folder_swapped_after_it(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    tree(tmp_path, {"outside/y.py": LEGACY})
    real = getattr(os, moment)

    def play(old: str, new: str, **at: int) -> None:
        real(old, new, **at)
        monkeypatch.undo()
        for found in (root / "sub").glob(".apex2native*"):  # the new text lies ready outside as well
            tree(tmp_path, {f"outside/{found.name}": found.read_bytes()})
        swap(root)

    monkeypatch.setattr(os, moment, play)
    with pytest.raises((UserError, OSError)):
        journal.write(root, planned(root))
    now = outside(tmp_path)
    assert now["y.py"] == LEGACY and len(now) == 4, "neither written nor deleted"
    assert f"delete {root / journal.JOURNAL}" in refused(root)
    assert outside(tmp_path) == now


def test_a_target_swapped_while_it_is_analysed(tmp_path: Path, root: Path) -> None:
    from migrate import cli
    from migrate.model import ModuleResult
    from tests.shell import fake

    tree(tmp_path, {"outside/y.py": LEGACY})

    def engine(text: str, *rest: object) -> ModuleResult:
        if not (root / "away").exists():
            swap(root)
        return fake.engine(text, *rest)  # type: ignore[arg-type]

    before = outside(tmp_path)
    cli.main([str(root), "--write", "-j1"], engine)
    assert outside(tmp_path) == before
    assert not leftovers(root)
