"""Distribution of the step time of every arm, each relative to its own median."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from .. import format as fmt
from ..results import Results, StepTimes
from .canvas import INK, Plate, arm_rows, canvas, rows_height, styled, two_lines
from .colours import look

_SHAPE_FROM = 40
"""Steps from which a shape says more than a dot for each."""


@styled
def figure(results: Results) -> Figure | None:
    """A row an arm: the shape above, below it the quartiles as a box and a line to the 95th percentile.

    On one axis of milliseconds the shape of a fast arm would be a spike beside a slow one.
    """
    rows = _rows(results)
    if not rows:
        return None
    seen = "Each arm relative to its own median, which stands in the row's label."
    figure, (axes,) = canvas(results, "How even are the steps?", seen, [rows_height(len(rows), 0.52)])
    limits = _limits(rows)
    for place, (arm, steps) in enumerate(rows):
        _draw(axes, place, arm, steps, limits)
    arm_rows(axes, [arm for arm, _ in rows])
    axes.set_yticks(range(len(rows)), [f"{two_lines(arm)}\n{fmt.milliseconds(steps.median_ms)}" for arm, steps in rows])
    axes.set_xlim(*limits)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: fmt.points(value, 6).rstrip("0").rstrip(".")))
    axes.locator_params(axis="x", nbins=7)
    axes.axvline(0, color=INK, linewidth=0.7, zorder=0.6)
    axes.set_xlabel("Step time against the median (%)")
    return figure


def alt(results: Results) -> str:
    rows = [
        f"{arm} median {fmt.milliseconds(steps.median_ms)}, middle half {fmt.significant(steps.q1_ms)} to "
        f"{fmt.milliseconds(steps.q3_ms)}, 95th percentile {fmt.milliseconds(steps.p95_ms)}"
        for arm, steps in _rows(results)
    ]
    return f"Distribution of the time of one training step: {'; '.join(rows)}."


def relative(value: float, steps: StepTimes) -> float:
    """A time against the arm's median, in percent: 0 is the median itself."""
    return 100 * (value / steps.median_ms - 1)


def _draw(axes: Axes, place: int, arm: str, steps: StepTimes, limits: tuple[float, float]) -> None:
    colour = look(arm).colour
    samples = _samples(steps)
    if len(samples) < _SHAPE_FROM:
        axes.plot(
            samples,
            [place - 0.12] * len(samples),
            linestyle="",
            marker="o",
            markersize=4,
            alpha=0.6,
            color=colour,
            gid=f"shape:{arm}",
        )
    else:
        counts, edges = np.histogram(np.clip(samples, *limits), bins=np.linspace(*limits, 91))
        foot = place + 0.1
        axes.fill_between(
            np.repeat(edges, 2)[1:-1],
            foot,
            foot - np.repeat(counts, 2) / counts.max() * 0.52,
            color=colour,
            alpha=0.55,
            linewidth=0,
            gid=f"shape:{arm}",
        )
    at = place + 0.24
    q1, q3, p95 = (relative(value, steps) for value in (steps.q1_ms, steps.q3_ms, steps.p95_ms))
    axes.plot([q3, p95], [at, at], color=INK, linewidth=1.1, marker="|", markersize=6, markevery=[1], gid=f"p95:{arm}")
    axes.barh(at, q3 - q1, left=q1, height=0.18, color=colour, edgecolor=INK, linewidth=0.8, gid=f"box:{arm}")
    for shade, width in ((INK, 3.0), ("white", 1.4)):
        axes.plot([0, 0], [at - 0.1, at + 0.1], color=shade, linewidth=width, solid_capstyle="butt")


def _limits(rows: list[tuple[str, StepTimes]]) -> tuple[float, float]:
    """From just below the fastest percent to just above the slowest: one stray step does not squeeze the rest."""
    lows, highs = [-0.5], [0.5]
    for _, steps in rows:
        samples = _samples(steps) or [0.0]
        lows += [relative(steps.q1_ms, steps), float(np.quantile(samples, 0.005))]
        highs += [relative(steps.q3_ms, steps), relative(steps.p95_ms, steps), float(np.quantile(samples, 0.99))]
    room = 0.04 * (max(highs) - min(lows))
    return min(lows) - room, max(highs) + room


def _samples(steps: StepTimes) -> list[float]:
    return [relative(value, steps) for value in steps.samples_ms if math.isfinite(value)]


def _rows(results: Results) -> list[tuple[str, StepTimes]]:
    return [(arm.name, arm.steps) for arm in results.arms if arm.steps is not None and arm.steps.median_ms > 0]


PLATE = Plate(
    "step-time",
    "Step time",
    figure,
    alt,
    "Coloured shape (dots, where they are few): all timed steps. Box: their middle half, white mark: the "
    "median, whisker: up to the 95th percentile. "
    "A tail to the right is made of steps that waited for something; steps beyond the frame are counted in "
    "its last column.",
)
