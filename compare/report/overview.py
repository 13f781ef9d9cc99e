"""The first screen: every arm in one table, and what needs to be known before reading on."""

from __future__ import annotations

from .. import format as fmt
from ..results import ArmResult, Equivalence, Results
from .blocks import Block, Cell, Items, Section, Table, Text, Tone, number, table

APEX = "apex-o1"
TONES: dict[str, Tone] = {"equivalent": "good", "different": "bad", "inconclusive": "open", "no verdict": "open"}


def overview(results: Results) -> Table:
    """The table of the first screen: one row an arm, also for those that did not run."""
    baseline = results.spec.baseline
    against = [baseline] + ([APEX] if baseline != APEX and results.arm(APEX) is not None else [])
    head = (
        "Arm",
        fmt.speed_unit(results.spec.workload).capitalize(),
        *(f"{fmt.TIMES} {name}" for name in against),
        "Memory",
        "Accuracy",
        "Verdict",
    )
    rows = tuple(_row(results, arm, against) for arm in results.arms)
    return Table(head, rows)


def legend(results: Results) -> str:
    """What the columns mean."""
    small = (
        "Small print: 95 % intervals."
        if any(arm.images_per_s and arm.images_per_s.low is not None for arm in results.arms)
        else ""
    )
    note = (
        f"Speed: training steps alone, batch {results.spec.batch}. Memory: peak allocated. Accuracy: on the "
        f"test images after the last epoch. {small}"
    )
    return note.strip()


def before_reading(results: Results) -> Section:
    """Arms that did not run, tasks that failed, and notices."""
    blocks: list[Block] = []
    if not results.complete:
        blocks.append(Items(("This session is not complete: what follows is what was recorded so far.",), "bad"))
    gone = [arm for arm in results.arms if arm.status != "ok"]
    blocks += table(
        ("Arm", "Status", "Reason"),
        [(Cell(arm.name, arm=arm.name), _status(arm), Cell(arm.reason or "no reason was recorded")) for arm in gone],
        "Arms that did not run or failed",
    )
    blocks += table(
        ("Task", "Ended", "Reason"),
        [(Cell(one.task), Cell(fmt.status(one.status), tone="bad"), Cell(one.reason)) for one in results.failures],
        "Tasks that did not end well: recorded results like any other",
    )
    if results.notices:
        blocks.append(Items(results.notices))
    if not blocks:
        blocks.append(Text("Every arm ran and every task ended well."))
    return Section("notices", "Before you read on", tuple(blocks))


def accuracy_cell(arm: ArmResult) -> Cell:
    """Final accuracy with its interval."""
    if arm.accuracy is None:
        return number(fmt.NONE)
    mean = arm.accuracy.mean
    sub = fmt.spread(mean, lambda value: fmt.percent(value)[:-2]) or fmt.plural(len(arm.accuracy.runs), "seed")
    return number(fmt.percent(mean.value), sub)


def main_test(results: Results, arm: str) -> Equivalence | None:
    """The test of equivalence a reader asks for first: against Apex O1, else against the baseline."""
    pairs = [results.pair(arm, APEX), results.pair(arm, results.spec.baseline)]
    return next((pair.equivalence for pair in pairs if pair and pair.equivalence), None)


def _row(results: Results, arm: ArmResult, against: list[str]) -> tuple[Cell, ...]:
    name = Cell(arm.name, arm.title if arm.title != arm.name else "", arm=arm.name)
    speed = arm.images_per_s
    speed_cell = (
        number(fmt.NONE)
        if speed is None
        else number(fmt.significant(speed.value), fmt.spread(speed, fmt.like(speed.value)))
    )
    memory = number(fmt.memory(arm.memory.allocated if arm.memory else None))
    return (
        name,
        speed_cell,
        *(_ratio(results, arm.name, base) for base in against),
        memory,
        accuracy_cell(arm),
        _verdict(results, arm),
    )


def _ratio(results: Results, arm: str, base: str) -> Cell:
    if arm == base and (own := results.arm(arm)) is not None and own.images_per_s is not None:
        return number("1", "", "quiet")
    pair = results.pair(arm, base)
    if pair is None or pair.speed is None:
        return number(fmt.NONE)
    return number(fmt.ratio(pair.speed.value), fmt.spread(pair.speed, lambda value: fmt.ratio(value)[:-1]))


def _verdict(results: Results, arm: ArmResult) -> Cell:
    if arm.status != "ok":
        return _status(arm)
    if results.smoke:
        return Cell("none", "smoke run", tone="quiet")
    if arm.name == results.spec.baseline:
        return Cell("baseline", tone="quiet")
    test = main_test(results, arm.name)
    if test is not None:
        against = f"{'to' if test.verdict == 'equivalent' else 'against'} {test.baseline}"
        # A seed is left out where a run diverged: a verdict without it says less than it seems to.
        some = f", {test.n} of {results.spec.seeds} seeds" if test.n < results.spec.seeds else ""
        return Cell(test.verdict, against + some, TONES[test.verdict])
    return Cell("speed and memory only" if not arm.training else "no verdict", tone="quiet")


def _status(arm: ArmResult) -> Cell:
    return Cell(arm.status, tone="bad" if arm.status == "failed" else "quiet" if arm.status == "ok" else "open")
