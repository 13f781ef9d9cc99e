"""Test accuracy over the epochs, and at the end seed by seed."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import format as fmt
from ..results import ArmResult, Results
from .canvas import INK, Plate, arm_rows, canvas, rows_height, styled
from .colours import look
from .curves import accuracy_points, curves
from .lines import band_note, draw_curves, epoch_axis


@styled
def figure(results: Results) -> Figure | None:
    """Above the curves, where there is more than one epoch; below the final accuracy of every seed."""
    drawn = curves(results, accuracy_points)
    final = _final(results)
    if not drawn and not final:
        return None
    several = _several(results)
    heights = ([2.5] if several else []) + ([rows_height(len(final), 0.34)] if final else [])
    if not heights:
        return None
    note = band_note(drawn) if several else "Each mark is one seed."
    figure, panels = canvas(results, "Test accuracy", note, heights, [one.arm for one in drawn] if several else [])
    if several:
        draw_curves(panels[0], drawn, rising=True)
        epoch_axis(panels[0], results.spec.epochs)
        panels[0].set_ylabel("Test accuracy (%)")
    if final:
        _draw_final(panels[-1], final, 2 * results.spec.margin)
    return figure


def alt(results: Results) -> str:
    said = []
    for arm in _final(results):
        if arm.accuracy is None:
            continue
        bounds = fmt.spread(arm.accuracy.mean, lambda value: fmt.percent(value))
        runs = fmt.plural(len(arm.accuracy.runs), "seed")
        said.append(f"{arm.name} {fmt.percent(arm.accuracy.mean.value)}{f' ({bounds})' if bounds else ''}, {runs}")
    stopped = [
        f"{one.arm} seed {run.seed} stopped ({fmt.status(run.status)})"
        for one in curves(results, accuracy_points)
        for run, _ in one.stopped
    ]
    return f"Test accuracy over the epochs and after the last: {'; '.join(said + stopped)}."


def _draw_final(axes: Axes, arms: list[ArmResult], least: float) -> None:
    """`least` is the smallest width of the axis: a hair between two runs must not look like a gulf."""
    for place, arm in enumerate(arms):
        accuracy = arm.accuracy
        if accuracy is None:
            continue
        seen = look(arm.name)
        axes.plot(
            accuracy.runs,
            [place] * len(accuracy.runs),
            linestyle="",
            marker=seen.marker,
            markersize=6,
            alpha=0.75,
            color=seen.colour,
            markeredgecolor=INK,
            markeredgewidth=0.5,
            gid=f"final:{arm.name}",
        )
        mean = accuracy.mean
        if mean.low is not None and mean.high is not None:
            axes.plot([mean.low, mean.high], [place + 0.27] * 2, color=INK, linewidth=1.3, marker="|", markersize=5)
            axes.plot([mean.value], [place + 0.27], marker="|", markersize=8, markeredgewidth=2, color=INK)
    arm_rows(axes, [arm.name for arm in arms])
    spread = [arm.accuracy.mean for arm in arms if arm.accuracy is not None]
    interval = any(mean.low is not None for mean in spread)
    axes.set_xlabel(f"Final test accuracy (%){', line: mean and 95 % interval' if interval else ''}")
    axes.margins(x=0.08)
    low, high = axes.get_xlim()
    if high - low < least:
        axes.set_xlim((low + high - least) / 2, (low + high + least) / 2)
    axes.locator_params(axis="x", nbins=6)
    axes.ticklabel_format(axis="x", useOffset=False)


def _final(results: Results) -> list[ArmResult]:
    return [arm for arm in results.arms if arm.accuracy is not None and arm.accuracy.runs]


def reading(results: Results) -> str:
    several, final = _several(results), bool(_final(results))
    told = ["Accuracy on the test images after each epoch."] if several else []
    if final:
        told.append(
            f"{'Below, the' if several else 'The'} accuracy after the last epoch, one mark a seed: the last epoch "
            f"counts, never the best. The {'lower ' if several else ''}axis is cut to the range that was seen, and "
            "never narrower than twice the margin of equivalence."
        )
    return " ".join(told)


def _several(results: Results) -> bool:
    """Whether a run has more than one epoch, of which a curve can be drawn."""
    return any(len(accuracy_points(run)) > 1 for arm in results.arms for run in arm.training)


PLATE = Plate(
    "accuracy",
    "Accuracy",
    figure,
    alt,
    reading,
    lambda results: "No arm was trained far enough for a test accuracy.",
)
