"""The difference in final accuracy of each pair of arms, against the margin fixed beforehand."""

from __future__ import annotations

from matplotlib.figure import Figure

from .. import format as fmt
from ..results import Equivalence, Results
from .canvas import BAND, INK, LABEL, SOFT, Plate, canvas, rows_height, styled, two_lines
from .colours import look


@styled
def figure(results: Results) -> Figure | None:
    """A row a pair: the estimate, its 90 % interval, the margin shaded."""
    rows = tests(results)
    if not rows:
        return None
    margin = results.spec.margin
    figure, (axes,) = canvas(
        results,
        "Is the accuracy the same?",
        f"Equivalent where the whole line lies in the shaded margin of ±{margin:g} points, fixed before the run.",
        [rows_height(len(rows), 0.56)],
    )
    axes.axvspan(-margin, margin, color=BAND, linewidth=0, gid="margin")
    axes.axvline(0, color=SOFT, linewidth=0.9)
    reach = margin
    for place, test in enumerate(rows):
        seen = look(test.arm)
        if test.low is not None and test.high is not None:
            axes.plot(
                [test.low, test.high],
                [place, place],
                color=INK,
                linewidth=1.6,
                marker="|",
                markersize=8,
                gid=f"interval:{test.arm}:{test.baseline}",
            )
            reach = max(reach, abs(test.low), abs(test.high))
        axes.plot(
            [test.difference],
            [place],
            marker=seen.marker,
            markersize=7.5,
            color=seen.colour,
            markeredgecolor=INK,
            markeredgewidth=0.6,
            linestyle="",
            zorder=4,
            gid=f"difference:{test.arm}:{test.baseline}",
        )
        reach = max(reach, abs(test.difference))
        axes.annotate(
            _said(test),
            (test.difference, place),
            xytext=(0, 8),
            textcoords="offset points",
            size=8.5,
            ha="center",
            va="bottom",
            bbox={"facecolor": LABEL, "edgecolor": "none", "pad": 1.2},
            zorder=3,
        )
    axes.set_xlim(-1.3 * reach, 1.3 * reach)
    axes.set_yticks(
        range(len(rows)), [f"{two_lines(test.arm)}\n{fmt.MINUS} {two_lines(test.baseline)}" for test in rows]
    )
    axes.set_ylim(len(rows) - 0.45, -0.75)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("Difference in final test accuracy (percentage points)")
    return figure


def alt(results: Results) -> str:
    rows = []
    for test in tests(results):
        bounds = (
            f", 90 % interval {fmt.between(test.low, test.high, fmt.points)}"
            if test.low is not None and test.high is not None
            else ""
        )
        rows.append(f"{test.arm} minus {test.baseline} {fmt.points(test.difference)} points{bounds}, {test.verdict}")
    return f"Differences in final test accuracy against a margin of ±{results.spec.margin:g} points: {'; '.join(rows)}."


def tests(results: Results) -> list[Equivalence]:
    """The tests of equivalence that were made, in the order of the pairs."""
    return [pair.equivalence for pair in results.pairs if pair.equivalence is not None]


def _said(test: Equivalence) -> str:
    return f"{test.verdict}, {fmt.plural(test.n, 'seed')}"


def reading(results: Results) -> str:
    if not any(pair.equivalence and pair.equivalence.low is not None for pair in results.pairs):
        return "The mark is the mean difference over the seeds. Fewer than three seeds allow no interval."
    return (
        "The mark is the mean difference over the seeds, the line its 90 % interval. A line that crosses the edge of "
        "the shaded band leaves the question open: that is no proof of a difference."
    )


PLATE = Plate(
    "equivalence",
    "Equivalence of the accuracy",
    figure,
    alt,
    reading,
    lambda results: "No two arms were trained with a common seed, so that there is no accuracy to compare.",
)
