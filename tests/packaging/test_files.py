"""Which files are looked at."""

from __future__ import annotations

import pytest

from migrate.packaging.files import Kind, chosen, kind


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("requirements.txt", Kind.REQUIREMENTS),
        ("requirements-dev.txt", Kind.REQUIREMENTS),
        ("dev_requirements.txt", Kind.REQUIREMENTS),
        ("requirements.in", Kind.REQUIREMENTS),
        ("requirements/train.txt", Kind.REQUIREMENTS),
        ("constraints.txt", Kind.REQUIREMENTS),
        ("a/setup.py", Kind.SETUP_PY),
        ("setup.cfg", Kind.SETUP_CFG),
        ("pyproject.toml", Kind.TOML),
        ("Pipfile", Kind.TOML),
        ("environment.yml", Kind.YAML),
        (".github/workflows/test.yaml", Kind.YAML),
        ("Dockerfile", Kind.DOCKER),
        ("docker/Dockerfile.gpu", Kind.DOCKER),
        ("gpu.Dockerfile", Kind.DOCKER),
        (".gitmodules", Kind.SUBMODULES),
        ("Makefile", Kind.SHELL),
        ("run.slurm", Kind.SHELL),
        ("run.SH", Kind.SHELL),
        ("bin/install-apex", Kind.SHELL),
        ("README.md", Kind.DOCS),
        ("README", Kind.DOCS),
        ("install.txt", Kind.DOCS),
        ("docs/index.rst", Kind.DOCS),
        ("config.json", Kind.CONFIG),
        ("words.txt", Kind.DATA),
    ],
)
def test_kinds(path: str, expected: Kind) -> None:
    assert kind(path) is expected


@pytest.mark.parametrize(
    "path",
    [
        "train.py",
        "notebook.ipynb",
        "CHANGELOG.md",
        "HISTORY.rst",
        "package.json",
        "image.jpg",
        "model.pth",
        "data.csv",
        "trigger.cls",
        "log.log",
        "kernel.cu",
        "LICENSE",
    ],
)
def test_what_is_not_looked_at(path: str) -> None:
    assert kind(path) is None


def test_a_heap_of_data_is_left_out() -> None:
    heap = [f"{number}.json" for number in range(500)]
    assert chosen("labels", [*heap, "README.md", "train.sh"]) == ["README.md", "train.sh"]
