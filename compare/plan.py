"""From a specification to its tasks, in the order they run, and to what a budget leaves of them.

Order: the speed blocks, then the training blocks, the training A/A, first steps from trained weights, then what is only
there for speed and memory (sweep, other recipes and workloads, largest batch), so that a budget is spent on the main
question first.
Within a block every arm runs once, in an order drawn for the block, so that a drift of the machine
(clocks, temperature, neighbours) falls on all arms alike.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .arms import ARMS, RECIPES
from .records import Decision
from .spec import Device, Spec, Task
from .workloads.known import KNOWN, batch_of

LEAST_BLOCKS = 3
LEAST_SEEDS = 3
LEAST_EPOCHS = 3
WORTHWHILE_EPOCHS = 10
"""Epochs below which fewer seeds are better than fewer epochs."""
SPEED_SHARE = 0.4
"""Share of a budget that speed blocks may take where arms are trained too."""
TRAINING_OVERHEAD = 1.15
"""Evaluation and input over the bare steps of an epoch."""


def tasks(spec: Spec, available: Iterable[str]) -> list[Task]:
    """Every task of the session, in order, for the arms that can run."""
    arms = [arm for arm in spec.arms if arm in set(available)]
    main = Task("speed", "", workload=spec.workload, recipe=spec.recipe, batch=spec.batch)
    planned: list[Task] = []
    for block in range(spec.settling_blocks):
        planned += _block(replace(main, block=block, settling=True), arms, ())
    for block in range(spec.blocks):
        planned += _block(replace(main, block=block), arms, spec.repeated)
    for seed in range(spec.seeds):
        trained = [arm for arm in arms if arm in spec.trained]
        planned += _block(replace(main, kind="train", seed=seed, block=seed), trained, ())
    for seed in range(min(spec.again, spec.seeds)):
        repeated = [arm for arm in arms if arm in spec.trained_again and arm in spec.trained]
        planned += _block(replace(main, kind="train", seed=seed, block=seed, replica=1), repeated, ())
    for seed in range(min(spec.after, spec.seeds) if spec.weights_from in arms else 0):
        trained = [arm for arm in arms if arm in spec.trained]
        planned += _block(replace(main, kind="after", seed=seed, block=seed), trained, spec.trained_again)
    for block in range(spec.extra_blocks):
        for other in _others(spec, replace(main, block=block)):
            able = [arm for arm in arms if cannot(arm, other.recipe, spec.device) is None]
            planned += _block(other, able, spec.repeated)
    if spec.capacity and spec.world == 1:
        planned += _block(replace(main, kind="capacity"), arms, ())
    return planned


def _others(spec: Spec, main: Task) -> Iterable[Task]:
    """What is measured beside the main question: other batch sizes, recipes and workloads."""
    for batch in spec.sweep:
        if batch != spec.batch:
            yield replace(main, batch=batch)
    for workload in dict.fromkeys((spec.workload, *spec.extra_workloads)):
        for recipe in _recipes(workload, spec):
            if (workload, recipe) != (spec.workload, spec.recipe):
                batch = spec.batch if workload == spec.workload else batch_of(workload, spec.batch)
                yield replace(main, workload=workload, recipe=recipe, batch=batch)


def _recipes(workload: str, spec: Spec) -> list[str]:
    """The recipes that a workload is measured with: all of the session's that it can be trained with.

    Beside another workload, one with a loader has the session's own recipe alone: it is there for what the loader
    leaves of the speed, not for the recipes.
    """
    known = KNOWN.get(workload)
    if known is None:
        return list(dict.fromkeys((spec.recipe, *spec.extra_recipes)))
    more = spec.extra_recipes if known.loads is None or workload == spec.workload else ()
    return [recipe for recipe in dict.fromkeys((spec.recipe, *more)) if recipe not in known.cannot]


def cannot(arm: str, recipe: str, device: Device) -> str | None:
    """Why an arm cannot run a recipe on a device, in one sentence; None if it can."""
    info = ARMS[arm]
    if info.target(RECIPES[recipe], device) is not None:
        return None
    if info.target(RECIPES["plain"], device) is None:
        return "It needs a CUDA device."
    if info.apex:
        return f"Apex amp has no way to do the recipe {recipe} (NVIDIA/apex issue 818)."
    return f"This arm has no recipe {recipe}."


def _block(task: Task, arms: Iterable[str], repeated: Iterable[str]) -> list[Task]:
    """One task an arm, and a second for the repeated ones, in an order that only the block decides."""
    block = [replace(task, arm=arm) for arm in arms]
    block += [replace(once, replica=1) for once in block if once.arm in set(repeated)]
    random.Random(f"{task.kind} {task.workload} {task.recipe} {task.batch} {task.block} {task.settling}").shuffle(block)
    return block


# ---------------------------------------------------------------- budget


@dataclass(frozen=True)
class Cost:
    """What one arm was seen to take, in seconds."""

    task: float
    """A whole speed task."""
    start: float
    """Of that, everything but steps."""
    step: float


def training(cost: Cost, steps_per_epoch: int, epochs: int) -> float:
    """Seconds of a training task of the arm."""
    return cost.start + TRAINING_OVERHEAD * cost.step * steps_per_epoch * epochs


def decide(spec: Spec, costs: Mapping[str, Cost], steps_per_epoch: int, left: float) -> Decision:
    """What of blocks, seeds and epochs fits into the seconds that are left after the first speed block.

    Seeds stay as many as asked for while ten epochs fit, and never fall below three: fewer allow no verdict.
    If not even three epochs of three seeds fit, nothing is trained. Time is kept for the first steps from the weights
    of one seed. Seeds are trained a second time with what is then left.
    """
    trained = [arm for arm in spec.trained if arm in costs]
    block = sum(cost.task * (2 if arm in spec.repeated else 1) for arm, cost in costs.items())
    rounds = spec.settling_blocks + spec.blocks - 1
    blocks = spec.blocks
    share = SPEED_SHARE if trained and spec.seeds else 0.95
    while blocks > min(LEAST_BLOCKS, spec.blocks) and rounds * block > share * left:
        blocks, rounds = blocks - 1, rounds - 1
    # First steps from the weights of one seed cost little beside what they show; further seeds take what is left over.
    after = sum(costs[arm].start * (2 if arm in spec.trained_again else 1) for arm in trained) if spec.after else 0.0
    for_training = 0.95 * left - rounds * block - after

    def epochs_that_fit(seeds: int) -> int:
        start = sum(costs[arm].start for arm in trained)
        epoch = sum(training(costs[arm], steps_per_epoch, 1) for arm in trained) - start
        return min(spec.epochs, int((for_training / seeds - start) / epoch)) if epoch > 0 else spec.epochs

    seeds, epochs = spec.seeds, spec.epochs
    if trained and spec.seeds:
        while seeds > min(LEAST_SEEDS, spec.seeds) and epochs_that_fit(seeds) < min(WORTHWHILE_EPOCHS, spec.epochs):
            seeds -= 1
        epochs = epochs_that_fit(seeds)
        if epochs < min(LEAST_EPOCHS, spec.epochs):
            seeds = epochs = 0
    again = min(spec.again, seeds)
    for_again = for_training - seeds * sum(training(costs[arm], steps_per_epoch, epochs) for arm in trained)
    once = sum(training(costs[arm], steps_per_epoch, epochs) for arm in trained if arm in spec.trained_again)
    while again and again * once > for_again:
        again -= 1
    if again < LEAST_SEEDS:
        again = 0
    cut = (blocks, seeds, epochs, again) != (spec.blocks, spec.seeds, spec.epochs, spec.again)
    budget = spec.budget or 0.0
    time = f"{budget:.0f} seconds" if budget < 120 else f"{budget / 60:.0f} minutes"
    reason = (
        f"The budget of {time} allows {blocks} of {spec.blocks} speed blocks and "
        + (f"{seeds} of {spec.seeds} seeds with {epochs} of {spec.epochs} epochs" if seeds else "no training")
        + (f", {again} of {spec.again} of them twice." if seeds and spec.again else ".")
        if cut
        else f"The budget of {time} allows everything that was asked for."
    )
    return Decision(reason, blocks, seeds, epochs, again)
