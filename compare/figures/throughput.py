"""Speed of every arm with its interval."""

from __future__ import annotations

from matplotlib.figure import Figure

from .. import format as fmt
from ..results import Interval, Results
from .canvas import INK, Plate, arm_rows, canvas, rows_height, styled
from .colours import look


@styled
def figure(results: Results) -> Figure | None:
    """Horizontal bars from zero, the value written beside each."""
    rows = _rows(results)
    if not rows:
        return None
    unit = fmt.speed_unit(results.spec.workload)
    figure, (axes,) = canvas(results, "Training speed", _seen(results), [rows_height(len(rows))])
    most = max(_top(speed) for _, speed in rows)
    for place, (arm, speed) in enumerate(rows):
        axes.barh(
            place, speed.value, height=0.62, color=look(arm).colour, edgecolor=INK, linewidth=0.5, gid=f"bar:{arm}"
        )
        if speed.low is not None and speed.high is not None:
            # White under black: to be seen on any of the bars.
            for colour, width in (("white", 3.4), (INK, 1.3)):
                axes.plot(
                    [speed.low, speed.high],
                    [place, place],
                    color=colour,
                    linewidth=width,
                    solid_capstyle="butt",
                    marker="|",
                    markersize=7,
                    markeredgewidth=width,
                    gid=f"interval:{arm}" if colour == INK else None,
                )
        axes.text(_top(speed) + 0.02 * most, place, fmt.significant(speed.value), va="center", size=8.5)
    arm_rows(axes, [arm for arm, _ in rows])
    axes.set_xlim(0, most * 1.17)
    axes.set_xlabel(f"Speed ({unit}), batch {results.spec.batch}")
    axes.locator_params(axis="x", nbins=6)
    return figure


def alt(results: Results) -> str:
    unit = fmt.speed_unit(results.spec.workload)
    rows = [
        f"{arm} {fmt.significant(speed.value)}"
        + (f" ({bounds})" if (bounds := fmt.spread(speed, fmt.like(speed.value))) else "")
        for arm, speed in _rows(results)
    ]
    return f"Bars of the training speed in {unit}, with intervals: {'; '.join(rows)}."


def _rows(results: Results) -> list[tuple[str, Interval]]:
    return [(arm.name, arm.images_per_s) for arm in results.arms if arm.images_per_s is not None]


def _top(speed: Interval) -> float:
    return max(speed.value, speed.high or 0.0)


def _seen(results: Results) -> str:
    """What is seen, in a sentence; of a smoke run only what is drawn."""
    rows = _rows(results)
    drawn = (
        "Longer is faster. Whisker: 95 % interval."
        if any(speed.low is not None for _, speed in rows)
        else "Too few runs for intervals."
    )
    pairs = [(results.pair("native-fp16", other), other) for other in ("apex-o1", results.spec.baseline)]
    said = [f"{fmt.ratio(pair.speed.value)} the speed of {other}" for pair, other in pairs if pair and pair.speed]
    return drawn if results.smoke or not said else f"native-fp16 has {fmt.listed(said)}. {drawn}"


def reading(results: Results) -> str:
    if not any(speed.low is not None for _, speed in _rows(results)):
        return "Each bar is the speed of one arm. One process an arm allows no interval."
    return (
        "Each bar is the speed of one arm, the whisker its 95 % interval over independent processes. Whether two arms "
        "differ is told by the table of pairs, not by whether their whiskers overlap: the runs are paired."
    )


PLATE = Plate("throughput", "Training speed", figure, alt, reading)
