"""The sections that hold two arms beside each other: speed, accuracy, run-to-run noise, the first step."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .. import format as fmt
from ..results import ArmResult, Equivalence, Results, Step0Difference
from .blocks import Block, Cell, Section, Text, difference, number, ratio_cell, section, table
from .overview import TONES


def pairs(results: Results) -> Section:
    """Every pair of arms with its ratio, beside what two runs of one arm differ by."""
    rows = [
        (
            Cell(pair.arm, arm=pair.arm),
            Cell(pair.baseline, arm=pair.baseline),
            ratio_cell(pair.speed),
            Cell(difference(results, pair.speed, pair.speed_differs)),
            number(fmt.excess(pair.detectable)),
            ratio_cell(pair.training_speed),
            ratio_cell(pair.time_to_target),
            number(fmt.ratio(pair.memory, 3)),
            number(fmt.count(pair.speed.n) if pair.speed else fmt.NONE),
        )
        for pair in results.pairs
    ]
    controls = [
        (
            Cell(control.arm, arm=control.arm),
            Cell(f"{control.workload} {control.recipe}, batch {control.batch}"),
            ratio_cell(control.ratio),
            number(fmt.NONE if control.spread is None else f"{100 * control.spread:.2g} %"),
            number(fmt.count(control.ratio.n)),
            Cell(
                {True: "yes", False: "NO", None: "not judged"}[control.holds],
                tone="bad" if control.holds is False else "",
            ),
        )
        for control in results.controls
    ]
    head = (
        "Arm",
        "Against",
        "Speed ratio",
        "Difference",
        "Would have shown",
        "Over epochs",
        "Time to target",
        "Memory ratio",
        "n",
    )
    blocks: list[Block] = table(head, rows)
    blocks += table(
        ("Arm", "On", "Ratio of its two runs", "Spread", "n", "Holds 1"),
        controls,
        "A/A control: the same arm twice in each block",
    )
    if rows and not controls:
        blocks.append(Text("No arm ran twice in a block: there is no control that equal code is equally fast here."))
    if blocks:
        note = (
            "Ratios are paired within a block and stand with their 95 % interval. A speed ratio above 1 means that the "
            "arm is faster, and a difference is called one where the interval excludes 1. “Would have shown” is the "
            "smallest difference that as many blocks with the upper 80 % bound of their spread call one in four of "
            "five sessions. “Over epochs” is the same ratio over whole epochs of training, “time to target” over the "
            "time to the target accuracy, paired by seed. The A/A control has to hold 1 (99 % over the controls of "
            "the same batch, recipe and workload, with their common spread), or no difference of theirs is judged."
        )
        blocks.insert(0, Text(note))
    return section("pairs", "Pairs and the A/A control", blocks, "No two arms have a speed to compare.")


def run_to_run(results: Results) -> Section:
    """What arms differ by in accuracy, beside what a training differs from itself by."""
    rows = [
        (
            Cell(f"{one.arm} {fmt.MINUS} {one.baseline}", arm=one.arm),
            number(_root_mean_square(one.between), fmt.plural(len(one.between), "seed")),
            number(_root_mean_square(one.within), fmt.plural(len(one.within), "seed")),
            number(
                fmt.ratio(one.excess) if one.excess is not None else fmt.NONE,
                fmt.between(one.low, one.high, lambda value: f"{value:.2f}")
                if one.low is not None and one.high is not None
                else "",
            ),
            Cell(
                {True: "more than run-to-run noise", False: "not told from run-to-run noise", None: fmt.NONE}[
                    one.exceeds
                ],
                tone="open" if one.exceeds else "",
            ),
        )
        for one in results.run_to_run
    ]
    head = ("Pair", "Difference (points, r.m.s.)", "The arm trained again", "Ratio", "Difference")
    blocks: list[Block] = table(head, rows)
    if blocks:
        note = (
            "The same arm, trained a second time with the same seed, ends elsewhere, as sums on a GPU are not made in "
            "a fixed order. Root mean squares of the differences in final accuracy, seed by seed, and their ratio with "
            "its 95 % interval (F): arms that differ by no more than one of them does from itself are as equal as this "
            "can show."
        )
        blocks.insert(0, Text(note))
    return section("again", "Trained again: run-to-run noise", blocks, "No arm was trained a second time.")


def _root_mean_square(values: tuple[float, ...]) -> str:
    return f"{math.sqrt(math.fsum(value * value for value in values) / len(values)):.3f}"


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
            number(fmt.p_value(test.p_beyond)),
            number(str(test.n)),
            number(fmt.probability(test.power)),
            Cell(test.verdict, tone=TONES[test.verdict]),
        )
        for test in tests
    ]
    head = ("Pair", "Difference (points)", "90 % interval", "p", "p (Holm)", "p of more", "Seeds", "Power", "Verdict")
    margin = results.spec.margin
    blocks: list[Block] = table(head, rows)
    if blocks:
        note = (
            f"Equivalent means: the whole 90 % interval of the paired difference lies within ±{margin:g} "
            "percentage points (two one-sided t tests at 5 %). Different means: “p of more”, that of a two-sided test "
            "of a difference beyond the margin, is below 5 % with Holm's correction over the pairs. The margin was "
            "fixed before anything ran. An inconclusive test shows neither equality nor a difference."
        )
        blocks = [Text(note), *blocks, *(Text(_power(test)) for test in tests)]
    return section(
        "equivalence",
        "Accuracy: equivalence and power",
        blocks,
        "No accuracy was compared: no two arms share a trained seed.",
    )


def step0(results: Results) -> Section:
    """The difference of logits, loss and gradients from equal weights, before training and after it."""
    first = _steps((arm, one) for arm in results.arms for one in arm.step0)
    trained = _steps((arm, one) for arm in results.arms for one in arm.after)
    head = ("Arm", "Against", "Logits", "Loss", "Gradients", "Over noise", "Same weights", "Same data order")
    blocks: list[Block] = []
    if first or trained:
        note = (
            "Relative difference (norm of the difference over the baseline's norm) at the first forward and "
            "backward, from equal weights on an equal batch. One operation rounds by about 1e-3 in float16 and 8e-3 "
            "in bfloat16; a deep network that is not trained yet amplifies that from layer to layer, in the gradients "
            "most. What tells is not the size but whether Apex O1 and native AMP lie equally far from the baseline. "
            "“Over noise” is the difference of the gradients over what one of the two arms, run again, differs from "
            "itself by."
        )
        blocks = [Text(note), *table(head, first, "From the initial weights")]
    if trained:
        seeds = fmt.plural(min(results.spec.after, results.spec.seeds), "seed")
        blocks += table(head, trained, f"From the weights that {results.spec.weights_from} was trained to ({seeds})")
    elif first:
        blocks.append(Text("No first step was made from trained weights."))
    return section(
        "step0",
        "Differences at the first step",
        blocks,
        "Logits and gradients of the first step were not recorded for two arms.",
    )


def _steps(differences: Iterable[tuple[ArmResult, Step0Difference]]) -> list[tuple[Cell, ...]]:
    return [
        (
            Cell(arm.name, arm=arm.name),
            Cell("itself, run again" if one.baseline == arm.name else one.baseline),
            number(fmt.relative(one.logits)),
            number(fmt.relative(one.loss)),
            number(fmt.relative(one.gradients)),
            number(fmt.NONE if one.baseline == arm.name else _over_noise(one)),
            _yes(one.same_weights),
            _yes(one.same_order),
        )
        for arm, one in differences
    ]


def _over_noise(one: Step0Difference) -> str:
    """How many times what an arm differs from itself by; in words where that is nothing."""
    if one.gradients is None or one.gradients_noise is None:
        return fmt.NONE
    if one.gradients_noise == 0:
        return "none" if one.gradients == 0 else "noise is 0"
    return fmt.ratio(one.gradients / one.gradients_noise)


def _bounds(test: Equivalence) -> str:
    if test.low is None or test.high is None:
        return fmt.NONE
    return fmt.between(test.low, test.high, fmt.points)


def _yes(value: bool) -> Cell:
    return Cell("yes" if value else "NO", tone="" if value else "bad")


def _power(test: Equivalence) -> str:
    """What this number of seeds can show, in a sentence."""
    pair = f"{test.arm} against {test.baseline}"
    if test.power is None:
        return (
            f"{pair}: no verdict from {fmt.plural(test.n, 'seed')}; at least 3 are needed, and power cannot "
            "be estimated."
        )
    said = (
        f"{pair}: if the two were equal, {fmt.plural(test.n, 'seed')} with the spread seen here (its upper 80 % bound) "
        f"would show it "
        f"with a probability of {fmt.probability(test.power)}"
    )
    if test.seeds_needed is None:
        return said + "."
    if test.power >= 0.8:
        return f"{said}; {fmt.plural(test.seeds_needed, 'seed')} would be enough for 80 %."
    return f"{said}; for 80 % it would take {fmt.plural(test.seeds_needed, 'seed')}."
