"""What all figures share: size, type, title, legend, the SMOKE mark, and writing them to files.

Figures are drawn for a phone: 4.2 inches wide with type of 8.5 points and more, so that at a width of
360 pixels the smallest type is 10 pixels high. No global state of matplotlib is used or left
behind, and equal results give equal bytes.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Literal

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import AbstractPathEffect, Normal, Stroke

from ..results import Results
from .colours import look

WIDTH = 4.2
INK = "#1A1A1A"
SOFT = "#4D4D4D"
GRID = "#DDDDDD"
ALARM = "#A33B00"
BAND = "#E3E3E3"
"""An area behind marks and lines."""
LABEL = "#F4F4F4"
"""Behind text that stands in such an area."""
SMOKE_LINE = "SMOKE run: nothing follows from it"
NO_NUMBERS = "Nothing was measured for it in this session."

_STYLE: dict[str, object] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#8A8A8A",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.color": "#8A8A8A",
    "ytick.color": "#8A8A8A",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "lines.linewidth": 1.7,
    "lines.markersize": 5.0,
    "svg.fonttype": "path",  # legible without the font
    "svg.hashsalt": "apex2native",  # else identifiers in the file are random
    "path.simplify": True,
}
# Where a page is dark an SVG turns its paper, ink and lines over; the arms keep their colours.
_DARK = {
    "#ffffff": "#15181c",
    INK: "#e8eaed",
    SOFT: "#aab0b8",
    GRID: "#373d45",
    BAND: "#2b3038",
    LABEL: "#1d2127",
    ALARM: "#ff9a86",
}
_DARK_STYLE = (
    '<style type="text/css">@media (prefers-color-scheme: dark) {'
    + "".join(
        f'[style*="{what}: {light.lower()}"] {{ {what}: {dark} !important }}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
    + "}</style>"
).encode()
_TITLE_HEIGHT = 0.34
_LINE_HEIGHT = 0.165
_LEGEND_ROW = 0.175
_SUBTITLE_WIDTH = 58  # characters that fit in WIDTH


@dataclass(frozen=True)
class Plate:
    """A figure with what a report says about it."""

    name: str
    """Of its files, without their ending."""
    title: str
    draw: Callable[[Results], Figure | None]
    alt: Callable[[Results], str]
    """The figure in words, for those who do not see it."""
    reading: str | Callable[[Results], str]
    """How to read it, in a sentence or two: of what is drawn, nothing else."""
    nothing: Callable[[Results], str] = field(default=lambda results: NO_NUMBERS)
    """Why there is no figure, where `draw` gives None."""


def reading(plate: Plate, results: Results) -> str:
    """How to read the figure of these results."""
    return plate.reading if isinstance(plate.reading, str) else plate.reading(results)


def styled(draw: Callable[[Results], Figure | None]) -> Callable[[Results], Figure | None]:
    """Draw with this module's style, whatever the reader's matplotlibrc says."""

    @wraps(draw)
    def drawn(results: Results) -> Figure | None:
        with matplotlib.style.context(_STYLE, after_reset=True):
            return draw(results)

    return drawn


def canvas(
    results: Results,
    title: str,
    subtitle: str,
    heights: Sequence[float],
    legend: Sequence[str] = (),
    share_x: bool = False,
    dots: bool = False,
) -> tuple[Figure, list[Axes]]:
    """A figure with panels of these heights (inches) one above the other, its title and a legend of arms: their lines,
    or their markers alone where no line is drawn (`dots`)."""
    lines = textwrap.wrap(subtitle, _SUBTITLE_WIDTH)
    columns = 3 if max(map(len, legend), default=0) <= 12 else 2
    rows = -(-len(legend) // columns)
    head = _TITLE_HEIGHT + _LINE_HEIGHT * len(lines) + _LEGEND_ROW * rows + (0.16 if rows else 0.08)
    foot = 0.30 if results.smoke else 0.04
    height = head + sum(heights) + foot
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    figure.set_layout_engine(
        "constrained", rect=(0.012, foot / height, 0.976, 1 - (head + foot) / height), h_pad=0.05, w_pad=0.03
    )
    grid = figure.subplots(len(heights), 1, squeeze=False, sharex=share_x, gridspec_kw={"height_ratios": list(heights)})
    figure.text(0.02, 1 - 0.09 / height, title, size=11, weight="bold", va="top")
    top = 1 - _TITLE_HEIGHT / height
    figure.text(0.02, top, "\n".join(lines), size=8.5, color=SOFT, va="top", linespacing=1.25)
    if legend:
        top -= (_LINE_HEIGHT * len(lines) + 0.03) / height
        figure.legend(
            handles=[handle(arm, dots) for arm in legend],
            loc="upper left",
            bbox_to_anchor=(0.0, top),
            ncols=columns,
            frameon=False,
            fontsize=8.5,
            handlelength=1.4 if dots else 3.2,
            labelspacing=0.35,
            columnspacing=1.2,
            borderaxespad=0.2,
        )
    if results.smoke:
        _mark_smoke(figure, height)
    return figure, [row[0] for row in grid]


def handle(arm: str, dot: bool = False) -> Line2D:
    """An arm's line for a legend, or its marker alone."""
    seen = look(arm)
    return Line2D(
        [],
        [],
        color=seen.colour,
        marker=seen.marker,
        linestyle="" if dot else seen.dashes,
        label=short(arm, 28),
        path_effects=None if dot else edge(arm),
        markeredgecolor=INK if seen.faint else seen.colour,
        markeredgewidth=0.6,
    )


def edge(arm: str) -> list[AbstractPathEffect] | None:
    """A dark edge for a line whose colour is faint on white."""
    return [Stroke(linewidth=2.7, foreground=INK), Normal()] if look(arm).faint else None


def arm_line(axes: Axes, arm: str, x: Sequence[float], y: Sequence[float], gid: str, marker_every: int = 1) -> None:
    """An arm's line; with more than thirty points only some carry the marker."""
    seen = look(arm)
    axes.plot(
        x,
        y,
        color=seen.colour,
        marker=seen.marker,
        linestyle=seen.dashes,
        gid=gid,
        path_effects=edge(arm),
        markevery=max(marker_every, len(x) // 12 if len(x) > 30 else 1),
        markeredgecolor=INK if seen.faint else seen.colour,
        markeredgewidth=0.6,
        markersize=4.2,
    )


def arm_rows(axes: Axes, arms: Sequence[str]) -> None:
    """The vertical axis of a figure with one row an arm, the first on top."""
    axes.set_yticks(range(len(arms)), [two_lines(arm) for arm in arms])
    axes.set_ylim(len(arms) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)


def rows_height(count: int, each: float = 0.36) -> float:
    """The height in inches of a panel with so many rows."""
    return 0.62 + each * max(count, 1)


def two_lines(name: str) -> str:
    """A long name broken at the hyphen nearest its middle."""
    name = short(name, 40)
    if len(name) <= 15 or "-" not in name:
        return "\n".join(textwrap.wrap(name, 20))
    cut = min((at for at, letter in enumerate(name) if letter == "-"), key=lambda at: abs(at - len(name) / 2))
    return f"{name[: cut + 1]}\n{name[cut + 1 :]}"


def short(name: str, most: int) -> str:
    """The name, cut where it is longer than a figure can bear."""
    return name if len(name) <= most else name[: most - 1] + "…"


def render(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """The bytes of a figure's file, without a date or a version in it."""
    metadata: dict[str, str | None] = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    buffer = io.BytesIO()
    with matplotlib.style.context(_STYLE, after_reset=True):
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
    return buffer.getvalue() if kind == "png" else buffer.getvalue().replace(b"</defs>", _DARK_STYLE + b"</defs>", 1)


def _mark_smoke(figure: Figure, height: float) -> None:
    figure.text(
        0.56,
        0.5,
        "SMOKE",
        size=54,
        weight="bold",
        color=ALARM,
        alpha=0.09,
        rotation=18,
        ha="center",
        va="center",
        zorder=0,
        gid="smoke-mark",
    )
    figure.text(0.02, 0.09 / height, SMOKE_LINE, size=8.5, weight="bold", color=ALARM, va="bottom", gid="smoke-line")
