"""The sections of what was measured: pairs, accuracy, training runs, claims, and where the time goes."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median

from .. import format as fmt
from ..results import Equivalence, Interval, Pair, Results, SweepPoint, TrainingRun
from .blocks import Block, Cell, Section, Text, number, table
from .overview import TONES


def pairs(results: Results) -> Section:
    """Every pair of arms with its ratio, beside what two runs of one arm differ by."""
    rows = [
        (
            Cell(pair.arm, arm=pair.arm),
            Cell(pair.baseline, arm=pair.baseline),
            _ratio(pair.speed),
            Cell(_difference(results, pair)),
            number(fmt.ratio(pair.memory, 3)),
            number(fmt.count(pair.speed.n) if pair.speed else fmt.NONE),
        )
        for pair in results.pairs
    ]
    floors = [
        (
            Cell(floor.arm, arm=floor.arm),
            _ratio(floor.ratio),
            number(fmt.ratio(floor.largest, 3)),
            number(fmt.count(floor.ratio.n)),
        )
        for floor in results.floors
    ]
    blocks: list[Block] = table(("Arm", "Against", "Speed ratio", "Difference", "Memory ratio", "n"), rows)
    blocks += table(
        ("Arm", "Ratio of its two runs", "Largest of any pair", "n"),
        floors,
        "A/A: the same arm twice in each block, the noise floor",
    )
    if rows and not floors:
        blocks.append(Text("No arm ran twice in a block, so that there is no noise floor to hold the ratios against."))
    if blocks:
        note = (
            "Ratios are paired within a block and stand with their 95 % interval. A speed ratio above 1 "
            "means that the arm is faster; no difference smaller than the A/A floor means anything."
        )
        blocks.insert(0, Text(note))
    return _section("pairs", "Pairs and the noise floor", blocks, "No two arms have a speed to compare.")


def accuracy(results: Results) -> Section:
    """The tests of equivalence and what the number of seeds can show."""
    tests = [pair.equivalence for pair in results.pairs if pair.equivalence is not None]
    rows = [
        (
            Cell(f"{test.arm} {fmt.MINUS} {test.baseline}", arm=test.arm),
            number(fmt.points(test.difference)),
            number(_bounds(test)),
            number(fmt.p_value(test.p)),
            number(fmt.p_value(test.p_holm)),
            number(str(test.n)),
            number(fmt.probability(test.power)),
            number(fmt.p_value(test.mcnemar_p)),
            Cell(test.verdict, tone=TONES[test.verdict]),
        )
        for test in tests
    ]
    head = ("Pair", "Difference (points)", "90 % interval", "p", "p (Holm)", "Seeds", "Power", "McNemar p", "Verdict")
    margin = results.spec.margin
    blocks: list[Block] = table(head, rows)
    if blocks:
        note = (
            f"Equivalent means: the whole 90 % interval of the paired difference lies within ±{margin:g} "
            "percentage points (two one-sided t tests at 5 %). The margin was fixed before anything ran. An "
            "inconclusive test shows neither equality nor a difference."
        )
        blocks = [Text(note), *blocks, *(Text(_power(test)) for test in tests)]
    return _section(
        "equivalence",
        "Accuracy: equivalence and power",
        blocks,
        "No accuracy was compared: no two arms share a trained seed.",
    )


def step0(results: Results) -> Section:
    """The difference of logits and gradients before any training."""
    rows = [
        (
            Cell(arm.name, arm=arm.name),
            Cell(one.baseline),
            number(fmt.relative(one.logits)),
            number(fmt.relative(one.gradients)),
            _yes(one.same_weights),
            _yes(one.same_order),
        )
        for arm in results.arms
        for one in arm.step0
    ]
    blocks: list[Block] = table(("Arm", "Against", "Logits", "Gradients", "Same weights", "Same data order"), rows)
    if blocks:
        note = (
            "Relative difference (norm of the difference over the baseline's norm) at the first forward and "
            "backward, from equal weights on an equal batch. One operation rounds by about 1e-3 in float16 and 8e-3 "
            "in bfloat16; a deep network that is not trained yet amplifies that from layer to layer, in the gradients "
            "most. What tells is not the size but whether Apex O1 and native AMP lie equally far from the baseline."
        )
        blocks.insert(0, Text(note))
    return _section(
        "step0",
        "Differences at step 0",
        blocks,
        "Logits and gradients of the first step were not recorded for two arms.",
    )


def claims(results: Results) -> Section:
    """What is often said beside what was measured."""
    tones = {"yes": "good", "no": "bad", "not measured": "quiet"}
    rows = [
        (Cell(one.claim), Cell(one.source), Cell(one.measured), Cell(one.holds, tone=tones[one.holds]))  # type: ignore[arg-type]
        for one in results.claims
    ]
    blocks: list[Block] = table(("Claim", "Source", "Measured here", "Holds here"), rows)
    if blocks and results.smoke:
        blocks.insert(0, Text("A smoke run measures none of them."))
    return _section("claims", "Common claims", blocks, "No claim was compared.")


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
    return _section("runs", "Every training run", table(head, rows), "No arm was trained in this session.")


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
            number(fmt.share(steps.busy_share)),
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
        "Host issues it in",
        "Device busy",
        "Launch bound",
        "Input beside it",
        "Clock",
    )
    blocks: list[Block] = table(head, rows)
    if blocks:
        note = (
            "An arm is launch bound where the device waits for the host: a faster kernel would not make it "
            "faster, fewer launches would. Drawing and augmenting a batch is not part of a timed step; its "
            "cost is given as a share of one."
        )
        blocks.insert(0, Text(note))
    return _section("time", "Where the time goes", blocks, "No step was timed.")


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
    others = [
        (
            Cell(one.workload),
            Cell(one.recipe),
            Cell(one.arm, arm=one.arm),
            _speed(one.images_per_s),
            _ratio(one.speed_ratio),
            number(fmt.memory(one.memory_allocated)),
            Cell(one.reason or ""),
        )
        for one in results.others
    ]
    unit = fmt.speed_unit(results.spec.workload)
    blocks: list[Block] = table(("Arm", "Largest batch that fits"), largest)
    blocks += table(
        ("Arm", *(f"Batch {batch}" for batch in batches)), swept, f"Batch sweep: speed ({unit}) and peak memory"
    )
    head = ("Workload", "Recipe", "Arm", "Speed (samples/s)", f"{fmt.TIMES} {results.spec.baseline}", "Memory", "Note")
    blocks += table(head, others, "Other workloads and recipes")
    return _section(
        "sizes",
        "Batch sizes, other workloads and recipes",
        blocks,
        "Largest batch, batch sweep, other workloads and recipes belong to the profile “full” and were not run here.",
    )


def _section(id: str, title: str, blocks: list[Block], nothing: str) -> Section:
    return Section(id, title, tuple(blocks or [Text(nothing)]))


def _ratio(ratio: Interval | None) -> Cell:
    if ratio is None:
        return number(fmt.NONE)
    return number(fmt.ratio(ratio.value, 3), fmt.spread(ratio, lambda value: fmt.ratio(value, 3)[:-1]))


def _speed(speed: Interval | None) -> Cell:
    if speed is None:
        return number(fmt.NONE)
    return number(fmt.significant(speed.value), fmt.spread(speed, fmt.like(speed.value)))


def _swept(point: SweepPoint | None) -> Cell:
    if point is None:
        return number(fmt.NONE)
    if point.images_per_s is None:
        return Cell(point.reason or "did not run", tone="open", number=True)
    return number(fmt.significant(point.images_per_s.value), fmt.memory(point.memory_allocated))


def _difference(results: Results, pair: Pair) -> str:
    """Whether the speeds differ by more than two runs of one arm do."""
    if pair.speed_beyond_noise is not None:
        return "beyond the noise" if pair.speed_beyond_noise else "within the noise"
    if pair.speed is None:
        return fmt.NONE
    if results.smoke:
        return "not judged: smoke run"
    return "no interval to judge by" if results.floors else "no floor to compare with"


def _bounds(test: Equivalence) -> str:
    if test.low is None or test.high is None:
        return fmt.NONE
    return fmt.between(test.low, test.high, fmt.points)


def _yes(value: bool) -> Cell:
    return Cell("yes" if value else "NO", tone="" if value else "bad")


def _last_loss(run: TrainingRun) -> float | None:
    losses = [loss for epoch in run.epochs for loss in epoch.losses]
    return losses[-1] if losses else math.nan if run.status == "nan" else None


def _power(test: Equivalence) -> str:
    """What this number of seeds can show, in a sentence."""
    pair = f"{test.arm} against {test.baseline}"
    if test.power is None:
        return (
            f"{pair}: no verdict from {fmt.plural(test.n, 'seed')}; at least 3 are needed, and power cannot "
            "be estimated."
        )
    said = (
        f"{pair}: if the two were equal, {fmt.plural(test.n, 'seed')} with the spread seen here would show it "
        f"with a probability of {fmt.probability(test.power)}"
    )
    if test.seeds_needed is None:
        return said + "."
    if test.power >= 0.8:
        return f"{said}; {fmt.plural(test.seeds_needed, 'seed')} would be enough for 80 %."
    return f"{said}; for 80 % it would take {fmt.plural(test.seeds_needed, 'seed')}."
