"""What lies in a tree that nobody vouches for is read only if it is a file, and never without an end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate import reading, sources
from migrate.analysis import analyse_file
from migrate.components import single
from migrate.imports.tree import Imports
from migrate.model import Settings
from migrate.sources import Source, collect
from tests.shell.fake import engine
from tests.shell.support import LEGACY, NATIVE, PROJECT, environment, exported, report_of, tool, tree


def pipe(path: Path) -> None:
    os.mkfifo(path)


def socket(path: Path) -> None:
    import socket

    before = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(before)


def zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def device(path: Path) -> None:
    try:
        os.mknod(path, 0o20666, os.makedev(1, 5))  # what /dev/zero is
    except PermissionError:
        pytest.skip("only the superuser makes devices")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


KINDS = [pipe, socket, zero, device, loop]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("name", ["x.py", "x.ipynb", "pyproject.toml", ".gitignore"])
def test_what_is_no_file(tmp_path: Path, make: Callable[[Path], None], name: str) -> None:
    tree(tmp_path, {"train.py": LEGACY})
    make(tmp_path / name)
    run = tool(tmp_path, "--write")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert (tmp_path / "train.py").read_text() == NATIVE
    if name.startswith("x."):
        (named,) = [file for file in report_of(tmp_path)["files"] if file["path"] == name]
        assert named["findings"][0]["severity"] == "review"


@pytest.mark.parametrize("make", KINDS)
def test_what_is_no_file_by_its_own_name(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "x.py")
    run = tool(tmp_path / "x.py")
    assert "Traceback" not in run.stderr
    assert run.returncode == (2 if make is loop else 0)


def test_a_file_that_becomes_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    location = str(tmp_path / "x.py")
    result = analyse_file(Source("x.py", location, 1), Settings(), engine)
    assert "no regular file" in result.findings[0].message
    assert exported([location], [location]) == {location: frozenset()}
    assert Imports([location]).reached(location, ["other.py"]) is None


def test_a_file_that_becomes_a_link_is_not_read(tmp_path: Path) -> None:
    """Nor one whose folder does: the walk has found a real path, and all of it has to stay one."""
    tree(tmp_path, {"secret/x.py": LEGACY})
    (tmp_path / "x.py").symlink_to("secret/x.py")
    (tmp_path / "folder").symlink_to("secret")
    for name in ("x.py", "folder/x.py"):
        result = analyse_file(Source(name, str(tmp_path / name), 1), Settings(), engine)
        assert "this file cannot be read" in result.findings[0].message
        assert result.new is None


def test_links_out_of_the_tree_are_not_read(tmp_path: Path) -> None:
    """Not even to say whether they are worth a look: a finding would tell what stands in the file."""
    tree(tmp_path, {"secret.py": LEGACY, "plain.py": "", "root/x.py": LEGACY})
    for name in ("secret", "plain"):
        (tmp_path / "root" / f"{name}.py").symlink_to(tmp_path / f"{name}.py")
    told = [file["findings"] for file in report_of(tmp_path / "root")["files"] if file["findings"]]
    assert len(told) == 2 and told[0] == told[1]
    assert told[0][0]["message"] == "this symbolic link leads out of the tree and was not followed."


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    """1.4 GB that take no place on the disk."""
    tree(tmp_path, {"train.py": LEGACY, "huge.py": ""})
    with open(tmp_path / "huge.py", "wb") as stream:
        stream.truncate(1400 << 20)
    return tmp_path


def test_a_huge_file_is_not_read_whole(huge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LOOK_LIMIT", 10 << 20)
    total = 0
    real = os.read

    def read(descriptor: int, count: int) -> bytes:
        nonlocal total
        data = real(descriptor, count)
        total += len(data)
        return data

    monkeypatch.setattr(os, "read", read)
    tracemalloc.start()
    try:
        selection = collect([str(huge)])
        assert Imports(selection.python).reached(str(huge / "huge.py"), [str(huge / "train.py")]) is None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 << 20
    assert total <= 4 * reading.LOOK_LIMIT
    (found,) = selection.problems
    assert "only its beginning was looked at" in found.findings[0].message


def test_a_large_file_may_import_all_of_what_it_mentions(tmp_path: Path) -> None:
    filler = "x = 1\n" * (reading.SOURCE_LIMIT // 6 + 1)
    tree(tmp_path, {"large.py": "from train import f\n" + filler, "train.py": LEGACY, "other.py": LEGACY})
    selection = collect([str(tmp_path)])
    imports = Imports(selection.python)
    programs = [single(source, selection, imports) for source in selection.candidates]
    taken = {source.shown: source.outside.exported for one in programs for source in one.sources}
    assert taken == {"train.py": frozenset("*"), "other.py": frozenset()}
    imports = Imports([str(tmp_path / name) for name in ("large.py", "train.py")])
    assert imports.reached(str(tmp_path / "large.py"), [str(tmp_path / "train.py")])


def test_the_limit_holds_whatever_size_a_file_says_it_has(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": b"1" * 100})
    assert reading.read(tmp_path / "x.py", 100) == b"1" * 100
    with pytest.raises(reading.TooLarge):
        reading.read(tmp_path / "x.py", 99)
    if os.path.exists("/proc/cpuinfo"):  # has a size of 0
        with pytest.raises(reading.TooLarge):
            reading.read("/proc/cpuinfo", 5)


def test_folders_without_an_end(tmp_path: Path) -> None:
    tree(tmp_path, {"x.py": LEGACY})
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(before)
    run = tool(tmp_path, "--write")
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # pytest's own cleaning ends in a RecursionError
    assert run.returncode == 1
    assert "nested too deeply" in run.stdout
    assert (tmp_path / "x.py").read_text() == NATIVE


# ---------------------------------------------------------------- the command line and the table


def test_everything_behind_two_dashes_is_a_path(tmp_path: Path) -> None:
    """``apex2native -- *`` where the target has files that are called like options."""
    files = ["--write", "--allow-dirty", "-j9", "--report-json=r.json", "x.py"]
    tree(tmp_path, dict.fromkeys(files, LEGACY))
    run = tool("--", *files, cwd=tmp_path)
    assert run.returncode == 1, run.stderr
    assert {(tmp_path / name).read_text() for name in files} == {LEGACY}
    assert sorted(os.listdir(tmp_path)) == sorted(files)
    assert "+++ b/--write" in run.stdout
    assert tool("--check", "--", "--write", "--", cwd=tmp_path).stderr == (
        "apex2native: there is no file or directory --.\n"
    )
    assert tool("migrate", "--write", "--", "--write", cwd=tmp_path).returncode == 0
    assert (tmp_path / "--write").read_text() == NATIVE
    assert (tmp_path / "x.py").read_text() == LEGACY


def test_the_table_may_not_ask_for_more_processes_than_there_are_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from migrate import cli, command

    seen: list[int] = []

    def analyse(*_: object, jobs: int, **__: object) -> None:
        seen.append(jobs)
        raise UserWarning

    monkeypatch.setattr(command, "analyse", analyse)
    monkeypatch.setattr(command, "_cores", lambda: 4)
    for asked in (1, 4, 100000):
        tree(tmp_path, {"pyproject.toml": f"[tool.apex2native]\njobs = {asked}\n", "x.py": LEGACY})
        cli.main([str(tmp_path)], engine)
    cli.main([str(tmp_path), "-j", "9"], engine)
    assert seen == [1, 4, 4, 9]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x = " + "[" * 20000 + "]" * 20000, "nested too deeply"),
        ("x = " + "{a=" * 20000, "nested too deeply"),
        ("[" + "a." * 20000 + "a]", ""),
        ("jobs = " + "9" * 10000, "not valid TOML"),
        ("'\\u001b[31m' = 1", "which is none of"),
        ("\0", "not valid TOML"),
        ("x = '\x1b[31m'", "not valid TOML"),
        ("#" * (2 << 20), "it is too large"),
    ],
)
def test_a_table_that_is_an_attack(tmp_path: Path, content: str, said: str) -> None:
    tree(tmp_path, {"pyproject.toml": f"[tool.apex2native]\n{content}\n", "x.py": LEGACY})
    run = tool(tmp_path)
    assert run.returncode == 2 if said else run.returncode in (1, 2)
    assert said in run.stderr
    assert "Traceback" not in run.stderr and "\x1b" not in run.stderr
    assert len(run.stderr.splitlines()) <= 1


def test_a_table_out_of_the_tree_is_not_read(tmp_path: Path) -> None:
    tree(tmp_path, {"other/pyproject.toml": "[tool.apex2native]\ncolour = 1\n", "root/x.py": LEGACY})
    (tmp_path / "root" / "pyproject.toml").symlink_to("../other/pyproject.toml")
    assert tool(tmp_path / "root").returncode == 1


@pytest.mark.parametrize("leads", ["file", "folder", "pipe"])
def test_a_report_does_not_go_where_the_target_leads_it(tmp_path: Path, leads: str) -> None:
    tree(tmp_path, {"mine.json": "mine", "root/x.py": NATIVE, "mine/y": ""})
    root = tmp_path / "root"
    name = "r.json"
    if leads == "file":
        (root / name).symlink_to("../mine.json")
    elif leads == "folder":
        (root / "out").symlink_to("../mine")
        name = "out/r.json"
    else:
        os.mkfifo(root / name)
    run = tool(".", "--report-json", name, cwd=root)
    assert run.returncode == 2
    assert "cannot be written to" in run.stderr
    assert (tmp_path / "mine.json").read_text() == "mine"
    assert os.listdir(tmp_path / "mine") == ["y"]


# ---------------------------------------------------------------- nothing is run


MODULES = "__future__ argparse ast concurrent difflib hashlib json multiprocessing pyflakes re rich tempfile tomllib"


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A target whose modules leave a mark when they are imported."""
    code = f"import os\nos.close(os.open({str(tmp_path / 'sprung')!r}, os.O_CREAT | os.O_WRONLY))\n"
    names = [*MODULES.split(), "sitecustomize", "usercustomize", "conftest", "setup", "torch", "apex"]
    return tree(tmp_path / "root", {f"{name}.py": code + LEGACY for name in names} | {"x.py": LEGACY})


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_modules_of_the_target_are_not_imported(tmp_path: Path, trapped: Path, jobs: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "migrate", ".", "--write", "-j", jobs],
        cwd=trapped,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not (tmp_path / "sprung").exists()
    assert run.returncode in (0, 1), run.stderr
    assert "better run apex2native or python -P -m apex2native.migrate" in run.stderr


@pytest.mark.parametrize("path", [".", f"{os.pathsep}/nowhere"])
def test_a_module_path_that_holds_the_current_folder(tmp_path: Path, trapped: Path, path: str) -> None:
    script = tmp_path / "bin" / "apex2native"  # as pip writes it
    tree(tmp_path, {"bin/apex2native": "import sys\nfrom migrate.__main__ import main\nsys.exit(main())\n"})
    start = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], env=environment(), capture_output=True, text=True
    )
    for name in ("sitecustomize", "usercustomize", *start.stdout.split()):
        (trapped / f"{name}.py").unlink(missing_ok=True)  # Python imports it before any line of ours
    run = subprocess.run(
        [sys.executable, str(script), "."],
        cwd=trapped,
        env=environment(PYTHONPATH=f"{PROJECT}{os.pathsep}{path}"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not (tmp_path / "sprung").exists()
    assert run.returncode in (0, 1), run.stderr
    assert "better run apex2native" in run.stderr


def test_the_documented_way_says_nothing(tmp_path: Path, trapped: Path) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("python -P came with 3.11")
    run = subprocess.run(
        [sys.executable, "-P", "-m", "migrate", "."],
        cwd=trapped,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not (tmp_path / "sprung").exists()
    assert run.returncode in (0, 1) and run.stderr == ""


def test_no_program_no_network_no_file_elsewhere(tmp_path: Path) -> None:
    """Every call of the system that Python sees, of a whole run with ``--write`` outside of git."""
    root = tree(tmp_path / "root", {f"{at}.py": LEGACY for at in range(3)} | {"big.py": LEGACY + "#" * 10**5})
    program = (
        "import json, os, sys; from tests.shell import fake; from migrate import cli; seen = []\n"
        "def hook(event, arguments):\n"
        "    if event.partition('.')[0] in ('socket', 'subprocess', 'ftplib', 'urllib', 'ctypes') or event in (\n"
        "        'os.system', 'os.exec', 'os.posix_spawn', 'os.spawn', 'os.fork', 'os.forkpty', 'pty.spawn'):\n"
        "        seen.append([event, ''])\n"
        "    if event == 'open' and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):\n"
        "        seen.append([event, str(arguments[0])])\n"
        "cli.main([sys.argv[1], '--check'], fake.engine)\n"  # what is imported late is imported now
        "sys.addaudithook(hook)\n"
        "code = cli.main([sys.argv[1], '--write', '-j1'], fake.engine)\n"
        "print(json.dumps(seen), file=sys.stderr); sys.exit(code)\n"
    )
    run = subprocess.run(
        [sys.executable, "-B", "-c", program, str(root)], env=environment(), capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stderr)
    assert {event for event, _ in seen} == {"open"}
    assert all(os.path.basename(name) == name and name.startswith(".apex2native-") for _, name in seen)
    assert sorted(os.listdir(root)) == ["0.py", "1.py", "2.py", "big.py"]
