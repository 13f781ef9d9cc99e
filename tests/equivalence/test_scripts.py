"""Every legacy script is migrated, and both versions compute the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.model import ModuleResult, Settings

from .checks import examine
from .harness import HERE, SCRIPTS, read_header, read_script

engine = pytest.importorskip("migrate.engine", reason="the engine is not there yet")
pytest.importorskip("torch", reason="the scripts are run")

NOOP = HERE / "noop"
FRESH = HERE / "fresh"  # programs by people who had not read the tool, written to break it


def _scripts() -> list[Path]:
    return sorted([*SCRIPTS.glob("*.py"), *FRESH.glob("*.py")])


@pytest.mark.parametrize("script", _scripts(), ids=lambda script: script.stem)
def test_script(script: Path) -> None:
    text = read_script(script)
    complaints = examine(text, read_header(text), engine.migrate_module)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("script", sorted(NOOP.glob("*.py")), ids=lambda script: script.stem)
def test_no_apex(script: Path) -> None:
    """What only looks like Apex is left alone, and nothing is said about it."""
    assert engine.migrate_module(read_script(script), Settings()) in (
        ModuleResult(None),
        ModuleResult(None, parsed=False),
    )
