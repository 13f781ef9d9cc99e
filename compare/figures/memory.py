"""Peak memory of every arm."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from .. import format as fmt
from ..results import MemoryUse, Results
from .canvas import INK, Plate, arm_rows, canvas, rows_height, styled
from .colours import look


@styled
def figure(results: Results) -> Figure | None:
    """Bars from zero: what tensors took, and behind it what the allocator held."""
    rows = _rows(results)
    if not rows:
        return None
    unit = fmt.memory_unit(max(_largest(use) for _, use in rows))
    figure, (axes,) = canvas(results, "Peak memory", _seen(results), [rows_height(len(rows))])
    most = max(fmt.in_unit(_largest(use), unit) for _, use in rows)
    for place, (arm, use) in enumerate(rows):
        allocated, reserved = fmt.in_unit(use.allocated, unit), fmt.in_unit(use.reserved, unit)
        axes.barh(
            place,
            reserved,
            height=0.62,
            color="white",
            edgecolor="#6B6B6B",
            linewidth=0.8,
            hatch="////",
            gid=f"reserved:{arm}",
        )
        axes.barh(
            place, allocated, height=0.62, color=look(arm).colour, edgecolor=INK, linewidth=0.5, gid=f"allocated:{arm}"
        )
        axes.text(max(allocated, reserved) + 0.02 * most, place, fmt.memory(use.allocated), va="center", size=8.5)
    arm_rows(axes, [arm for arm, _ in rows])
    axes.set_xlim(0, most * 1.27)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(f"Peak memory ({unit}), batch {results.spec.batch}")
    if any(use.reserved > 1.02 * use.allocated for _, use in rows):
        figure.legend(
            handles=[
                Patch(facecolor="#9A9A9A", edgecolor=INK, label="allocated by tensors (number)"),
                Patch(facecolor="white", edgecolor="#6B6B6B", hatch="////", label="held by the allocator"),
            ],
            loc="outside lower right",
            ncols=2,
            frameon=False,
            fontsize=8.5,
        )
    return figure


def alt(results: Results) -> str:
    rows = [
        f"{arm} {fmt.memory(use.allocated)} allocated, {fmt.memory(use.reserved)} held" for arm, use in _rows(results)
    ]
    return f"Bars of the peak memory: {'; '.join(rows)}."


def _seen(results: Results) -> str:
    pairs = [(results.pair("native-fp16", other), other) for other in ("apex-o1", results.spec.baseline)]
    said = [
        f"{fmt.ratio(pair.memory)} the memory of {other}" for pair, other in pairs if pair and pair.memory is not None
    ]
    if said and not results.smoke:
        return f"native-fp16 takes {fmt.listed(said)}."
    return "Largest peak over the arm's runs, warm-up excluded."


def _largest(use: MemoryUse) -> int:
    return max(use.allocated, use.reserved)


def _rows(results: Results) -> list[tuple[str, MemoryUse]]:
    return [(arm.name, arm.memory) for arm in results.arms if arm.memory is not None]


PLATE = Plate(
    "memory",
    "Memory",
    figure,
    alt,
    "The coloured bar is the largest amount that tensors held at once; the hatched part is what PyTorch's "
    "allocator held "
    "on top for reuse. The driver's own share is in neither.",
    lambda results: (
        "No peak memory was recorded: PyTorch counts it on a GPU only."
        if results.spec.device == "cpu"
        else "No peak memory was recorded."
    ),
)
