"""Draws the curves of training runs: a line and a band an arm, thin lines for the runs that stopped."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from .. import format as fmt
from .canvas import ALARM, INK, arm_line
from .colours import look
from .curves import Curves


def draw_curves(axes: Axes, drawn: Sequence[Curves], scale: float = 1.0, rising: bool = False) -> None:
    """Draw them. `scale`: one unit of the points' horizontal axis on the figure's; `rising`: room is below."""
    for one in drawn:
        colour = look(one.arm).colour
        if one.band is not None:
            x = [value * scale for value in one.band.x]
            arm_line(axes, one.arm, x, one.band.mean, f"mean:{one.arm}")
            if one.band.runs > 1:
                axes.fill_between(
                    x, one.band.low, one.band.high, color=colour, alpha=0.16, linewidth=0, gid=f"band:{one.arm}"
                )
        for run, points in one.stopped:
            if not points:
                continue
            x = [point[0] * scale for point in points]
            y = [point[1] for point in points]
            axes.plot(x, y, color=colour, linewidth=1.0, gid=f"stopped:{one.arm}:{run.seed}")
            axes.plot(x[-1:], y[-1:], "X", color=ALARM, markeredgecolor="white", markersize=8.5, zorder=5)
            # Towards the inside: a run that stops late has no room on its right, one that fell none below.
            below = rising and y[-1] > y[0]
            late = x[-1] > 0.75 * max(_extent(drawn)) * scale
            axes.annotate(
                f"{fmt.status(run.status)}, seed {run.seed}",
                (x[-1], y[-1]),
                xytext=(-6 if late else 7, -15 if below else 6),
                textcoords="offset points",
                size=8.5,
                ha="right" if late else "left",
                color=ALARM,
                zorder=6,
                bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.8},
            )
    axes.grid(axis="y")


def band_note(drawn: Sequence[Curves]) -> str:
    """What line and band are, as part of a subtitle."""
    runs = max((one.band.runs for one in drawn if one.band is not None), default=0)
    note = "Line: mean over seeds, band: lowest to highest seed." if runs > 1 else "One seed: no band."
    if any(points for one in drawn for _, points in one.stopped):
        note += " Cross: a run that stopped there."
    return note


def log_ticks(axes: Axes, which: str) -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set_xscale("log") if which == "x" else axes.set_yscale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def epoch_axis(axes: Axes, epochs: int) -> None:
    """The horizontal axis of epochs, whole numbers only."""
    axes.set_xlabel("Epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set_xlim(0, max(epochs, 1) * 1.02)
    axes.tick_params(colors=INK, labelcolor=INK)


def _extent(drawn: Sequence[Curves]) -> list[float]:
    bands = [x for one in drawn if one.band is not None for x in one.band.x]
    return bands + [point[0] for one in drawn for _, points in one.stopped for point in points]
