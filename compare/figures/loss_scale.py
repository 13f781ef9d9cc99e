"""The loss scale over the steps, with the steps that were skipped."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from .. import format as fmt
from ..results import ArmResult, Results, ScalePoint
from .canvas import INK, Plate, canvas, styled
from .colours import look


@styled
def figure(results: Results) -> Figure | None:
    """One panel an arm, one line a seed: two arms of equal scales would hide one another."""
    arms = _arms(results)
    if not arms:
        return None
    figure, panels = canvas(
        results, "Loss scale", _seen(arms), [1.35] * len(arms) if len(arms) > 1 else [1.7], share_x=True
    )
    for axes, arm in zip(panels, arms, strict=True):
        _draw(axes, arm)
        axes.label_outer()
    panels[-1].set_xlabel("Training step")
    panels[-1].set_xlim(left=0)
    panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    panels[-1].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    values = [point.loss_scale for arm in arms for run in arm.training for point in _drawable(run.scales)]
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    for axes in panels:
        axes.set_ylim(2.0 ** (low - 1), 2.0 ** (high + 1))
        axes.set_ylabel("Loss scale")
    return figure


def alt(results: Results) -> str:
    said = []
    for arm in _arms(results):
        last = [points[-1].loss_scale for run in arm.training if (points := _drawable(run.scales))]
        skipped = sum(run.skipped_steps for run in arm.training)
        said.append(
            f"{arm.name} ends at {fmt.listed(sorted({f'{scale:,.6g}' for scale in last}))}, "
            f"{fmt.plural(skipped, 'step')} skipped in {fmt.plural(len(arm.training), 'run')}"
        )
    return f"Loss scale over the training steps, skipped steps marked: {'; '.join(said)}."


def _draw(axes: Axes, arm: ArmResult) -> None:
    seen = look(arm.name)
    axes.set_yscale("log", base=2)
    for run in arm.training:
        points = _drawable(run.scales)
        if not points:
            continue
        axes.plot(
            [point.step for point in points],
            [point.loss_scale for point in points],
            color=seen.colour,
            linewidth=1.1,
            alpha=0.8,
            drawstyle="steps-post",
            marker="o" if len(points) == 1 else None,
            gid=f"scale:{arm.name}:{run.seed}",
        )
        skipped = [point for point in points if point.skipped]
        if skipped:  # the extent of an empty line that is not clipped is the whole plane, and the layout gives up
            axes.plot(
                [point.step for point in skipped],
                [point.loss_scale for point in skipped],
                linestyle="",
                marker="x",
                markersize=5,
                markeredgewidth=1.2,
                color=INK,
                clip_on=False,
                zorder=4,
                gid=f"skipped:{arm.name}:{run.seed}",
            )
    skips = sum(run.skipped_steps for run in arm.training)
    steps = sum(run.steps for run in arm.training)
    axes.set_title(
        f"{arm.name}: {fmt.plural(len(arm.training), 'seed')}, {skips:,} of {steps:,} steps skipped",
        loc="left",
        size=8.5,
    )
    axes.yaxis.set_major_locator(LogLocator(base=2, numticks=5))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y")


def _drawable(points: tuple[ScalePoint, ...]) -> list[ScalePoint]:
    """A logarithmic axis has no room for a scale that fell to zero."""
    return [point for point in points if math.isfinite(point.loss_scale) and point.loss_scale > 0]


def _arms(results: Results) -> list[ArmResult]:
    return [arm for arm in results.arms if any(_drawable(run.scales) for run in arm.training)]


def _seen(arms: list[ArmResult]) -> str:
    many = "One line a seed. " if any(len(arm.training) > 1 for arm in arms) else ""
    return f"{many}Cross: a step that was skipped because a gradient overflowed; the scale was halved there."


def reading(results: Results) -> str:
    told = "The scale is halved where a gradient overflows and doubled after 2000 steps without one."
    if not any(run.skipped_steps for arm in results.arms for run in arm.training):
        return f"{told} No step was skipped here."
    return (
        f"{told} A few crosses at the beginning are the search for a first scale; crosses without end would be a "
        "training that does not converge."
    )


PLATE = Plate(
    "loss-scale",
    "Loss scale",
    figure,
    alt,
    reading,
    lambda results: "No arm with a loss scale was trained in this session.",
)
