"""`apex2native verify` on real repositories, by recipes (recipes/__init__.py).

``RECIPES=/path/to/repositories`` names the folder (or several) that holds them as ``owner+name``. The example of this
project needs none.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.verify.test_command import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent / "recipes"
NAMES = sorted(path.parent.name for path in HERE.glob("*/recipe.toml"))
KEYS = set("repository commit tree needs command options verdict quantity rule steps showed".split())


def _recipe(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name / "recipe.toml").read_text(encoding="utf-8"))


def _tree(recipe: dict[str, Any]) -> Path:
    """The folder that the recipe runs in. Skips, and says why, where it is not here."""
    for package in recipe.get("needs", ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if "repository" not in recipe:
        return ROOT / recipe["tree"]
    folders = [Path(one) for one in os.environ.get("RECIPES", "").split(os.pathsep) if one]
    if not folders:
        pytest.skip("RECIPES names no folder with repositories (owner+name)")
    for folder in folders:
        for between in ("+", "__"):
            found = folder / recipe["repository"].replace("/", between) / recipe.get("tree", "")
            if found.is_dir():
                return found
    pytest.skip(f"RECIPES holds no {recipe['repository'].replace('/', '+')}")


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_says_all_there_is(name: str) -> None:
    recipe = _recipe(name)
    assert set(recipe) <= KEYS
    assert {"command", "verdict", "steps", "showed"} <= set(recipe)
    assert ("repository" in recipe) == ("commit" in recipe)
    assert set(recipe["verdict"]) <= {"equal", "within noise", "parted"}
    assert ("quantity" in recipe) == (recipe["verdict"] == ["parted"])


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe(name: str, tmp_path: Path) -> None:
    recipe = _recipe(name)
    tree = _tree(recipe)
    stub = tmp_path / "stub"
    shutil.copytree(HERE / name / "stub", stub) if (HERE / name / "stub").is_dir() else stub.mkdir()
    if (HERE / name / "make.py").exists():
        subprocess.run([sys.executable, str(HERE / name / "make.py")], cwd=stub, check=True)
    command = [word.replace("{python}", sys.executable) for word in recipe["command"]]
    kept = ["--keep", os.environ["RECIPES_KEEP"]] if "RECIPES_KEEP" in os.environ else []
    words = [str(tree), "--json", "--stub", str(stub), *kept, *recipe.get("options", ()), "--", *command]
    done = subprocess.run(
        [sys.executable, "-m", "migrate", "verify", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] in recipe["verdict"], json.dumps(said["parted"] or said, indent=1)
    assert said["steps"] == recipe["steps"], said["notes"]
    assert said["compared"]["weights"] > 0
    if "quantity" in recipe:
        assert said["parted"]["differences"][0]["quantity"] == recipe["quantity"], said["parted"]
        assert (said["named_by_migration"] or "").partition(" ")[0] == recipe.get("rule", ""), said
