"""A short `make torture`: the real command, killed at random moments."""

from __future__ import annotations

from pathlib import Path

from tests.shell.torture import torture


def test_the_real_command_killed_at_random_moments(tmp_path: Path) -> None:
    seen = torture(tmp_path, kills=10, files=12, seed=1)
    assert seen.failures == []
    assert seen.counts.total() >= 10
