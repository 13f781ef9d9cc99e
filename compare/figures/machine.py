"""Clock, power and temperature of the GPU over the session."""

from __future__ import annotations

from matplotlib.figure import Figure

from .. import format as fmt
from ..results import Moment, Results
from .canvas import INK, Plate, canvas, styled
from .colours import look

_PANELS = (("sm_mhz", "SM clock (MHz)"), ("power_w", "Power (W)"), ("temperature_c", "Temperature (°C)"))


@styled
def figure(results: Results) -> Figure | None:
    """A dot a sample, in the colour of the arm that ran."""
    known = [(name, label) for name, label in _PANELS if any(_value(one, name) is not None for one in results.moments)]
    if not known:
        return None
    arms = list(dict.fromkeys(one.arm for one in results.moments))
    longest = max(one.at_s for one in results.moments)
    unit, scale = ("h", 1 / 3600) if longest > 5400 else ("min", 1 / 60) if longest > 180 else ("s", 1.0)
    figure, panels = canvas(
        results, "The machine meanwhile", "A dot a sample, about one a second.", [1.5] * len(known), arms, share_x=True
    )
    for axes, (name, label) in zip(panels, known, strict=True):
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
    panels[-1].set_xlabel(f"Time of the session ({unit})")
    return figure


def alt(results: Results) -> str:
    said = []
    for arm in dict.fromkeys(one.arm for one in results.moments):
        known = []
        for name, label in _PANELS:
            values = [value for one in results.moments if one.arm == arm and (value := _value(one, name)) is not None]
            if values:
                known.append(f"{label} {fmt.significant(min(values))} to {fmt.significant(max(values))}")
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
