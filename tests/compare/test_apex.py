"""Whether Apex is usable, and the engine of `make apex`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from compare import apex, build_apex, toolchain
from compare.build_apex import Plan, Source, edit_setup
from compare.errors import UserError
from compare.toolchain import Toolkit
from tests.compare.doubles import fake_apex, fake_cuda

ROOT = Path(__file__).resolve().parents[2]
SOURCE = os.environ.get("APEX_SRC")
VARIABLES = ("APEX_SRC", "FORCE", "ALLOW_CUDA_MINOR", "TORCH_CUDA_ARCH_LIST", "MAX_JOBS", "CUDA_PATH", "CXX", "CC")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the doubles are shell scripts")


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the caller decides what a test sees."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


# ------------------------------------------------------------------ is it usable

APPLIER = (
    "class A:\n    available = {available}\n    import_err = ImportError('no kernels')\nmulti_tensor_applier = A()\n"
)
GOOD = {
    "apex/__init__.py": "",
    "apex/amp/__init__.py": "",
    "apex/multi_tensor_apply/__init__.py": APPLIER.format(available=True),
    "amp_C.py": "",
    "apex_C.py": "",
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Writes files where Python finds them first; `only()` leaves nothing else to be found."""
    names = ("apex", "amp_C", "apex_C")
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in names}

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))

    yield SimpleNamespace(write=write, folder=tmp_path, only=lambda: monkeypatch.setattr(sys, "path", [str(tmp_path)]))
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[name]
    sys.modules.update(hidden)


def test_an_apex_with_its_extensions_is_usable(install: SimpleNamespace) -> None:
    install.write(GOOD)
    assert apex.install_problem() is None


def test_no_apex(install: SimpleNamespace) -> None:
    install.only()
    assert apex.install_problem() == "NVIDIA Apex is not installed: run `make apex`."
    assert apex.apex_version() is None


def test_a_bare_folder_of_that_name_is_no_apex(install: SimpleNamespace) -> None:
    (install.folder / "apex").mkdir()
    install.only()
    assert apex.package() is None and "not installed" in (apex.install_problem() or "")


def changed(**files: str | None) -> dict[str, str]:
    """The good files, some with another text or left out. `amp_C` stands for amp_C.py, `amp` for apex/amp."""
    names = {
        "amp_C": "amp_C.py",
        "apex_C": "apex_C.py",
        "amp": "apex/amp/__init__.py",
        "applier": "apex/multi_tensor_apply/__init__.py",
        "apex": "apex/__init__.py",
    }
    others = {names[key]: text for key, text in files.items()}
    return {name: text for name, text in {**GOOD, **others}.items() if text is not None}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (changed(amp=None), "has no apex.amp, which 25.07 dropped: run `make apex`, which builds 25.05."),
        (changed(amp=None, applier=None), "is not NVIDIA's: uninstall it"),
        (changed(amp_C="raise ImportError('libc10.so: undefined symbol: _ZN3c10')"),
         "compiled amp_C does not load (libc10.so: undefined symbol: _ZN3c10): run `make apex` again, for this torch."),
        (changed(apex_C="raise OSError('bad')"), "compiled apex_C does not load (bad)"),
        (changed(applier=APPLIER.format(available=False)), "multi_tensor_applier is not available (no kernels)"),
        (changed(apex="raise AttributeError('torch has no _six')"), "does not import (torch has no _six)"),
    ],
)  # fmt: skip
def test_an_apex_of_no_use(install: SimpleNamespace, files: dict[str, str], words: str) -> None:
    install.write(files)
    problem = apex.install_problem()
    assert problem is not None and words in problem and "\n" not in problem


def test_an_apex_without_compiled_extensions_is_never_timed(install: SimpleNamespace) -> None:
    install.write(changed(amp_C=None))
    if apex.find_spec("amp_C") is not None:
        pytest.skip("a real amp_C is installed here and would be found")
    assert "without its compiled amp_C; its Python fallback is not timed" in (apex.install_problem() or "")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_that_is_the_reason(install: SimpleNamespace) -> None:
    install.write(GOOD)
    assert apex.apex_problem() == "Apex needs a CUDA device, and torch can use none here."
    assert "apex" not in sys.modules  # not even imported


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"commit": null, "edits": 3}'])
def test_a_damaged_record_says_nothing(install: SimpleNamespace, text: str) -> None:
    install.write({**GOOD, f"apex/{apex.RECORD}": text})
    found = apex.apex_version()
    assert found is not None and found.commit is None and found.edits == ()


def test_the_record_of_the_build_is_read_back(install: SimpleNamespace) -> None:
    install.write(GOOD)
    toolkit = Toolkit(Path("/cuda"), "13.0", ("75", "90"))
    plan = Plan(Source(None, "abc", "abc", "tag 25.05"), "2.11.0+cu130", "13.0", toolkit, "9.0", 1, False)
    build_apex.write_record(install.folder / "apex", plan, ["compute_70 became compute_75"])
    found = apex.apex_version()
    assert found is not None
    assert (found.commit, found.torch, found.cuda, found.arches) == ("abc", "2.11.0+cu130", "13.0", "9.0")
    assert found.edits == ("compute_70 became compute_75",) and found.source == "tag 25.05"
    json.dumps(found.to_json())


@pytest.mark.gpu
@pytest.mark.apex
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch can use no CUDA device here")
@pytest.mark.skipif(apex.package() is None, reason="NVIDIA Apex is not installed")
def test_the_real_apex_runs_and_leaves_torch_alone() -> None:
    before = torch.nn.functional.linear
    assert apex.apex_problem() is None
    assert torch.nn.functional.linear is before


# ------------------------------------------------------------------ the source

FLAGS = """\
if (bare_metal_version != torch_binary_version):
    raise RuntimeError("different")
cc_flag.append("arch=compute_70,code=sm_70")
cc_flag.append("arch=compute_80,code=sm_80")
"""


def test_an_architecture_that_nvcc_no_longer_knows_is_changed() -> None:
    text, edits = edit_setup(FLAGS, ("75", "80", "90"), drop_version_check=False)
    assert text == FLAGS.replace("arch=compute_70,code=sm_70", "arch=compute_75,code=sm_75")
    assert edits == ["compute_70, which this nvcc no longer knows, became compute_75"]


@pytest.mark.parametrize("arches", [("60", "70", "80"), ()])
def test_nothing_is_edited_where_nvcc_knows_it_or_cannot_say(arches: tuple[str, ...]) -> None:
    assert edit_setup(FLAGS, arches, drop_version_check=False) == (FLAGS, [])


def test_an_architecture_newer_than_nvcc_stays() -> None:
    text = FLAGS.replace("70", "130")
    assert edit_setup(text, ("75", "80"), drop_version_check=False) == (text, [])


def test_the_version_check_keeps_the_major_version() -> None:
    text, edits = edit_setup(FLAGS, ("70", "80"), drop_version_check=True)
    assert "if bare_metal_version.major != torch_binary_version.major:" in text and len(edits) == 1


@pytest.mark.apex
@pytest.mark.skipif(SOURCE is None, reason="APEX_SRC names no source tree of Apex")
def test_the_real_setup_py_is_edited_for_cuda_13() -> None:
    original = (Path(SOURCE or "") / "setup.py").read_text()
    text, edits = edit_setup(original, ("75", "80", "86", "90", "100", "120"), drop_version_check=True)
    assert "compute_70" in original and "compute_70" not in text and len(edits) == 2
    assert text.count("compute_75,code=sm_75") == original.count("compute_70,code=sm_70")
    compile(text, "setup.py", "exec")


@pytest.mark.apex
@pytest.mark.skipif(SOURCE is None, reason="APEX_SRC names no source tree of Apex")
def test_the_real_source_is_recognised() -> None:
    source = build_apex.find_source(Path(SOURCE or ""))
    assert (source.commit, source.title) == (build_apex.COMMIT, "tag 25.05")


def git(folder: Path, *arguments: str) -> str:
    named = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    command = ["git", "-C", str(folder), *named, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_folder_that_is_no_apex_or_has_no_amp(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a source tree of NVIDIA Apex"):
        build_apex.find_source(tmp_path)
    source = fake_apex(tmp_path / "new")
    shutil.rmtree(source / "apex" / "amp")
    with pytest.raises(UserError, match=r"without apex\.amp, which 25\.07 dropped: take tag 25\.05"):
        build_apex.find_source(source)


def test_a_checkout_is_named_by_its_commit_unless_it_was_changed(tmp_path: Path) -> None:
    folder = fake_apex(tmp_path / "mine")
    assert build_apex.find_source(folder).commit is None
    git(folder, "init", "--quiet")
    git(folder, "add", "--force", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    clean = build_apex.find_source(folder)
    assert clean.commit == git(folder, "rev-parse", "HEAD") and clean.commit[:12] in clean.title
    (folder / "csrc" / "flatten_unflatten.cpp").write_text("// changed\n")
    changed = build_apex.find_source(folder)
    assert changed.commit is None and "with changes" in changed.title and changed.identity != clean.identity


def test_a_clone_is_verified(tmp_path: Path) -> None:
    folder = fake_apex(tmp_path / "upstream")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "tag", "-a", "25.05", "-m", "annotated, as Apex's is")
    commit = git(folder, "rev-parse", "HEAD")
    url = folder.as_uri()
    build_apex.clone(tmp_path / "clone", url, "25.05", commit)
    assert (tmp_path / "clone" / "apex" / "amp").is_dir()
    with pytest.raises(UserError, match=f"is commit {commit}, not 0000"):
        build_apex.clone(tmp_path / "other", url, "25.05", "0000")
    assert not (tmp_path / "other").exists() and not (tmp_path / "other.part").exists()
    with pytest.raises(UserError, match=r"could not be cloned .*: set APEX_SRC"):
        build_apex.clone(tmp_path / "other", (tmp_path / "none").as_uri())


def test_without_git_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="git was not found: install it, or set APEX_SRC"):
        build_apex.clone(tmp_path / "clone")


def plan_for(source: Path, cuda: Path, version: str = "13.0") -> Plan:
    toolkit = Toolkit(cuda, version, ("75", "80", "90"))
    return Plan(build_apex.find_source(source), torch.__version__, "13.0", toolkit, "9.0", 1, False)


def test_the_users_folder_is_copied_and_never_changed(tmp_path: Path) -> None:
    source = fake_apex(tmp_path / "mine")
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    plan = plan_for(source, tmp_path)
    tree, edits = build_apex.prepare(plan, tmp_path / "folder")
    assert "compute_75" in (tree / "setup.py").read_text() and len(edits) == 1
    assert not (tree / "build").exists() and (tree / "csrc" / "flatten_unflatten.cpp").exists()
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before
    (tree / "compiled.o").touch()
    again, same = build_apex.prepare(plan, tmp_path / "folder")
    assert (again / "compiled.o").exists() and same == edits  # what is compiled is used on


# ------------------------------------------------------------------ the checks before


def test_the_toolkit_that_cuda_home_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_cuda(tmp_path / "cuda", "12.4", (100, 75, 90))
    monkeypatch.setenv("CUDA_HOME", str(home))
    assert toolchain.find_toolkit("13.0") == Toolkit(home, "12.4", ("75", "90", "100"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert f"CUDA_HOME is {tmp_path}, where there is no bin/nvcc" in str(toolchain.find_toolkit("13.0"))


def test_the_toolkit_of_a_linked_nvcc_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_cuda(tmp_path / "cuda", "99.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").symlink_to(home / "bin" / "nvcc")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    found = toolchain.find_toolkit("99.1")
    assert isinstance(found, Toolkit) and found.home == home


@pytest.mark.parametrize(
    ("nvcc", "cuda", "allow", "words"),
    [
        ("13.0", "13.0", False, None),
        (
            "12.4",
            "13.0",
            False,
            "install the CUDA toolkit 13.0 and set CUDA_HOME to it, or a torch wheel for CUDA 12.4.",
        ),
        ("12.4", "13.0", True, "nvcc in /cuda is of CUDA 12.4 and torch was built for CUDA 13.0"),
        ("12.4", "12.8", False, "or try with ALLOW_CUDA_MINOR=1, since only the minor version differs."),
        ("12.4", "12.8", True, None),
    ],
)
def test_the_version_of_nvcc(nvcc: str, cuda: str, allow: bool, words: str | None) -> None:
    problem = toolchain.version_problem(Toolkit(Path("/cuda"), nvcc, ()), cuda, allow)
    assert problem is None if words is None else words in (problem or "")


@pytest.mark.parametrize(
    ("arches", "words"),
    [
        ("9.0", None),
        ("7.5;9.0+PTX", None),
        ("Hopper", None),
        ("7.0", "7.0, which is older"),
        ("9.0;12.0", "12.0, which is newer"),
    ],
)
def test_an_architecture_that_nvcc_does_not_compile_for(arches: str, words: str | None) -> None:
    problem = toolchain.arch_problem(Toolkit(Path("/cuda"), "13.0", ("75", "80", "90")), arches)
    assert problem is None if words is None else words in (problem or "")


def test_the_nearest_architecture_of_the_same_major() -> None:
    toolkit = Toolkit(Path("/cuda"), "12.8", ("80", "86", "90", "100", "120"))
    found = [toolchain.nearest_arch(toolkit, capability) for capability in ("8.9", "9.0", "12.1", "7.5")]
    assert found == ["8.6", "9.0", "12.0", "7.5"]


def test_headers_compiler_and_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_cuda(tmp_path / "cuda", newest_gcc=4)
    toolkit = Toolkit(home, "13.0", ())
    monkeypatch.setattr(toolchain, "wheel_includes", list)
    assert toolchain.header_problem(toolkit) is None
    (home / "include" / "cusparse.h").unlink()
    assert "cusparse.h is neither in" in (toolchain.header_problem(toolkit) or "")
    if shutil.which("g++"):
        monkeypatch.setenv("CXX", "g++")
        assert "takes GCC 4 at most: install g++-4 and set CC=gcc-4 CXX=g++-4." in (
            toolchain.compiler_problem(toolkit) or ""
        )
    assert "the build needs 1048576.0 GiB: make room." in (toolchain.disk_problem(tmp_path / "a" / "b", 2**50) or "")
    assert toolchain.disk_problem(tmp_path, 1) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", "c++")
    assert toolchain.compiler_problem(toolkit) == "no C++ compiler was found (CXX is c++): install g++."


def test_python_headers_and_an_old_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    assert f"Python.h is not in {tmp_path}: install the headers" in (toolchain.python_header_problem() or "")
    monkeypatch.setattr(toolchain.metadata, "version", lambda name: "22.3")
    assert "pip 22.3 is too old, 23.1 is needed" in (toolchain.pip_problem() or "")


@pytest.mark.parametrize(
    ("versions", "missing"),
    [
        ({"setuptools": "65.5.0"}, ["wheel", "packaging", "numpy", "ninja"]),
        ({"setuptools": "80.9.0", "packaging": "25", "numpy": "2", "ninja": "1"}, []),
        ({"wheel": "0.45", "packaging": "25", "numpy": "2", "ninja": "1"}, ["setuptools"]),
    ],
)
def test_packages_the_build_imports(
    versions: dict[str, str], missing: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise toolchain.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(toolchain.metadata, "version", version)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchain.missing_packages() == missing


def test_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= toolchain.jobs() <= (os.cpu_count() or 1)
    monkeypatch.setenv("MAX_JOBS", "7")
    assert toolchain.jobs() == 7


# ------------------------------------------------------------------ the command


@pytest.fixture
def cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A double of a CUDA toolkit of torch's version, and a torch that was built for CUDA 13.0."""
    home = fake_cuda(tmp_path / "cuda", "13.0")
    monkeypatch.setenv("CUDA_HOME", str(home))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    return home


def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    source = fake_apex(tmp_path / "mine")
    code = build_apex.main(["--check", "--source", str(source), "--folder", str(tmp_path / "builds")])
    return code, capsys.readouterr().out


def test_check_says_that_it_can_be_built(
    cuda: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "9.0")
    code, output = check(tmp_path, capsys)
    assert "Apex can be built here." in output and code == 0
    assert "compute capability 9.0" in output and f"CUDA 13.0 ({cuda})" in output
    assert not (tmp_path / "builds").exists()


@pytest.mark.parametrize(("version", "allow", "code"), [("12.4", "1", 2), ("13.1", "", 2), ("13.1", "1", 0)])
def test_check_with_an_nvcc_of_another_version(
    version: str,
    allow: str,
    code: int,
    cuda: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake_cuda(cuda, version)
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "9.0")
    monkeypatch.setenv("ALLOW_CUDA_MINOR", allow)
    found, output = check(tmp_path, capsys)
    assert found == code
    assert version in output and "13.0" in output
    assert ("ALLOW_CUDA_MINOR: nvcc is 13.1" in output) is (code == 0)


def test_check_without_a_gpu_without_cuda_in_torch_and_without_nvcc(
    cuda: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_apex, "_present", lambda toolkit: "")
    assert "there is no GPU to build for: set TORCH_CUDA_ARCH_LIST" in check(tmp_path, capsys)[1]
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "9.0")
    code, output = check(tmp_path, capsys)
    assert code == 2 and "where there is no bin/nvcc that runs" in output
    monkeypatch.setattr(torch.version, "cuda", None)
    code, output = check(tmp_path, capsys)
    assert code == 2 and "is built without CUDA: install a torch wheel for CUDA first." in output


def test_the_first_errors_of_a_log_are_shown() -> None:
    log = [
        "  If your intention is to cross-compile, this is not an error.",
        "  [1/2] /usr/bin/nvcc -c -Werror=x a.cu # error: no",
        "  a.cu(3): error: identifier is undefined",
        "  ninja: build stopped: subcommand failed.",
        "  RuntimeError: Error compiling objects for extension",
    ]
    assert build_apex.first_errors(log) == [log[2].strip(), log[4].strip()]
    assert build_apex.first_errors(["one", "two"]) == ["one", "two"]


def test_a_failing_build_shows_its_error_and_keeps_its_log(
    cuda: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a real pip; setup.py fails before anything is installed."""
    source = fake_apex(tmp_path / "mine", setup="raise RuntimeError('this compiler is unwell')\n")
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "9.0")
    monkeypatch.setattr(toolchain, "missing_packages", list)
    monkeypatch.setattr(build_apex, "already", lambda plan: None)
    code = build_apex.main(["--source", str(source), "--folder", str(tmp_path / "builds")])
    output = capsys.readouterr().out
    assert code == 2 and "RuntimeError: this compiler is unwell" in output
    logs = list((tmp_path / "builds").glob("*/build.log"))
    assert len(logs) == 1 and f"the whole log is {logs[0]}" in output and "unwell" in logs[0].read_text()


SLOW = """\
import os, pathlib, sys, time
pathlib.Path(os.environ["STARTED"]).write_text(str(os.getpid()))
time.sleep(600)
"""


@pytest.mark.skipif(torch.version.cuda is None, reason="torch is built without CUDA")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look at processes in")
def test_an_interrupted_build_ends_its_compilers(tmp_path: Path) -> None:
    """SIGTERM, which goes the way of Ctrl-C; but for a signal handler of its own the compilers would go on."""
    source = fake_apex(tmp_path / "mine", setup=SLOW)
    home = fake_cuda(tmp_path / "cuda", str(torch.version.cuda))
    started = tmp_path / "started"
    surroundings = {**os.environ, "CUDA_HOME": str(home), "TORCH_CUDA_ARCH_LIST": "9.0", "STARTED": str(started)}
    code = "import sys; from compare import build_apex, toolchain; toolchain.missing_packages = list; "
    code += "build_apex.already = lambda plan: None; sys.exit(build_apex.main())"
    command = [sys.executable, "-c", code, "--source", str(source), "--folder", str(tmp_path / "builds")]
    process = subprocess.Popen(command, cwd=ROOT, env=surroundings, stdout=subprocess.PIPE, text=True)
    try:
        while not (started.exists() and started.read_text()):
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == build_apex.INTERRUPTED and "interrupted; the next run continues" in output
    deadline = time.monotonic() + 300
    while running(int(started.read_text())):
        assert time.monotonic() < deadline, "setup.py still runs"
        time.sleep(0.05)


def running(pid: int) -> bool:
    """Whether the process is there and is not one that ended and nobody asked about."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


OURS = apex.ApexVersion("0.1", "abc", "tag 25.05", "abc", torch="2.11.0", cuda="13.0", arches="9.0")
OTHER = apex.ApexVersion("0.1")
BROKEN = {"install": "Apex's compiled amp_C does not load.", "problem": "the same", "gpu": True}
UNTRIED = {"install": None, "problem": "Apex needs a CUDA device.", "gpu": False}
RUNS = {"install": None, "problem": None, "gpu": True}
FAILS = {"install": None, "problem": "Apex's fused kernels do not run on this GPU.", "gpu": True}
CUDA = Toolkit(Path("/cuda"), "13.0", ("90",))
SAME = Plan(Source(None, "abc", "abc", "tag 25.05"), "2.11.0", "13.0", CUDA, "9.0", 1, False)
OTHER_SOURCE = Plan(Source(Path("/mine"), "def", "def", "from mine"), "2.11.0", "13.0", CUDA, "9.0", 1, False)
OTHER_TORCH = Plan(SAME.source, "2.12.0", "13.0", CUDA, "9.0", 1, False)


@pytest.mark.parametrize(
    ("installed", "found", "plan", "words"),
    [
        (None, RUNS, SAME, None),
        (OURS, RUNS, SAME, "Apex tag 25.05 is already built for torch 2.11.0 and compute capability 9.0."),
        (OURS, UNTRIED, SAME, "already built"),
        (OURS, FAILS, SAME, None),
        (OURS, BROKEN, SAME, None),
        (OURS, RUNS, OTHER_TORCH, None),
        (OURS, RUNS, OTHER_SOURCE, None),
        (OURS, RUNS, None, "already built"),
        (OURS, UNTRIED, None, None),
        (OTHER, RUNS, SAME, "A usable Apex (0.1), not built by make apex, is already installed."),
        (OTHER, RUNS, None, "A usable Apex"),
        (OTHER, UNTRIED, SAME, None),
    ],
)
def test_when_nothing_need_be_built(
    installed: apex.ApexVersion | None,
    found: dict[str, object],
    plan: Plan | None,
    words: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apex, "apex_version", lambda: installed)
    monkeypatch.setattr(build_apex, "verify", lambda: found)
    said = build_apex.already(plan)
    assert said is None if words is None else words in (said or "")


def test_a_build_from_another_source_serves_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apex, "apex_version", lambda: replace(OURS, source="from mine", commit=None, identity="def"))
    monkeypatch.setattr(build_apex, "verify", lambda: RUNS)
    assert "from mine is already built" in (build_apex.already(SAME) or "")


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment of its own that sees this one's packages: what is installed there stays there."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    lines = [f"import site; site.addsitedir({path!r})" for path in sys.path if path.endswith("site-packages")]
    target = next(folder.glob("lib/python*/site-packages"))
    (target / "others.pth").write_text("\n".join(lines) + "\n")
    return python


@pytest.mark.skipif(
    "wheel" in toolchain.missing_packages() or "setuptools" in toolchain.missing_packages(),
    reason="this environment cannot build a wheel without a download (no setuptools 70.1 or newer, no wheel)",
)
@pytest.mark.skipif(torch.version.cuda is None, reason="torch is built without CUDA")
def test_build_install_verify_record_and_nothing_to_do(apart: Path, tmp_path: Path) -> None:
    """The whole command in real processes, on a tree whose extensions are Python modules."""
    source = fake_apex(tmp_path / "mine")
    home = fake_cuda(tmp_path / "cuda", str(torch.version.cuda))
    surroundings = {**os.environ, "CUDA_HOME": str(home), "TORCH_CUDA_ARCH_LIST": "9.0", "CUDA_VISIBLE_DEVICES": ""}
    command = [str(apart), "-m", "compare.build_apex", "--source", str(source), "--folder", str(tmp_path / "builds")]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more], cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False
        )

    first = run()
    assert first.returncode == 0, first.stdout + first.stderr
    assert "extension 1: amp_C" in first.stdout and "multi_tensor_applier is available" in first.stdout
    assert "It cannot be tried further here: Apex needs a CUDA device" in first.stdout
    record = next(apart.parent.parent.glob(f"lib/python*/site-packages/apex/{apex.RECORD}"))
    recorded = json.loads(record.read_text())
    assert recorded["torch"] == torch.__version__ and recorded["arches"] == "9.0" and recorded["source"] == "from mine"
    second = run()
    assert second.returncode == 0 and "already built" in second.stdout and "Nothing to do" in second.stdout
    (source / "csrc" / "flatten_unflatten.cpp").write_text("// changed\n")
    assert "Apex can be built here." in run("--check").stdout
