"""Which files are looked at, and what becomes of those that cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from migrate import sources
from migrate.errors import UserError
from migrate.model import Severity
from migrate.reading import SOURCE_LIMIT
from migrate.sources import Selection, collect
from tests.shell.support import LEGACY, tree


def shown(selection: Selection) -> list[str]:
    return [source.shown for source in selection.candidates]


def problems(selection: Selection) -> dict[str, str]:
    return {result.path: result.findings[0].message for result in selection.problems}


def test_only_files_that_mention_apex_go_on_sorted(tmp_path: Path) -> None:
    tree(tmp_path, {"z.py": LEGACY, "a/b.py": LEGACY, "a/c.py": "import torch\n", "a/d.txt": LEGACY})
    selection = collect([str(tmp_path)])
    assert shown(selection) == ["a/b.py", "z.py"]
    assert selection.scanned == 3


@pytest.mark.parametrize(
    "folder", [".git", ".hg", "node_modules", "__pycache__", ".venv", "venv", "lib/site-packages", ".tox"]
)
def test_folders_of_others_are_not_entered(tmp_path: Path, folder: str) -> None:
    tree(tmp_path, {f"{folder}/x.py": LEGACY, "x.py": LEGACY})
    assert shown(collect([str(tmp_path)])) == ["x.py"]


def test_a_virtual_environment_of_any_name_is_known_by_its_mark(tmp_path: Path) -> None:
    tree(tmp_path, {"myenv/pyvenv.cfg": "", "myenv/x.py": LEGACY})
    assert shown(collect([str(tmp_path)])) == []


def test_build_output_is_left_out_but_a_package_named_build_is_not(tmp_path: Path) -> None:
    tree(tmp_path, {"build/lib/x.py": LEGACY, "models/build/__init__.py": LEGACY})
    assert shown(collect([str(tmp_path)])) == ["models/build/__init__.py"]


PACKAGE = {"apex/amp/__init__.py": "", "apex/parallel/__init__.py": "", "apex/amp/handle.py": LEGACY}


@pytest.mark.parametrize(
    ("folder", "named", "left"),
    [
        ("vendor/apex-master", ".", ["train.py"]),  # its examples and tests too
        ("", ".", ["examples/x.py", "train.py"]),  # a tree of which Apex is a part, or Apex's own
        ("vendor/apex-master", "vendor/apex-master", ["examples/x.py"]),
        ("vendor/apex-master", "vendor/apex-master/examples", ["x.py"]),
    ],
)
def test_a_copy_of_apex_is_left_as_it_is(tmp_path: Path, folder: str, named: str, left: list[str]) -> None:
    files = {**PACKAGE, "examples/x.py": LEGACY}
    tree(tmp_path, {"train.py": LEGACY, **{str(Path(folder, name)): text for name, text in files.items()}})
    selection = collect([str(tmp_path / named)])
    assert shown(selection) == left
    assert all("copy of Apex" in said for said in problems(selection).values())
    assert len(problems(selection)) == {"train.py": 2, "examples/x.py": 1, "x.py": 0}[left[0]]


def test_imports_of_apex_do_not_lead_into_a_copy(tmp_path: Path) -> None:
    copy = {f"apex/{name}": text for name, text in PACKAGE.items()}
    selection = collect([str(tree(tmp_path, {"train.py": LEGACY, **copy, "net.py": ""}))])
    assert sorted(selection.python.values()) == ["net.py", "train.py"]


def test_what_lies_beside_the_code_of_a_copy_is_its_own(tmp_path: Path) -> None:
    """Its README says how to install Apex: no file of the project needs it for that."""
    copy = {f"apex/{name}": text for name, text in {**PACKAGE, "apex/pyprof/README.md": "pip install apex\n"}.items()}
    files = {"train.py": LEGACY, "README.md": "needs apex\n", **copy}
    selection = collect([str(tree(tmp_path, files))])
    assert [one.shown for one in selection.beside] == ["README.md"]


def test_a_skipped_folder_that_is_named_is_entered(tmp_path: Path) -> None:
    tree(tmp_path, {"venv/x.py": LEGACY})
    assert shown(collect([str(tmp_path / "venv")])) == ["x.py"]


def test_paths_are_relative_to_the_one_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"a/x.py": LEGACY, "b/y.py": LEGACY})
    monkeypatch.chdir(tmp_path)
    assert shown(collect(["a", "a/x.py"])) == ["x.py"]
    assert shown(collect(["a", "b/y.py"])) == ["a/x.py", "b/y.py"]
    assert shown(collect(["a", "b"])) == ["a/x.py", "b/y.py"]
    assert shown(collect(["a/x.py", "./b/y.py"])) == ["./b/y.py", "a/x.py"]


def test_what_is_named_twice_is_handled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"a/x.py": LEGACY, "a/b/y.py": LEGACY})
    monkeypatch.chdir(tmp_path)
    selection = collect(["a/x.py", "a", "a/b", "a/.", str(tmp_path / "a"), "a/x.py"])
    assert len(selection.candidates) == 2
    assert selection.scanned == 2
    assert shown(collect(["a/x.py", "a", "./a"])) == ["b/y.py", "x.py"]


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no file or directory"):
        collect([str(tmp_path), str(tmp_path / "nowhere")])


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("tests", ["a/x.py", "x.py"]),
        ("*_test.py", ["a/x.py", "tests/y.py", "x.py"]),
        ("a/*.py", ["tests/y.py", "tests/z_test.py", "x.py"]),
        ("./a/", ["tests/y.py", "tests/z_test.py", "x.py"]),
        ("**/x.py", ["tests/y.py", "tests/z_test.py"]),
        ("nothing", ["a/x.py", "tests/y.py", "tests/z_test.py", "x.py"]),
    ],
)
def test_exclude(tmp_path: Path, pattern: str, left: list[str]) -> None:
    tree(tmp_path, dict.fromkeys(["a/x.py", "tests/y.py", "tests/z_test.py", "x.py"], LEGACY))
    assert shown(collect([str(tmp_path)], [pattern])) == left


def test_links_out_of_the_tree_are_named_and_not_followed(tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"x.py": LEGACY, "plain.py": "", "more/y.py": LEGACY})
    inside = tree(tmp_path / "inside", {"z.py": ""})
    (inside / "x.py").symlink_to(outside / "x.py")
    (inside / "plain.py").symlink_to(outside / "plain.py")
    (inside / "more").symlink_to(outside / "more")
    (inside / "gone.py").symlink_to(outside / "gone.py")
    (inside / "data.bin").symlink_to(outside / "gone.bin")
    selection = collect([str(inside)])
    assert shown(selection) == []
    assert sorted(problems(selection)) == ["gone.py", "more", "plain.py", "x.py"]
    severities = {result.path: result.findings[0].severity for result in selection.problems}
    assert set(severities.values()) == {Severity.REVIEW}
    assert shown(collect([str(inside), str(outside)])) == [str(outside / "more/y.py"), str(outside / "x.py")]


def test_links_inside_the_tree_are_handled_once_and_cycles_end(tmp_path: Path) -> None:
    tree(tmp_path, {"a/x.py": LEGACY, "script": LEGACY})
    (tmp_path / "a" / "again.py").symlink_to("x.py")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "script.py").symlink_to("script")
    (tmp_path / "script_again.py").symlink_to("script")
    selection = collect([str(tmp_path)])
    assert shown(selection) == ["a/x.py", "script.py"]
    assert selection.candidates[1].location == os.path.realpath(tmp_path / "script")
    assert not selection.problems


def test_a_link_that_is_named_is_followed(tmp_path: Path) -> None:
    tree(tmp_path, {"real.py": LEGACY})
    (tmp_path / "link.py").symlink_to("real.py")
    (found,) = collect([str(tmp_path / "link.py")]).candidates
    assert found.shown == str(tmp_path / "link.py")
    assert found.location == os.path.realpath(tmp_path / "real.py")


def test_large_files_are_named_only_if_they_mention_apex(tmp_path: Path) -> None:
    filler = b"x = 1\n" * (SOURCE_LIMIT // 6 + 1)
    tree(tmp_path, {"large.py": filler + LEGACY.encode(), "plain.py": filler + b"# apexes\n"})
    selection = collect([str(tmp_path)])
    assert list(problems(selection)) == ["large.py"]
    assert "larger than 5 MB" in problems(selection)["large.py"]


def test_the_word_is_found_across_the_chunks_of_a_large_file(tmp_path: Path) -> None:
    for at in (1 << 20, (1 << 20) - 2):
        data = b"#" * (at - 1) + b" apex " + b"#" * SOURCE_LIMIT
        tree(tmp_path, {f"{at}.py": data})
    assert len(collect([str(tmp_path)]).problems) == 2


def test_a_huge_file_is_not_read_into_memory(tmp_path: Path) -> None:
    import tracemalloc

    with open(tmp_path / "huge.py", "wb") as stream:
        stream.truncate(50 << 20)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\nimport apex\n")
    tracemalloc.start()
    try:
        selection = collect([str(tmp_path)])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "huge.py" in problems(selection)
    assert peak < 10 << 20


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert "no regular file" in problems(collect([str(tmp_path)]))["pipe.py"]


def test_unreadable_files_and_folders_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"locked.py": LEGACY, "locked/x.py": LEGACY, "x.py": LEGACY})
    real_read, real_scan = sources.read, os.scandir

    def read(path: str) -> bytes:
        if path.endswith("locked.py"):  # the superuser can read anything, so the refusal is played
            raise PermissionError(13, "Permission denied", path)
        return real_read(path)

    def scan(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real_scan(path)

    monkeypatch.setattr(sources, "read", read)
    monkeypatch.setattr(os, "scandir", scan)
    selection = collect([str(tmp_path)])
    assert shown(selection) == ["x.py"]
    assert {path: "permission denied" in text for path, text in problems(selection).items()} == {
        "locked": True,
        "locked.py": True,
    }


def notebook(*cells: tuple[str, object]) -> str:
    return json.dumps({"cells": [{"cell_type": kind, "source": source} for kind, source in cells]})


@pytest.mark.parametrize(
    ("content", "wanted", "named"),
    [
        (notebook(("code", ["from apex import amp\n"])), True, False),
        (notebook(("code", "import apex")), True, False),
        (notebook(("markdown", "apex"), ("code", "import torch")), False, False),
        (notebook(("code", "aapexx")), False, False),
        ("not even json: apex", False, True),
        ('{"cells": [1], "apex": 0}', False, True),
    ],
)
def test_notebooks_whose_code_mentions_apex(tmp_path: Path, content: str, wanted: bool, named: bool) -> None:
    tree(tmp_path, {"n.ipynb": content})
    selection = collect([str(tmp_path)])
    assert shown(selection) == (["n.ipynb"] if wanted else [])
    assert bool(problems(selection)) is named
    assert not named or "no notebook of format 4" in problems(selection)["n.ipynb"]


def test_names_that_are_no_text_can_be_reported(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"\xff.py")).write_text(LEGACY)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    assert shown(collect([str(tmp_path)])) == ["\\xff.py"]


def test_a_file_that_has_apexs_kernels_alone_is_one_of_its_users(tmp_path: Path) -> None:
    """It says nothing of Apex by name, and cannot be imported without its build."""
    kernels = "import amp_C\n\n\ndef mix(flag, lists):\n    amp_C.multi_tensor_axpby(1, flag, lists, 1, 1)\n"
    tree(tmp_path, {"ema.py": kernels, "other.py": "x = 'amp'\n"})
    assert shown(collect([str(tmp_path)])) == ["ema.py"]
