"""Clock, power and temperature of the GPU over the session, and what was not as it should be."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import format as fmt
from ..results import Moment, Results
from .canvas import INK, Plate, canvas, styled
from .colours import look

_PANELS = (("sm_mhz", "SM clock (MHz)"), ("power_w", "Power (W)"), ("temperature_c", "Temperature (°C)"))
_FAULTS = ("throttled", "shared")


@styled
def figure(results: Results) -> Figure | None:
    """A dot a sample, in the colour of the arm that ran; below, the samples that were throttled or shared."""
    known = [(name, label) for name, label in _PANELS if any(_value(one, name) is not None for one in results.moments)]
    if not known:
        return None
    ran = {one.arm for one in results.moments}
    arms = [arm.name for arm in results.arms if arm.name in ran]
    arms += sorted(ran - set(arms))
    faults = [name for name in _FAULTS if any(getattr(one, name) for one in results.moments)]
    longest = max(one.at_s for one in results.moments)
    unit, scale = ("h", 1 / 3600) if longest > 5400 else ("min", 1 / 60) if longest > 180 else ("s", 1.0)
    note = "A dot a sample, about one a second. " + (
        f"Marks at the foot: {fmt.listed(faults)}." if faults else "None was throttled or shared."
    )
    heights = [1.5] * len(known) + ([0.25 + 0.25 * len(faults)] if faults else [])
    figure, panels = canvas(results, "The machine meanwhile", note, heights, arms, share_x=True, dots=True)
    for axes, (name, label) in zip(panels, known, strict=False):
        for arm in arms:
            seen = [(one.at_s * scale, _value(one, name)) for one in results.moments if one.arm == arm]
            axes.plot(
                [at for at, value in seen if value is not None],
                [value for _, value in seen if value is not None],
                look(arm).marker,
                color=look(arm).colour,
                markersize=2.6,
                linestyle="",
                gid=f"{name}:{arm}",
            )
        axes.set_ylabel(label)
        axes.grid(axis="y")
        axes.tick_params(colors=INK, labelcolor=INK)
    if faults:
        _draw_faults(panels[-1], results, faults, scale)
    panels[-1].set_xlabel(f"Time of the session ({unit})")
    return figure


def _draw_faults(axes: Axes, results: Results, faults: list[str], scale: float) -> None:
    """A row a fault, a mark a sample."""
    for place, name in enumerate(faults):
        for arm in dict.fromkeys(one.arm for one in results.moments):
            at = [one.at_s * scale for one in results.moments if one.arm == arm and getattr(one, name)]
            axes.plot(at, [place] * len(at), "|", color=look(arm).colour, markersize=7, gid=f"{name}:{arm}")
    axes.set_yticks(range(len(faults)), faults)
    axes.set_ylim(len(faults) - 0.4, -0.6)
    axes.tick_params(colors=INK, labelcolor=INK)


def alt(results: Results) -> str:
    said = []
    for arm in dict.fromkeys(one.arm for one in results.moments):
        known = []
        for name, label in _PANELS:
            values = [value for one in results.moments if one.arm == arm and (value := _value(one, name)) is not None]
            if values:
                known.append(f"{label} {fmt.significant(min(values))} to {fmt.significant(max(values))}")
        for name in _FAULTS:
            if count := sum(getattr(one, name) for one in results.moments if one.arm == arm):
                known.append(f"{name} in {fmt.plural(count, 'sample')}")
        said.append(f"{arm} {', '.join(known)}")
    return f"Samples of the GPU's state over the session: {'; '.join(said)}."


def _value(moment: Moment, name: str) -> float | None:
    value: float | None = getattr(moment, name)
    return value


PLATE = Plate(
    "machine",
    "The machine meanwhile",
    figure,
    alt,
    "A clock that falls while an arm runs, and not while another does, is a difference that the code does not make.",
    lambda results: "Nothing was sampled: there was no GPU whose driver answers.",
)
