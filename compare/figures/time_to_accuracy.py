"""Test accuracy against the training time, and when a stated accuracy was reached."""

from __future__ import annotations

from matplotlib.figure import Figure

from .. import format as fmt
from ..results import Results
from .canvas import INK, SOFT, Plate, canvas, styled
from .colours import look
from .curves import accuracy_by_time, curves
from .lines import draw_curves


@styled
def figure(results: Results) -> Figure | None:
    """Curves over the training time; a mark where each seed reached the target."""
    drawn = curves(results, accuracy_by_time)
    longest = max((run.epochs[-1].train_s for arm in results.arms for run in arm.training if run.epochs), default=0.0)
    if not drawn or longest <= 0:
        return None
    scale, unit = (1 / 60, "min") if longest > 180 else (1.0, "s")
    target = results.spec.target_accuracy
    figure, (axes,) = canvas(
        results, "Accuracy against training time", _seen(results), [2.7], [one.arm for one in drawn]
    )
    draw_curves(axes, drawn, scale, rising=True)
    if target is not None:
        axes.axhline(target, color=SOFT, linewidth=1.0, linestyle=(0, (1, 2)), gid="target")
        for arm in results.arms:
            for time in _times(results, arm.name):
                axes.plot(
                    [time * scale],
                    [target],
                    marker=look(arm.name).marker,
                    color=look(arm.name).colour,
                    markeredgecolor=INK,
                    markersize=6.5,
                    alpha=0.8,
                    linestyle="",
                    zorder=4,
                    gid=f"reached:{arm.name}",
                )
        axes.text(
            0.99,
            target,
            f"target {target:g} %",
            transform=axes.get_yaxis_transform(),
            ha="right",
            va="top" if any(_times(results, arm.name) for arm in results.arms) else "bottom",
            size=8.5,
            color=SOFT,
        )
    axes.set_xlim(left=0)
    axes.set_xlabel(f"Training time ({unit}), evaluation excluded")
    axes.set_ylabel("Test accuracy (%)")
    return figure


def alt(results: Results) -> str:
    target = results.spec.target_accuracy
    said = []
    for one in curves(results, accuracy_by_time):
        times = _times(results, one.arm)
        arm = results.arm(one.arm)
        runs = len(arm.training) if arm else 0
        if target is not None:
            reached = (
                f", first after {fmt.duration(min(times))}, last after {fmt.duration(max(times))}" if times else ""
            )
            said.append(f"{one.arm} reached {target:g} % in {len(times)} of {fmt.plural(runs, 'run')}{reached}")
        elif one.band is not None:
            said.append(f"{one.arm} {fmt.percent(one.band.mean[-1])} after {fmt.duration(one.band.x[-1])}")
    return f"Test accuracy against the training time: {'; '.join(said)}."


def _times(results: Results, name: str) -> list[float]:
    arm = results.arm(name)
    return [run.time_to_target_s for run in arm.training if run.time_to_target_s is not None] if arm else []


def _seen(results: Results) -> str:
    target = results.spec.target_accuracy
    if target is None:
        return "Training time alone: evaluation is not counted."
    arms = [arm for arm in results.arms if arm.training]
    said = [f"{arm.name} {len(_times(results, arm.name))} of {len(arm.training)}" for arm in arms]
    return f"Runs that reached {target:g} %: {', '.join(said)}. Each mark on the dotted line is one of them."


def reading(results: Results) -> str:
    if all(len(run.epochs) < 2 for arm in results.arms for run in arm.training):
        told = "A point is the end of the one epoch. "
    elif results.spec.target_accuracy is not None:
        told = "The further left a curve reaches the dotted line, the sooner that arm is there. "
    else:
        told = "The further left a curve rises, the sooner that arm is there. "
    return told + "Accuracy is known at the end of an epoch only, so that times come in steps of one epoch."


PLATE = Plate(
    "time-to-accuracy",
    "Time to accuracy",
    figure,
    alt,
    reading,
    lambda results: "No arm was trained far enough for a test accuracy.",
)
