"""How the losses of two arms part over the first steps, beside those of one arm that was trained twice."""

from __future__ import annotations

from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import format as fmt
from ..results import Results, RunToRun
from .canvas import INK, Plate, arm_line, canvas, styled

_AGAIN = 1e-9
"""Where a difference of exactly nothing is drawn on the logarithmic axis."""


@styled
def figure(results: Results) -> Figure | None:
    """A line for each arm beside the repeated one, and one for its second run."""
    shown = _shown(results)
    if not shown:
        return None
    arm = shown[0].arm
    note = f"Against {arm}: its own second run, and other arms. Same weights, same data, median over the seeds."
    figure, (axes,) = canvas(results, "The first steps", note, [2.7], [arm, *(one.baseline for one in shown)])
    _line(arm, shown[0].losses_within, axes, "within")
    for one in shown:
        _line(one.baseline, one.losses_between, axes, "between")
    axes.set_yscale("log")
    axes.grid(axis="y")
    axes.tick_params(colors=INK, labelcolor=INK)
    axes.set_xlabel("Step")
    axes.set_ylabel("Relative difference of the loss (log axis)")
    return figure


def _line(name: str, losses: tuple[float, ...], axes: Axes, what: str) -> None:
    if losses:
        x = [float(step) for step in range(1, len(losses) + 1)]
        arm_line(axes, name, x, [max(value, _AGAIN) for value in losses], f"{what}:{name}")


def alt(results: Results) -> str:
    shown = _shown(results)
    said = [f"{shown[0].arm} run again {_ends(shown[0].losses_within)}"] if shown else []
    said += [f"{one.baseline} {_ends(one.losses_between)}" for one in shown]
    return f"Relative difference of the loss over the first steps: {'; '.join(said)}."


def _ends(losses: tuple[float, ...]) -> str:
    if not losses:
        return "was not recorded"
    last = median(losses[-10:])
    return f"from {fmt.relative(losses[0])} at the first to {fmt.relative(last)} over the last ten of {len(losses)}"


def _shown(results: Results) -> list[RunToRun]:
    """What concerns the first arm that was trained twice."""
    known = [one for one in results.run_to_run if one.losses_between or one.losses_within]
    return [one for one in known if one.arm == known[0].arm]


PLATE = Plate(
    "first-losses",
    "The first steps",
    figure,
    alt,
    "Arms whose losses part no faster than those of one arm run twice differ by rounding alone, which training "
    "amplifies.",
    lambda results: "No arm was trained a second time.",
)
