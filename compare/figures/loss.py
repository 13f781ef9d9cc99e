"""Training loss over the epochs."""

from __future__ import annotations

from matplotlib.figure import Figure

from .. import format as fmt
from ..results import Results
from ..workloads.known import takes_images
from .canvas import Plate, canvas, styled
from .curves import Curves, curves, loss_points
from .lines import band_note, draw_curves, epoch_axis, log_ticks

_LOG_FROM = 20.0
"""Largest loss over the smallest from which a linear axis would hide the end of the training."""


@styled
def figure(results: Results) -> Figure | None:
    """A line and a band an arm."""
    drawn = curves(results, loss_points)
    if not drawn:
        return None
    values = _values(drawn)
    log = min(values) > 0 and max(values) > _LOG_FROM * min(values)
    figure, (axes,) = canvas(results, "Training loss", band_note(drawn), [2.7], [one.arm for one in drawn])
    if log:
        log_ticks(axes, "y")
    draw_curves(axes, drawn)
    epoch_axis(axes, results.spec.epochs)
    what = [*(["cross entropy"] if takes_images(results.spec.workload) else []), *(["log axis"] if log else [])]
    axes.set_ylabel(f"Training loss ({', '.join(what)})" if what else "Training loss")
    return figure


def alt(results: Results) -> str:
    said = []
    for one in curves(results, loss_points):
        if one.band is not None:
            first, last = one.band.mean[0], one.band.mean[-1]
            said.append(
                f"{one.arm} from {fmt.significant(first)} to {fmt.significant(last)}, mean of "
                f"{fmt.plural(one.band.runs, 'seed')}"
            )
        said += [
            f"{one.arm} seed {run.seed} stopped ({fmt.status(run.status)})" for run, points in one.stopped if points
        ]
    return f"Curves of the training loss over the epochs: {'; '.join(said)}."


def _values(drawn: list[Curves]) -> list[float]:
    bands = [value for one in drawn if one.band is not None for value in (*one.band.low, *one.band.high)]
    return bands + [point[1] for one in drawn for _, points in one.stopped for point in points]


def reading(results: Results) -> str:
    banded = any(one.band is not None and one.band.runs > 1 for one in curves(results, loss_points))
    told = "Curves that lie within each other's bands are as far apart as two seeds of one arm are. " if banded else ""
    return told + "Every point is the mean over a tenth of an epoch."


PLATE = Plate(
    "loss",
    "Training loss",
    figure,
    alt,
    reading,
    lambda results: "No arm was trained in this session.",
)
