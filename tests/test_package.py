"""What is installed: both halves below one name, whole, and running from there."""

from __future__ import annotations

import ast
import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HALVES = ("migrate", "compare")
SOURCES = sorted(path for half in HALVES for path in (ROOT / half).rglob("*.py"))


@pytest.mark.parametrize("half", HALVES)
def test_imports_within_a_half_are_relative(half: str) -> None:
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found += [f"{path}:{node.lineno}" for name in names if name.partition(".")[0] == half]  # type: ignore[attr-defined]
    assert found == []


def test_no_text_names_a_module_as_a_clone_does() -> None:
    """Such as `-m compare.worker`: where it is installed the module has another name."""
    named = re.compile(rf"(?:{'|'.join(HALVES)})(?:\.[a-z_]+)+(?::\w+)?")
    found = []
    for path in SOURCES:
        tree = ast.parse(path.read_bytes())
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings may say anything
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                if named.fullmatch(node.value):
                    found.append(f"{path}:{node.lineno}: {node.value}")
    assert found == []


@dataclass(frozen=True)
class Built:
    """A source distribution, the wheel that was made of it, and the folder into which pip installed that."""

    names: frozenset[str]  # the files of both halves
    archive: Path
    wheel: Path
    target: Path


PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
SDIST = "import sys, setuptools.build_meta as backend; backend.build_sdist(sys.argv[1])"


def do(*words: str | Path, cwd: Path = ROOT) -> None:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """From what git knows of this tree, as a clone has it. No network: the backend is the environment's own."""
    pytest.importorskip("setuptools", minversion="77", reason="setuptools 77 builds it")
    place = tmp_path_factory.mktemp("built")
    source, made, target = place / "clone", place / "made", place / "target"
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, check=False).stdout.decode().split("\0")
    names = [name for name in listed if name and (ROOT / name).is_file()]
    if not names:
        pytest.skip("this is no git checkout: what belongs to the project is not known")
    for name in names:
        if name.split("/")[0] in (*HALVES, "tests") or "/" not in name:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    made.mkdir()
    do(sys.executable, "-c", SDIST, made, cwd=source)
    (archive,) = made.glob("*.tar.gz")
    do(*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", made, archive)
    (wheel,) = made.glob("*.whl")
    do(*PIP, "install", "--no-deps", "--no-index", "--no-compile", "--target", target, wheel)
    ours = frozenset(name for name in names if name.split("/")[0] in HALVES)
    return Built(ours, archive, wheel, target)


def test_every_file_is_in_the_wheel_and_none_beside_them(built: Built) -> None:
    """Nothing general lands in site-packages."""
    with zipfile.ZipFile(built.wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == {f"apex2native/{name}" for name in built.names}


def test_the_source_distribution_has_what_builds_it_and_no_tests(built: Built) -> None:
    with tarfile.open(built.archive) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE", "CHANGELOG.md"} <= inside
    assert not [name for name in inside if name.startswith("tests/")]


def test_what_the_wheel_says_of_itself(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        about = email.message_from_bytes(archive.read(name))
        licences = [one for one in archive.namelist() if one.endswith("licenses/LICENSE")]
    assert about["Name"] == "apex2native" and about["License-Expression"] == "BSD-3-Clause" and len(licences) == 1
    needed = {one.split(">")[0] for one in about.get_all("Requires-Dist") if "extra ==" not in one}
    assert needed == {"pyflakes", "rich", "tomli"}, "a migration needs no torch"


def run(built: Built, command: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The console script."""
    return subprocess.run(
        [built.target / "bin" / command, *words],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(built.target)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_it_runs_from_there(built: Built, tmp_path: Path) -> None:
    where = [sys.executable, "-c", "import apex2native.migrate as half; print(half.__file__)"]
    path = {**os.environ, "PYTHONPATH": str(built.target)}
    at = subprocess.run(where, cwd=tmp_path, env=path, capture_output=True, text=True, check=True).stdout
    assert Path(at).is_relative_to(built.target), "and not from the clone"
    script = tmp_path / "legacy.py"
    script.write_bytes((ROOT / "docs" / "example" / "legacy_train.py").read_bytes())
    dry = run(built, "apex2native", str(script), cwd=tmp_path)
    assert dry.returncode == 1 and "GradScaler" in dry.stdout, dry.stderr
    assert run(built, "apex2native", "--version", cwd=tmp_path).stdout.startswith("apex2native ")
    assert "autocast" in run(built, "apex2native", "explain", "APX030", cwd=tmp_path).stdout
    for command in ("verify", "convert-checkpoint"):
        assert f"apex2native {command}" in run(built, "apex2native", command, "--help", cwd=tmp_path).stdout
    page = run(built, "apex2native", str(script), "--format", "html", cwd=tmp_path)
    assert "</html>" in page.stdout, page.stderr
    fused = tmp_path / "fused.py"
    fused.write_text("from apex.optimizers import FusedLAMB\nopt = FusedLAMB([])\n")
    assert "class LAMB" in run(built, "apex2native", str(fused), cwd=tmp_path).stdout
    assert "python" in run(built, "amp-compare", "doctor", cwd=tmp_path).stdout


def test_a_comparison_starts_its_processes_from_there(built: Built, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    plan = run(built, "amp-compare", "run", "--profile", "smoke", "--plan", "--data", "synthetic", cwd=tmp_path)
    assert plan.returncode == 0, plan.stderr + plan.stdout
