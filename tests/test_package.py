"""What is installed: both halves below one name, whole, and running from there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a wheel of this tree was unpacked into. No network: the backend is the environment's own."""
    place = tmp_path_factory.mktemp("wheel")
    source = tmp_path_factory.mktemp("source") / "clone"
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    tracked = subprocess.run(listing, cwd=ROOT, capture_output=True, check=False)
    names = [name for name in tracked.stdout.decode().split("\0") if name]
    if not names:
        pytest.skip("this is no git checkout: what belongs to the project is not known")
    for name in names:
        if (
            name.split("/")[0] in (*HALVES, "pyproject.toml", "setup.py", "README.md", "LICENSE")
            and (ROOT / name).is_file()
        ):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    building = ["pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation", "-w", place, source]
    done = subprocess.run([sys.executable, "-m", *building], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = place.glob("*.whl")
    target = place / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def test_nothing_general_lands_in_site_packages(installed: Path) -> None:
    assert sorted(path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")) == ["apex2native"]
    assert sorted(path.name for path in (installed / "apex2native").iterdir()) == sorted(HALVES)


def test_every_file_is_there(installed: Path) -> None:
    kept = (".py", ".json", ".css", ".js", ".jinja", ".typed")
    for half in HALVES:
        here = {path.relative_to(ROOT) for path in (ROOT / half).rglob("*") if path.suffix in kept}
        there = {path.relative_to(installed / "apex2native") for path in (installed / "apex2native" / half).rglob("*")}
        missing = {str(path) for path in here - there if "__pycache__" not in path.parts}
        assert missing == set()


def run(installed: Path, module: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"apex2native.{module}", *words],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_it_runs_from_there(installed: Path, tmp_path: Path) -> None:
    script = tmp_path / "legacy.py"
    script.write_bytes((ROOT / "docs" / "example" / "legacy_train.py").read_bytes())
    dry = run(installed, "migrate", str(script), cwd=tmp_path)
    assert dry.returncode == 1 and "GradScaler" in dry.stdout, dry.stderr
    assert run(installed, "migrate", "--version", cwd=tmp_path).stdout.startswith("apex2native ")
    assert "autocast" in run(installed, "migrate", "explain", "APX030", cwd=tmp_path).stdout
    page = run(installed, "migrate", str(script), "--format", "html", cwd=tmp_path)
    assert "</html>" in page.stdout, page.stderr
    fused = tmp_path / "fused.py"
    fused.write_text("from apex.optimizers import FusedLAMB\nopt = FusedLAMB([])\n")
    assert "class LAMB" in run(installed, "migrate", str(fused), cwd=tmp_path).stdout
    assert "python" in run(installed, "compare", "doctor", cwd=tmp_path).stdout


def test_a_comparison_starts_its_processes_from_there(installed: Path, tmp_path: Path) -> None:
    plan = run(installed, "compare", "run", "--profile", "smoke", "--plan", "--data", "synthetic", cwd=tmp_path)
    assert plan.returncode == 0, plan.stderr + plan.stdout
