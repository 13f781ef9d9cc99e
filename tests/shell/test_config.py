"""``[tool.apex2native]`` and the options on top of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate import config
from migrate.errors import UserError
from migrate.model import Settings
from tests.shell.support import LEGACY, tool, tree

FULL = """
[tool.apex2native]
dtype = "bfloat16"
device-type = "xpu"
target-torch = "2.10"
eval = "fp32"
safe-only = true
exclude = ["tests", "a/*.py"]
jobs = 3
"""


def table(*lines: str) -> str:
    return "\n".join(["[tool.apex2native]", *lines, ""])


def test_every_key_is_read(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": FULL})
    assert config.load([str(tmp_path)]) == config.Config(
        Settings("bfloat16", "xpu", (2, 10), "fp32", True), ("tests", "a/*.py"), 3
    )


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "pyproject.toml": table('eval = "fp32"'),
            "a/pyproject.toml": "[project]\nname = 'x'\n",
            "a/b/pyproject.toml": table('dtype = "bfloat16"'),
            "a/b/x.py": "",
            "a/y.py": "",
        },
    )
    near = config.load([str(tmp_path / "a/b/x.py")]).settings
    assert (near.dtype, near.eval) == ("bfloat16", "autocast")
    far = config.load([str(tmp_path / "a/b/x.py"), str(tmp_path / "a/y.py")]).settings
    assert (far.dtype, far.eval) == ("float16", "fp32")


def test_a_repository_ends_the_search(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": table('eval = "fp32"'), "repo/.git/x": "", "repo/x.py": ""})
    assert config.load([str(tmp_path / "repo")]) == config.Config()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('dtypes = "float16"', "sets 'dtypes' in [tool.apex2native], which is none of: device-type, dtype,"),
        ('dtype = "float32"', "dtype is one of float16, bfloat16, not 'float32'"),
        ("dtype = 16", "dtype is one of float16, bfloat16, not 16"),
        ('device-type = "cuda:0"', "device-type is a word such as cuda"),
        ("target-torch = 2.4", 'target-torch is a version in quotes such as "2.4", not 2.4'),
        ('target-torch = "1.5"', "target-torch is 1.6 or newer"),
        ('eval = "half"', "eval is one of autocast, fp32"),
        ('safe-only = "yes"', "safe-only is true or false"),
        ('exclude = "tests"', "exclude is a list"),
        ("exclude = [1]", "exclude is a list"),
        ("jobs = 0", "jobs is a whole number from 1 up"),
        ("jobs = true", "jobs is a whole number from 1 up"),
        ('dtype = "bfloat16"\ntarget-torch = "1.9"', "need target-torch 1.10 or newer"),
        ("dtype = ", "is not valid TOML"),
    ],
)
def test_a_wrong_table_is_one_sentence(tmp_path: Path, line: str, said: str) -> None:
    tree(tmp_path, {"pyproject.toml": table(line), "x.py": LEGACY})
    with pytest.raises(UserError) as caught:
        config.load([str(tmp_path)])
    assert said in str(caught.value)
    assert str(tmp_path / "pyproject.toml") in str(caught.value)


@pytest.mark.parametrize("content", ["[tool]\napex2native = 1\n", "tool = 'apex2native'\n"])
def test_a_table_that_is_none(tmp_path: Path, content: str) -> None:
    tree(tmp_path, {"pyproject.toml": content})
    with pytest.raises(UserError):
        config.load([str(tmp_path)])


def test_a_file_without_our_table_may_be_as_broken_as_it_likes(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": "[[[\n"})
    assert config.load([str(tmp_path)]) == config.Config()


def test_options_win_and_exclusions_add_up(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": FULL})
    options = {
        "dtype": "float16",
        "eval": None,
        "safe_only": None,
        "exclude": ["b"],
        "jobs": 1,
        "paths": ["x"],
    }
    merged = config.with_options(config.load([str(tmp_path)]), options)
    assert merged.settings == Settings("float16", "xpu", (2, 10), "fp32", True)
    assert merged.exclude == ("tests", "a/*.py", "b")
    assert merged.jobs == 1


def test_the_tool_obeys_and_refuses(tmp_path: Path) -> None:
    tree(tmp_path, {"pyproject.toml": table('exclude = ["legacy"]'), "legacy/x.py": LEGACY})
    assert tool(tmp_path).returncode == 0
    tree(tmp_path, {"pyproject.toml": table("colour = 1")})
    run = tool(tmp_path)
    assert run.returncode == 2
    assert run.stdout == "" and len(run.stderr.splitlines()) == 1
