from __future__ import annotations

from pathlib import Path

import pytest

from tests.report import made


@pytest.fixture(scope="package")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as it was; nobody writes to it."""
    return made.repository(tmp_path_factory.mktemp("legacy"))


@pytest.fixture(scope="package")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, migrated with --write."""
    place = made.repository(tmp_path_factory.mktemp("migrated"))
    assert made.tool(".", "--write", cwd=place).returncode == 1  # something is left by hand
    return place
