"""The sections of what was measured of each arm: training runs, sizes, where the time goes; and the claims."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median

from .. import format as fmt
from ..results import Interval, Results, SweepPoint, TrainingRun
from .blocks import Block, Cell, Section, Text, Tone, no_difference, number, ratio_cell, section, table
from .others import others


def claims(results: Results) -> Section:
    """What is often said beside what was measured."""
    tones: dict[str, Tone] = {"yes": "good", "no": "bad", "not measured": "quiet"}
    rows = [
        (Cell(one.claim), Cell(one.source), Cell(one.measured), Cell(one.holds, tone=tones[one.holds]))
        for one in results.claims
    ]
    blocks: list[Block] = table(("Claim", "Source", "Measured here", "Holds here"), rows)
    if blocks and results.smoke:
        blocks.insert(0, Text("A smoke run measures none of them."))
    return section("claims", "Common claims", blocks, "No claim was compared.")


def training(results: Results) -> Section:
    """Every training run, those that ended early too."""
    rows = [
        (
            Cell(arm.name, arm=arm.name),
            number(str(run.seed)),
            Cell(fmt.status(run.status), tone="" if run.status == "ok" else "bad"),
            number(f"{len(run.epochs)} of {results.spec.epochs}"),
            number(fmt.percent(run.final_accuracy)),
            number(fmt.significant(_last_loss(run))),
            number(f"{run.skipped_steps:,} of {run.steps:,}"),
            number(fmt.duration(_epoch_time(run))),
            number(fmt.duration(run.epochs[-1].train_s) if run.epochs else fmt.NONE),
            number(fmt.duration(run.time_to_target_s)),
            Cell(run.reason or ""),
        )
        for arm in results.arms
        for run in arm.training
    ]
    target = results.spec.target_accuracy
    reach = f"To {target:g} %" if target is not None else "To target"
    head = (
        "Arm",
        "Seed",
        "Ended",
        "Epochs",
        "Final accuracy",
        "Last loss",
        "Skipped steps",
        "Epoch (median)",
        "Training time",
        reach,
        "Reason",
    )
    return section("runs", "Every training run", table(head, rows), "No arm was trained in this session.")


def _epoch_time(run: TrainingRun) -> float | None:
    """Median training time of an epoch, evaluation excluded."""
    ends = [0.0, *(point.train_s for point in run.epochs)]
    return median(end - start for start, end in pairwise(ends)) if run.epochs else None


def time_spent(results: Results) -> Section:
    """Where the time of a step goes."""
    rows = [
        (
            Cell(arm.name, arm=arm.name),
            number(fmt.milliseconds(steps.median_ms), fmt.between(steps.q1_ms, steps.q3_ms, fmt.like(steps.median_ms))),
            number(fmt.milliseconds(steps.p95_ms)),
            number(fmt.milliseconds(steps.host_ms)),
            number(fmt.ratio(arm.sustained)),
            number(fmt.share(steps.busy_share)),
            number(_energy(arm.joules_per_image)),
            Cell(
                {True: "yes", False: "no", None: fmt.NONE}[steps.launch_bound],
                tone="open" if steps.launch_bound else "",
            ),
            number(fmt.share(steps.input_share)),
            Cell(steps.clock),
        )
        for arm in results.arms
        if (steps := arm.steps) is not None
    ]
    head = (
        "Arm",
        "Step (median, IQR)",
        "p95",
        "Host, with its waits",
        "In training",
        "Device busy",
        "J an image",
        "Launch bound",
        "Input beside it",
        "Clock",
    )
    blocks: list[Block] = table(head, rows)
    if blocks:
        note = (
            "An arm is launch bound where the device waits for the host: a faster kernel would not make it "
            "faster, fewer launches would. Drawing and augmenting a batch is not part of a timed step; its "
            "cost is given as a share of one. The host's time holds where it waits for the device: a loss scale asks "
            "it whether a gradient overflowed, at every step. “In training” is the speed of whole epochs over that of "
            "the timed windows, the drawing of batches allowed for: at 1 the windows tell what a training gets."
        )
        blocks.insert(0, Text(note))
    return section("time", "Where the time goes", blocks, "No step was timed.")


def _energy(joules: Interval | None) -> str:
    return fmt.NONE if joules is None else fmt.significant(joules.value)


def sizes(results: Results) -> Section:
    """Largest batch, batch sweep, other workloads and recipes."""
    largest = [
        (Cell(arm.name, arm=arm.name), number(fmt.count(arm.largest_batch)))
        for arm in results.arms
        if arm.largest_batch is not None
    ]
    batches = sorted({point.batch for point in results.sweep})
    points = {(point.arm, point.batch): point for point in results.sweep}
    swept = [
        (Cell(arm, arm=arm), *(_swept(points.get((arm, batch))) for batch in batches))
        for arm in dict.fromkeys(point.arm for point in results.sweep)
    ]
    ratios = [
        (Cell(arm, arm=arm), *(_ratio(results, points.get((arm, batch))) for batch in batches))
        for arm in dict.fromkeys(point.arm for point in results.sweep)
        if arm != results.spec.baseline and any(point.speed_ratio for point in results.sweep if point.arm == arm)
    ]
    unit = fmt.speed_unit(results.spec.workload)
    head = ("Arm", *(f"Batch {batch}" for batch in batches))
    blocks: list[Block] = table(("Arm", "Largest batch that fits"), largest)
    blocks += table(head, swept, f"Batch sweep: speed ({unit}) and peak memory")
    blocks += table(head, ratios, f"Batch sweep: speed over {results.spec.baseline}'s at the same batch")
    blocks += others(results)
    return section(
        "sizes",
        "Batch sizes, other workloads and recipes",
        blocks,
        "Largest batch, batch sweep, other workloads and recipes belong to the profile “full” and were not run here.",
    )


def _swept(point: SweepPoint | None) -> Cell:
    if point is None:
        return number(fmt.NONE)
    if point.images_per_s is None:
        return Cell(point.reason or "did not run", tone="open", number=True)
    speed = point.images_per_s
    small = (fmt.spread(speed, fmt.like(speed.value)), fmt.memory(point.memory_allocated))
    return number(fmt.significant(speed.value), ", ".join(one for one in small if one))


def _ratio(results: Results, point: SweepPoint | None) -> Cell:
    """The ratio with its interval, and what is not said by a difference that is one."""
    if point is None or point.speed_ratio is None:
        return number(fmt.NONE)
    cell = ratio_cell(point.speed_ratio)
    told = no_difference(results, point.speed_ratio, point.speed_differs)
    return number(cell.text, ", ".join(one for one in (cell.sub, told) if one))


def _last_loss(run: TrainingRun) -> float | None:
    losses = [loss for epoch in run.epochs for loss in epoch.losses]
    return losses[-1] if losses else math.nan if run.status == "nan" else None
