"""The table of docs/comparison.md is what the simulation gives, and says what the text beside it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from compare import simulation
from tests.effort import long

pytestmark = long
DOCUMENT = Path(__file__).parents[2] / "docs" / "comparison.md"


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, int], simulation.Row]:
    return {(row.spread, row.blocks): row for row in simulation.rows()}


def test_the_documented_table_is_the_simulated_one(rows: dict[tuple[str, int], simulation.Row]) -> None:
    assert simulation.table(rows.values()) in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("blocks", simulation.BLOCKS)
@pytest.mark.parametrize("spread", simulation.DRAWS)
def test_intervals_of_ratios_cover_what_they_promise(
    rows: dict[tuple[str, int], simulation.Row], spread: str, blocks: int
) -> None:
    assert 0.94 <= rows[spread, blocks].covered <= 0.975


@pytest.mark.parametrize("spread", simulation.DRAWS)
def test_more_blocks_find_more(rows: dict[tuple[str, int], simulation.Row], spread: str) -> None:
    found = [rows[spread, blocks].found for blocks in simulation.BLOCKS]
    assert found == sorted(found) and found[-1] > 0.85
    widths = [rows[spread, blocks].half_width for blocks in simulation.BLOCKS]
    assert widths == sorted(widths, reverse=True)
    # The rule this replaced found less, and the less the more blocks there were.
    assert rows[spread, 20].found_by_largest < rows[spread, 5].found_by_largest < rows[spread, 5].found
