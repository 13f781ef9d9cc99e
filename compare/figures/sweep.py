"""Speed and memory over the batch size."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from .. import format as fmt
from ..results import Results, SweepPoint
from .canvas import ALARM, INK, Plate, arm_line, canvas, styled
from .colours import look
from .lines import log_ticks


@styled
def figure(results: Results) -> Figure | None:
    """Two panels over one axis of batch sizes."""
    arms = _arms(results)
    points = [point for point in results.sweep if point.arm in arms]
    if len({point.batch for point in points}) < 2:
        return None
    memory = any(point.memory_allocated is not None for point in points)
    failed = any(point.images_per_s is None for point in points)
    figure, panels = canvas(
        results, "Batch size", _seen(results, failed), [2.1, 2.0] if memory else [2.4], arms, share_x=True
    )
    unit = fmt.memory_unit(max((point.memory_allocated or 0 for point in points), default=0))
    _draw(panels[0], arms, points, lambda point: point.images_per_s.value if point.images_per_s else None, "speed")
    panels[0].set_ylabel(f"Speed ({fmt.speed_unit(results.spec.workload)})")
    if memory:
        _draw(
            panels[1],
            arms,
            points,
            lambda point: None if point.memory_allocated is None else fmt.in_unit(point.memory_allocated, unit),
            "memory",
        )
        panels[1].set_ylabel(f"Peak memory ({unit})")
    axes = panels[-1]
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted({point.batch for point in points}))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("Batch size (logarithmic)")
    return figure


def alt(results: Results) -> str:
    said = []
    for arm in _arms(results):
        found = [point for point in results.sweep if point.arm == arm]
        speeds = [
            f"{fmt.significant(point.images_per_s.value)} at {point.batch}" for point in found if point.images_per_s
        ]
        lost = [str(point.batch) for point in found if not point.images_per_s]
        said.append(f"{arm} {', '.join(speeds) or 'none'}" + (f", not run at {fmt.listed(lost)}" if lost else ""))
    unit = fmt.speed_unit(results.spec.workload)
    return f"Speed in {unit} and peak memory over the batch size: {'; '.join(said)}."


def _draw(
    axes: Axes, arms: list[str], points: list[SweepPoint], value: Callable[[SweepPoint], float | None], what: str
) -> None:
    found = {arm: [(point, value(point)) for point in points if point.arm == arm] for arm in arms}
    numbers = [number for pairs in found.values() for _, number in pairs if number is not None and number > 0]
    if numbers and max(numbers) > 20 * min(numbers):
        log_ticks(axes, "y")
    else:
        axes.set_ylim(0, max(numbers, default=1.0) * 1.1)
    for arm, pairs in found.items():
        drawn = sorted((point.batch, number) for point, number in pairs if number is not None)
        arm_line(axes, arm, [batch for batch, _ in drawn], [number for _, number in drawn], f"{what}:{arm}")
        if what != "speed":
            continue
        for point, number in pairs:
            if number is not None and point.images_per_s and point.images_per_s.low is not None:
                bounds = [point.images_per_s.low, point.images_per_s.high or number]
                axes.plot([point.batch] * 2, bounds, color=INK, linewidth=0.9)
    if what == "speed":
        _mark_missing(axes, arms, points)
    axes.grid(axis="y")


def _mark_missing(axes: Axes, arms: list[str], points: list[SweepPoint]) -> None:
    """A cross with the arm's colour at the foot of the axis, side by side where several arms failed."""
    low = {arm: place for place, arm in enumerate(arms)}
    for point in points:
        if point.images_per_s is None:
            height = 0.05 + 0.05 * low[point.arm]
            axes.plot(
                [point.batch],
                [height],
                transform=axes.get_xaxis_transform(),
                marker="X",
                markersize=8,
                color=look(point.arm).colour,
                markeredgecolor=ALARM,
                linestyle="",
                clip_on=False,
                gid=f"missing:{point.arm}:{point.batch}",
            )


def _arms(results: Results) -> list[str]:
    """The arms of the sweep in the report's order."""
    swept = {point.arm for point in results.sweep}
    named = [arm.name for arm in results.arms if arm.name in swept]
    return named + sorted(swept - set(named))


def _seen(results: Results, failed: bool) -> str:
    cross = " Cross at the foot: did not run there, see the table." if failed else ""
    counts = [point.images_per_s.n for point in results.sweep if point.images_per_s] or [1]
    least, most = min(counts), max(counts)
    blocks = fmt.plural(most, "block") if least == most else f"{least} to {most} blocks"
    whisker = " Whisker: 95 % interval." if most > 1 else ""
    return f"Mean over {blocks} an arm and batch size.{whisker}{cross}"


PLATE = Plate(
    "sweep",
    "Batch sweep",
    figure,
    alt,
    "Where a curve of speed is flat, the GPU is full; where it still rises, the arm waits for the host at the smaller "
    "batch. Two arms are best compared where both are flat.",
    lambda results: (
        "The batch sweep is part of the profile “full”; this session has none."
        if not results.sweep
        else "Fewer than two batch sizes were run."
    ),
)
