"""The table of other workloads and recipes, and what a loader leaves of the gain."""

from __future__ import annotations

from .. import format as fmt
from ..results import Interval, OtherSpeed, Results
from ..workloads.known import known, loads
from .blocks import Block, Cell, Text, no_difference, number, ratio_cell, table


def others(results: Results) -> list[Block]:
    """The table, above it what its rows with a loader mean; empty where nothing else was measured."""
    baseline = results.spec.baseline
    rows = [
        (
            _workload(one.workload, first=at == 0 or results.others[at - 1].workload != one.workload),
            Cell(one.recipe),
            Cell(one.arm, arm=one.arm),
            _speed(one.images_per_s),
            ratio_cell(one.speed_ratio),
            number(fmt.memory(one.memory_allocated)),
            Cell(one.reason or _note(results, one)),
        )
        for at, one in enumerate(results.others)
    ]
    head = ("Workload", "Recipe", "Arm", "Speed (samples/s)", f"{fmt.TIMES} {baseline}", "Memory", "Note")
    blocks: list[Block] = table(head, rows, "Other workloads and recipes")
    with_loader = [one.workload for one in results.others if loads(one.workload)]
    if blocks and with_loader:
        text = (
            f"In {with_loader[0]} the batches come from a DataLoader within the timed steps: JPEG files of 32x32 "
            "pixels, decoded, cropped, flipped and normalised by a worker a core (eight at most), pinned and copied "
            "without waiting. All else is as in the session. What it leaves of the gain hangs on the cores; larger "
            "images take a loader longer."
        )
        blocks.insert(0, Text(text))
    return blocks


def _workload(name: str, first: bool) -> Cell:
    """Its name, and in its first row what it is in words."""
    its = known(name) if first else None
    return Cell(name, its.title if its is not None else "")


def _note(results: Results, one: OtherSpeed) -> str:
    """What the numbers do not say: that two speeds are not told apart, or not judged; what a loader leaves."""
    baseline = one.arm == results.spec.baseline
    told = "" if baseline else no_difference(results, one.speed_ratio, one.speed_differs)
    return "; ".join(part for part in (told, _left(results, one)) if part)


def _left(results: Results, one: OtherSpeed) -> str:
    """The share of an arm's gain that is left with a loader; nothing where there is no gain without one."""
    its, spec = known(one.workload), results.spec
    pair = results.pair(one.arm, spec.baseline)
    if its is None or (its.loads, one.recipe) != (spec.workload, spec.recipe) or one.speed_ratio is None:
        return ""
    if pair is None or pair.speed is None or not pair.speed_differs or pair.speed.value <= 1:
        return ""
    share = (one.speed_ratio.value - 1) / (pair.speed.value - 1)
    return f"{fmt.share(share)} of the gain without a loader ({fmt.ratio(pair.speed.value)})"


def _speed(speed: Interval | None) -> Cell:
    if speed is None:
        return number(fmt.NONE)
    return number(fmt.significant(speed.value), fmt.spread(speed, fmt.like(speed.value)))
