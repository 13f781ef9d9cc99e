"""What the statistics of speed promise, simulated: `python -m compare.simulation` prints the table of
docs/comparison.md.

Made-up sessions of a known truth: the spread of a process is half a percent, the arms differ by one percent or not at
all. The same numbers each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import stats

SPREAD, DIFFERENCE = 0.005, 0.01
SESSIONS, RESAMPLES = 2000, 999
BLOCKS = (3, 5, 8, 20)

Sample = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Sample]


def normal(rng: np.random.Generator, size: tuple[int, int]) -> Sample:
    return rng.normal(0.0, 1.0, size)


def skewed(rng: np.random.Generator, size: tuple[int, int]) -> Sample:
    """Log-normal with a skewness of 1.75, of mean 0 and spread 1."""
    drawn: Sample = np.exp(rng.normal(0.0, 0.5, size))
    return (drawn - math.exp(0.125)) / math.sqrt((math.exp(0.25) - 1) * math.exp(0.25))


def outliers(rng: np.random.Generator, size: tuple[int, int]) -> Sample:
    """Normal, but one process in ten lies five times as far out."""
    return rng.normal(0.0, 1.0, size) * np.where(rng.random(size) < 0.1, 5.0, 1.0)


DRAWS: dict[str, Draw] = {"normal": normal, "skewed": skewed, "one outlier in ten": outliers}


@dataclass(frozen=True)
class Row:
    """What came out of `SESSIONS` sessions of one kind."""

    spread: str
    blocks: int
    covered: float
    """Share of Student's intervals that hold the truth."""
    half_width: float
    """Median of half their width, as a share."""
    bootstrap_covered: float | None
    bootstrap_width: float | None
    """Median of the bootstrap-t's width over Student's."""
    found: float
    """Share of sessions whose interval excludes 1 where the truth is `DIFFERENCE`."""
    found_by_largest: float
    """The same by the rule that a ratio has to exceed the largest single A/A pair of two arms."""


def rows() -> Iterator[Row]:
    """A row for each kind of spread and each number of blocks."""
    for name, draw in DRAWS.items():
        for blocks in BLOCKS:
            yield _row(name, draw, blocks)


def _row(name: str, draw: Draw, blocks: int) -> Row:
    rng = np.random.default_rng(blocks)
    # A ratio has the spread of two processes.
    logs = SPREAD * (draw(rng, (SESSIONS, blocks)) - draw(rng, (SESSIONS, blocks)))
    pairs = SPREAD * (draw(rng, (SESSIONS, 2 * blocks)) - draw(rng, (SESSIONS, 2 * blocks)))
    largest = np.abs(pairs).max(axis=1)
    covered = found = beyond = boot = 0
    widths, relative = [], []
    for sample, most in zip(logs, largest, strict=True):
        low, high = stats.log_interval(sample)
        covered += low <= 0.0 <= high
        widths.append((high - low) / 2)
        seen = low + DIFFERENCE > 0
        found += seen
        beyond += seen and float(sample.mean()) + DIFFERENCE > most
        beside = stats.bootstrap_t(sample.tolist(), RESAMPLES) if blocks >= stats.BOOTSTRAP_FROM else None
        if beside is not None:
            boot += beside[0] <= 0.0 <= beside[1]
            relative.append((beside[1] - beside[0]) / (high - low))
    return Row(
        name,
        blocks,
        covered / SESSIONS,
        float(np.median(widths)),
        boot / len(relative) if relative else None,
        float(np.median(relative)) if relative else None,
        found / SESSIONS,
        beyond / SESSIONS,
    )


def table(found: Iterable[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| spread of a process | blocks | covers | half width | bootstrap-t covers | its width | finds 1 % | by the "
        "largest A/A pair |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        boot = "-" if row.bootstrap_covered is None else f"{100 * row.bootstrap_covered:.1f} %"
        width = "-" if row.bootstrap_width is None else f"{row.bootstrap_width:.2f} times"
        lines.append(
            f"| {row.spread} | {row.blocks} | {100 * row.covered:.1f} % | {100 * row.half_width:.2f} % | {boot} | "
            f"{width} | {100 * row.found:.0f} % | {100 * row.found_by_largest:.0f} % |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(rows()))
