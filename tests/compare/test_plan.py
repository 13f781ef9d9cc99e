"""The order of the tasks, and what a budget leaves of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compare import plan
from compare.arms import ARMS
from compare.profiles import COMPARED, PROFILES, profile
from compare.spec import Spec, Task

STANDARD = profile("standard", "cuda")
FULL = profile("full", "cuda")


def speed(tasks: list[Task]) -> list[Task]:
    return [task for task in tasks if task.kind == "speed"]


@pytest.mark.parametrize("name", PROFILES)
def test_no_task_is_planned_twice(name: str) -> None:
    spec = profile(name, "cpu" if name == "smoke" else "cuda")
    tasks = plan.tasks(spec, spec.arms)
    assert len({task.name for task in tasks}) == len(tasks)


def test_each_block_holds_every_arm_once_and_the_repeated_ones_twice() -> None:
    tasks = [task for task in speed(plan.tasks(STANDARD, STANDARD.arms)) if not task.settling]
    for block in range(STANDARD.blocks):
        counted = Counter(task.arm for task in tasks if task.block == block)
        assert counted == {"fp32": 1, "tf32": 1, "apex-o1": 2, "native-fp16": 2}


def test_blocks_follow_one_another_each_in_an_order_of_its_own() -> None:
    tasks = [task for task in speed(plan.tasks(STANDARD, STANDARD.arms)) if not task.settling]
    assert [task.block for task in tasks] == sorted(task.block for task in tasks)
    orders = {tuple((t.arm, t.replica) for t in tasks if t.block == block) for block in range(STANDARD.blocks)}
    assert len(orders) > 1
    assert plan.tasks(STANDARD, STANDARD.arms) == plan.tasks(STANDARD, STANDARD.arms), "the order is not the same again"


def test_settling_comes_first_and_training_before_what_is_only_for_speed() -> None:
    tasks = plan.tasks(FULL, FULL.arms)
    assert tasks[0].settling and not any(task.settling for task in tasks[len(FULL.arms) :])
    training = [index for index, task in enumerate(tasks) if task.kind == "train"]
    others = [index for index, task in enumerate(tasks) if task.batch != FULL.batch or task.recipe != "plain"]
    assert max(training) < min(others)


def test_only_the_compared_arms_are_trained() -> None:
    trained = [task for task in plan.tasks(FULL, FULL.arms) if task.kind == "train"]
    assert {task.arm for task in trained} == set(COMPARED)
    assert Counter(task.arm for task in trained if not task.replica) == dict.fromkeys(COMPARED, FULL.seeds)


def test_one_arm_is_trained_a_second_time_after_all_others() -> None:
    trained = [task for task in plan.tasks(FULL, FULL.arms) if task.kind == "train"]
    again = trained[len(COMPARED) * FULL.seeds :]
    assert [(task.arm, task.seed, task.replica) for task in again] == [("native-fp16", seed, 1) for seed in range(5)]


def test_first_steps_from_trained_weights_follow_the_trainings() -> None:
    tasks = plan.tasks(STANDARD, STANDARD.arms)
    after = [task for task in tasks if task.kind == "after"]
    counted = Counter((task.arm, task.replica) for task in after)
    assert counted == {("fp32", 0): 3, ("apex-o1", 0): 3, ("native-fp16", 0): 3, ("native-fp16", 1): 3}
    assert tasks.index(after[0]) > max(tasks.index(task) for task in tasks if task.kind == "train")
    assert STANDARD.weights_from == "fp32"
    assert not [task for task in plan.tasks(STANDARD, ("apex-o1", "native-fp16")) if task.kind == "after"]
    assert not [task for task in plan.tasks(replace(STANDARD, seeds=0), STANDARD.arms) if task.kind == "after"]


def test_what_stands_beside_the_main_question_has_blocks_and_controls_too() -> None:
    """Another batch size, recipe or workload: an interval needs several processes, a control the same arm twice."""
    beside = [
        task
        for task in speed(plan.tasks(FULL, FULL.arms))
        if (task.workload, task.recipe, task.batch) != (FULL.workload, FULL.recipe, FULL.batch)
    ]
    for what in {(task.workload, task.recipe, task.batch) for task in beside}:
        counted = Counter(
            (task.arm, task.replica) for task in beside if (task.workload, task.recipe, task.batch) == what
        )
        assert set(counted.values()) == {3}, what
        assert {arm for arm, replica in counted if replica} == set(FULL.repeated) & {arm for arm, _ in counted}


def test_an_arm_that_is_unavailable_has_no_task() -> None:
    assert "apex-o1" not in {task.arm for task in plan.tasks(FULL, set(FULL.arms) - {"apex-o1"})}


def test_everything_covers_recipes_workloads_sweep_and_capacity() -> None:
    tasks = plan.tasks(FULL, FULL.arms)
    assert {task.recipe for task in tasks} == {"plain", "clip", "accumulate", "gradient-penalty"}
    assert {task.workload for task in tasks} == {"resnet50-cifar10", "vit-cifar10", "resnet50-cifar10-loader", "mlp"}
    assert {task.batch for task in speed(tasks) if task.workload != "mlp"} == {32, 64, 128, 256, 512, 1024, 2048}
    assert {task.arm for task in tasks if task.kind == "capacity"} == set(FULL.arms)
    assert not {task.arm for task in tasks if task.recipe == "gradient-penalty"} & {"apex-o1", "apex-o2"}


@pytest.mark.parametrize(
    ("arm", "recipe", "device", "words"),
    [
        ("apex-o1", "gradient-penalty", "cuda", "issue 818"),
        ("native-best", "gradient-penalty", "cuda", "no recipe"),
        ("tf32", "plain", "cpu", "CUDA"),
        ("native-best", "gradient-penalty", "cpu", "CUDA"),
    ],
)
def test_an_arm_that_cannot_do_a_recipe_says_why(arm: str, recipe: str, device: str, words: str) -> None:
    reason = plan.cannot(arm, recipe, device)  # type: ignore[arg-type]
    assert reason is not None and words in reason


def test_every_arm_runs_the_plain_recipe_on_cuda() -> None:
    assert [arm for arm in ARMS if plan.cannot(arm, "plain", "cuda")] == []


# ---------------------------------------------------------------- budget

COSTS = {arm: plan.Cost(task=20.0, start=12.0, step=0.03) for arm in STANDARD.arms}
costs = st.floats(1.0, 200.0)


def duration(spec: Spec, blocks: int, seeds: int, epochs: int, each: dict[str, plan.Cost]) -> float:
    """What remains to run after the first block, by plain addition."""
    tasks = speed(plan.tasks(replace(spec, blocks=blocks), spec.arms))[len(spec.arms) :]
    trained = sum(each[arm].start + 1.15 * 390 * epochs * each[arm].step for arm in spec.trained)
    return sum(each[task.arm].task for task in tasks) + seeds * trained


def test_a_budget_that_holds_everything_changes_nothing() -> None:
    decision = plan.decide(replace(STANDARD, budget=1e6), COSTS, 390, 1e6)
    assert (decision.blocks, decision.seeds, decision.epochs, decision.again) == (5, 5, 30, 5)
    assert "everything" in decision.reason


@given(left=st.floats(0, 20_000), step=st.floats(0.005, 0.5), start=st.floats(5, 60))
def test_what_is_decided_fits_and_keeps_three_seeds_or_trains_nothing(left: float, step: float, start: float) -> None:
    each = {arm: plan.Cost(start + 300 * step, start, step) for arm in STANDARD.arms}
    decision = plan.decide(replace(STANDARD, budget=left), each, 390, left)
    assert decision.blocks in (3, 4, 5)
    assert decision.seeds in (0, 3, 4, 5)
    if decision.seeds:
        assert 3 <= decision.epochs <= 30
        twice = plan.training(each["native-fp16"], 390, decision.epochs)
        used = duration(STANDARD, decision.blocks, decision.seeds, decision.epochs, each) + decision.again * twice
        after = [task for task in plan.tasks(decision.within(STANDARD), STANDARD.arms) if task.kind == "after"]
        used += sum(each[task.arm].start for task in after if task.seed == 0)
        assert used <= left, "no time is kept for first steps from trained weights"
        assert decision.again in (0, 3, 4, 5) and decision.again <= decision.seeds
    else:
        assert decision.epochs == 0 and "no training" in decision.reason


@given(left=st.floats(100, 20_000))
def test_seeds_are_given_up_only_when_ten_epochs_of_more_do_not_fit(left: float) -> None:
    decision = plan.decide(replace(STANDARD, budget=left), COSTS, 390, left)
    if 3 <= decision.seeds < 5:
        after = 4 * COSTS["fp32"].start
        assert duration(STANDARD, decision.blocks, decision.seeds + 1, 11, COSTS) + after > 0.95 * left


def test_a_session_that_trains_nothing_spends_its_budget_on_speed() -> None:
    decision = plan.decide(replace(STANDARD, trained=(), budget=700.0), COSTS, 390, 700.0)
    assert decision.blocks == 5
