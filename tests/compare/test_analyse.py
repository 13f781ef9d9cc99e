"""Every rule from records to results, on sessions that are made up with known numbers (`made.py`)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compare import stats
from compare.analyse import analyse_folder
from compare.analysis.accuracy import together
from compare.records import (
    Decision,
    Ended,
    Environment,
    Epoch,
    Finished,
    Memory,
    Record,
    Resumed,
    Started,
    Step0,
    Window,
    encode,
    read,
)
from compare.report.build import report_files
from compare.report.measured import sizes
from compare.results import ArmResult, Claim, Equivalence, Pair, Results
from compare.spec import MLP, RESNET50
from compare.verdict import EN_DASH, TIMES
from tests.compare.made import (
    ARM_SETS,
    GIB,
    LARGEST_BATCH,
    LOADER_MS,
    MEMORY_GIB,
    NAN,
    NO_APEX,
    OUT_OF_MEMORY,
    STEP_MS,
    Fails,
    environment,
    make_session,
    write,
)

Change = Callable[[Record], Record]


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return analyse_folder(make_session(tmp_path_factory.mktemp("standard")))


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Without noise: every ratio is that of the tables."""
    return analyse_folder(make_session(tmp_path_factory.mktemp("exact"), noise=0.0))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("full")
    return analyse_folder(make_session(folder, profile="full", failures=[NAN, OUT_OF_MEMORY]))


def made(folder: Path, **options: Any) -> Results:
    return analyse_folder(make_session(folder, **options))


def rewrite(path: Path, change: Change) -> None:
    """Change the records of a file one by one."""
    records, _ = read(path)
    write(path, [change(record) for record in records])


def task_file(folder: Path, kind: str, arm: str, index: int) -> Path:
    (path,) = folder.glob(f"runs/{kind}-resnet50-cifar10-plain-bs128-b{index:02d}-s*-{arm}.jsonl")
    return path


def arm_of(results: Results, name: str) -> ArmResult:
    arm = results.arm(name)
    assert arm is not None
    return arm


def pair_of(results: Results, arm: str, baseline: str) -> Pair:
    pair = results.pair(arm, baseline)
    assert pair is not None
    return pair


def parity_of(results: Results, arm: str, baseline: str) -> Equivalence:
    test = pair_of(results, arm, baseline).equivalence
    assert test is not None
    return test


def claim_of(results: Results, words: str) -> Claim:
    (claim,) = [claim for claim in results.claims if words in claim.claim]
    return claim


# ------------------------------------------------------------------ speed


def test_speed_is_the_batch_over_the_median_step(exact: Results) -> None:
    for arm in exact.arms:
        assert arm.images_per_s is not None
        assert arm.images_per_s.value == pytest.approx(128_000 / STEP_MS[arm.name])
        assert arm.images_per_s.n == 8


def test_ratios_are_those_of_the_step_times(exact: Results) -> None:
    for pair in exact.pairs:
        assert pair.speed is not None
        assert pair.speed.value == pytest.approx(STEP_MS[pair.baseline] / STEP_MS[pair.arm])


def test_every_arm_stands_beside_the_baseline_and_apex_once(standard: Results) -> None:
    arms = ARM_SETS["standard"]
    wanted = {(arm, baseline) for baseline in ("fp32", "apex-o1") for arm in arms if arm != baseline}
    pairs = [(pair.arm, pair.baseline) for pair in standard.pairs]
    assert set(pairs) == wanted | {("native-fp16", "tf32")}
    assert len(pairs) == len(set(pairs))


def test_arms_are_paired_by_block(tmp_path: Path) -> None:
    """A machine that is half as fast in one block slows both arms: the ratio does not feel it, the speed does."""
    make_session(tmp_path, noise=0.001, arms=["fp32", "apex-o1", "native-fp16"])
    for path in tmp_path.glob("runs/speed-*-b03-*.jsonl"):
        if "settling" not in path.name:
            rewrite(path, slower(2.0))
    results = analyse_folder(tmp_path)
    speed, pair = arm_of(results, "native-fp16").images_per_s, pair_of(results, "native-fp16", "apex-o1").speed
    assert speed is not None and speed.low is not None and speed.low < 0.95 * speed.value
    assert pair is not None and pair.low is not None and pair.low > 0.99 * pair.value


def slower(factor: float) -> Change:
    def change(record: Record) -> Record:
        if isinstance(record, Window):
            return replace(record, step_ms=[factor * time for time in record.step_ms])
        return record

    return change


def test_settling_blocks_count_for_nothing(tmp_path: Path, exact: Results) -> None:
    make_session(tmp_path, noise=0.0)
    settling = list(tmp_path.glob("runs/speed-settling-*.jsonl"))
    assert settling
    for path in settling:
        rewrite(path, slower(10.0))
    results = analyse_folder(tmp_path)
    assert [arm.images_per_s for arm in results.arms] == [arm.images_per_s for arm in exact.arms]
    assert [arm.steps for arm in results.arms] == [arm.steps for arm in exact.arms]


def test_a_block_that_one_arm_lacks_is_left_out_of_its_pairs_alone(tmp_path: Path) -> None:
    make_session(tmp_path, failures=[Fails("speed", "apex-o1", 4, "timeout", "no answer in 3600 s")])
    one_is_left = pair_of(analyse_folder(tmp_path), "native-fp16", "apex-o1")
    assert one_is_left.speed is not None and one_is_left.speed.n == 8
    (again,) = tmp_path.glob("runs/speed-*-b04-s0-apex-o1-again.jsonl")
    again.unlink()
    results = analyse_folder(tmp_path)
    with_apex, without = pair_of(results, "native-fp16", "apex-o1"), pair_of(results, "native-fp16", "fp32")
    assert with_apex.speed is not None and with_apex.speed.n == 7
    assert without.speed is not None and without.speed.n == 8


def test_both_runs_of_a_repeated_arm_count(tmp_path: Path) -> None:
    """A second run that is 4 % slower moves the arm's speed by 2 %."""
    make_session(tmp_path, noise=0.0)
    for path in tmp_path.glob("runs/speed-*-native-fp16-again.jsonl"):
        rewrite(path, slower(1.04))
    arm = arm_of(analyse_folder(tmp_path), "native-fp16")
    assert arm.images_per_s is not None
    assert arm.images_per_s.value == pytest.approx(128_000 / STEP_MS["native-fp16"] / math.sqrt(1.04))
    assert [(process.block, process.replica) for process in arm.processes[:4]] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_hours_of_a_gpu_are_those_of_every_process(tmp_path: Path) -> None:
    make_session(tmp_path)
    one = analyse_folder(tmp_path)
    session = tmp_path / "session.jsonl"
    session.write_text(session.read_text().replace('"processes": 1', '"processes": 4'))
    four = analyse_folder(tmp_path)
    assert one.seconds == four.seconds and one.seconds is not None
    assert one.gpu_hours == pytest.approx(one.seconds / 3600) and four.gpu_hours == pytest.approx(one.seconds / 900)


def test_stalls_count(tmp_path: Path) -> None:
    """Every tenth step takes ten times as long: a median knows nothing of it, who waits for the training does."""
    make_session(tmp_path, noise=0.0, arms=["fp32", "native-fp16"])
    for path in tmp_path.glob("runs/speed-*-native-fp16*.jsonl"):
        rewrite(
            path,
            lambda record: (
                replace(record, step_ms=[time * (10 if at % 10 == 9 else 1) for at, time in enumerate(record.step_ms)])
                if isinstance(record, Window)
                else record
            ),
        )
    arm = arm_of(analyse_folder(tmp_path), "native-fp16")
    assert arm.images_per_s is not None
    assert arm.images_per_s.value == pytest.approx(128_000 / STEP_MS["native-fp16"] / 1.9)
    assert arm.processes[0].median_images_per_s == pytest.approx(128_000 / STEP_MS["native-fp16"])


def test_several_processes_together_make_the_speed(tmp_path: Path) -> None:
    make_session(tmp_path, noise=0.0)
    for path in tmp_path.glob("runs/*.jsonl"):
        rewrite(path, lambda record: replace(record, world=2) if isinstance(record, Started) else record)
    speed = arm_of(analyse_folder(tmp_path), "fp32").images_per_s
    assert speed is not None and speed.value == pytest.approx(2 * 128_000 / STEP_MS["fp32"])


def test_the_control_is_what_two_runs_of_one_arm_differ_by(standard: Results, exact: Results) -> None:
    assert [control.arm for control in standard.controls] == ["apex-o1", "native-fp16"]
    for control in standard.controls:
        assert control.ratio.n == 8
        assert control.holds is True
        assert control.spread is not None and 0.001 < control.spread < 0.01
    assert [(control.ratio.value, control.spread) for control in exact.controls] == [(pytest.approx(1.0), 0.0)] * 2


def test_a_clear_difference_is_called_one(standard: Results) -> None:
    assert pair_of(standard, "native-fp16", "apex-o1").speed_differs is True


@pytest.mark.parametrize("blocks", [8, 20])
def test_one_odd_a_a_pair_does_not_hide_a_difference(tmp_path: Path, blocks: int) -> None:
    """The largest of the A/A pairs was once the yardstick: the more blocks, the less was found."""
    make_session(tmp_path, noise=0.0005, step_ms={"native-fp16": 21.4}, blocks=blocks)
    (again,) = tmp_path.glob("runs/speed-*-b05-s0-apex-o1-again.jsonl")
    rewrite(again, slower(1.005))
    pair = pair_of(analyse_folder(tmp_path), "native-fp16", "apex-o1")
    assert pair.speed is not None and pair.speed.low is not None and pair.speed.low > 1
    assert pair.speed_differs is True


def test_a_control_that_fails_judges_the_session(tmp_path: Path) -> None:
    """The second run of an arm is always 2 % slower: then so may be any other."""
    make_session(tmp_path, noise=0.0005, step_ms={"native-fp16": 21.4})
    for again in tmp_path.glob("runs/speed-*-apex-o1-again.jsonl"):
        rewrite(again, slower(1.02))
    results = analyse_folder(tmp_path)
    assert [control.holds for control in results.controls] == [False, True]
    assert {pair.speed_differs for pair in results.pairs} == {None}
    assert any("Check failed: two runs of apex-o1" in notice for notice in results.notices)
    assert "is not judged: two runs of the same arm differed too (A/A)" in results.headline


def test_equal_arms_are_not_told_apart(tmp_path: Path) -> None:
    results = made(tmp_path, step_ms={"native-fp16": 21.6})
    pair = pair_of(results, "native-fp16", "apex-o1")
    assert pair.speed_differs is False
    assert pair.detectable is not None and 1.001 < pair.detectable < 1.02
    assert "at a speed that is not told from Apex O1's" in results.headline
    assert f"a difference of {100 * (pair.detectable - 1):.2g} % would have shown" in results.headline


def test_what_would_have_shown_goes_by_the_upper_bound_of_the_spread(tmp_path: Path) -> None:
    """The spread of a few blocks is often too small by chance, and what it promises then too much."""
    pair = pair_of(analyse_folder(make_session(tmp_path, blocks=5)), "native-fp16", "apex-o1")
    assert pair.speed is not None and pair.speed.high is not None and pair.detectable is not None
    half = math.log(pair.speed.high / pair.speed.value)
    spread = half / 2.7764 * math.sqrt(5)  # Student's t of four degrees of freedom
    assert pair.detectable == pytest.approx(stats.detectable(stats.spread_bound(spread, 5), 5), rel=1e-4)
    assert pair.detectable - 1 > 1.2 * (stats.detectable(spread, 5) - 1)


def test_without_an_a_a_pair_the_interval_judges_and_it_is_said(tmp_path: Path) -> None:
    make_session(tmp_path)
    for path in tmp_path.glob("runs/speed-*-again.jsonl"):
        path.unlink()
    results = analyse_folder(tmp_path)
    assert results.controls == ()
    assert pair_of(results, "native-fp16", "apex-o1").speed_differs is True
    assert "no A/A control" in results.headline


def test_the_windows_are_held_against_the_epochs(tmp_path: Path) -> None:
    make_session(tmp_path, noise=0.0)
    even = analyse_folder(tmp_path)
    assert arm_of(even, "native-fp16").sustained == pytest.approx(1.0, abs=0.01)
    assert not any("of the speed of its timed windows" in notice for notice in even.notices)
    for path in tmp_path.glob("runs/train-*-native-fp16.jsonl"):
        rewrite(
            path, lambda record: replace(record, train_s=1.2 * record.train_s) if isinstance(record, Epoch) else record
        )
    uneven = analyse_folder(tmp_path)
    assert arm_of(uneven, "native-fp16").sustained == pytest.approx(1 / 1.2, abs=0.01)
    assert any("native-fp16 trains at 0.83 of the speed of its timed windows" in notice for notice in uneven.notices)


def test_speed_and_time_to_the_target_are_compared_over_training_too(exact: Results) -> None:
    pair = pair_of(exact, "native-fp16", "apex-o1")
    expected = (STEP_MS["apex-o1"] + 0.41) / (STEP_MS["native-fp16"] + 0.41)
    assert pair.training_speed is not None and pair.training_speed.n == 5
    assert pair.training_speed.value == pytest.approx(expected)
    assert pair.time_to_target is not None and pair.time_to_target.n == 5
    assert pair.time_to_target.value == pytest.approx(expected)
    assert pair_of(exact, "tf32", "fp32").training_speed is None


def test_what_arms_differ_by_is_held_against_what_a_run_differs_from_itself_by(tmp_path: Path) -> None:
    first = {"native-fp16": [94.0, 94.1, 94.2, 94.3, 94.4], "fp32": [94.05, 94.06, 94.25, 94.27, 94.45]}
    results = made(tmp_path, accuracy={**first, "apex-o1": [93.0, 95.1, 93.2, 95.3, 93.4]})
    by_arm = {one.baseline: one for one in results.run_to_run}
    assert set(by_arm) == {"fp32", "apex-o1"} and {one.arm for one in results.run_to_run} == {"native-fp16"}
    assert by_arm["fp32"].within == pytest.approx((0.05, -0.04, 0.06, 0.03, -0.05))
    assert by_arm["fp32"].between == pytest.approx((-0.05, 0.04, -0.05, 0.03, -0.05))
    assert by_arm["fp32"].exceeds is False and by_arm["apex-o1"].exceeds is True
    for one in results.run_to_run:
        assert len(one.losses_between) == len(one.losses_within) == 100
        assert one.losses_within[-1] < one.losses_between[-1]


def test_a_session_without_a_second_training_has_no_run_to_run_noise(tmp_path: Path) -> None:
    make_session(tmp_path)
    for path in tmp_path.glob("runs/train-*-again.jsonl"):
        path.unlink()
    assert analyse_folder(tmp_path).run_to_run == ()


def test_step_times_and_what_they_consist_of(standard: Results) -> None:
    for arm in standard.arms:
        steps = arm.steps
        assert steps is not None
        assert steps.q1_ms <= steps.median_ms <= steps.q3_ms <= steps.p95_ms
        assert len(steps.samples_ms) == 8 * 5 * 20 * (2 if arm.name in ("apex-o1", "native-fp16") else 1)
        assert steps.input_share == pytest.approx(0.41 / steps.median_ms, rel=0.05)
        assert steps.clock == "cuda-events"
    apex, native = arm_of(standard, "apex-o1").steps, arm_of(standard, "native-fp16").steps
    assert apex is not None and native is not None
    assert (apex.busy_share, apex.launch_bound) == (0.86, True)
    assert (native.busy_share, native.launch_bound) == (0.97, False)


def test_many_step_times_are_thinned_evenly(tmp_path: Path) -> None:
    make_session(tmp_path, arms=["fp32"], blocks=30)
    steps = arm_of(analyse_folder(tmp_path), "fp32").steps
    assert steps is not None and len(steps.samples_ms) == 2000
    assert statistics.median(steps.samples_ms) == pytest.approx(steps.median_ms, rel=0.005)


def test_accumulated_batches_count_with_the_step_they_belong_to(tmp_path: Path) -> None:
    """Three of four batches do not move the optimizer: their median would leave its cost out."""
    make_session(tmp_path, profile="full", arms=["fp32"], noise=0.0)
    for path in tmp_path.glob("runs/speed-*-accumulate-*.jsonl"):
        rewrite(
            path,
            lambda record: (
                replace(record, step_ms=[10.0, 10.0, 10.0, 30.0] * 5) if isinstance(record, Window) else record
            ),
        )
    others = analyse_folder(tmp_path).others
    (speed,) = [other for other in others if (other.workload, other.recipe) == (RESNET50, "accumulate")]
    assert speed.images_per_s is not None and speed.images_per_s.value == pytest.approx(128_000 / 15)


# ------------------------------------------------------------------ memory


def test_memory_is_the_largest_peak(tmp_path: Path) -> None:
    make_session(tmp_path)
    rewrite(
        task_file(tmp_path, "speed", "fp32", 2),
        lambda record: replace(record, allocated=7 * GIB) if isinstance(record, Memory) else record,
    )
    results = analyse_folder(tmp_path)
    memory = arm_of(results, "fp32").memory
    assert memory is not None
    assert memory.allocated == 7 * GIB
    assert memory.reserved == int(int(6 * GIB) * 1.1)
    assert pair_of(results, "native-fp16", "fp32").memory == pytest.approx(3.5 / 7)


def test_the_ratio_of_memory_is_that_of_what_is_allocated(standard: Results) -> None:
    expected = MEMORY_GIB["native-fp16"] / MEMORY_GIB["apex-o1"]
    assert pair_of(standard, "native-fp16", "apex-o1").memory == pytest.approx(expected)


# ------------------------------------------------------------------ accuracy


def test_final_accuracy_over_the_seeds(tmp_path: Path) -> None:
    finals = [94.0, 94.2, 94.4, 94.1, 94.3]
    arm = arm_of(made(tmp_path, accuracy={"native-fp16": finals}), "native-fp16")
    assert arm.accuracy is not None
    assert arm.accuracy.runs == pytest.approx(finals)
    assert arm.accuracy.mean == stats.mean_interval(finals)


def test_the_last_epoch_counts_and_not_the_best(tmp_path: Path) -> None:
    make_session(tmp_path)
    rewrite(
        task_file(tmp_path, "train", "fp32", 0),
        lambda record: (
            replace(record, test_accuracy=99.0) if isinstance(record, Epoch) and record.epoch == 4 else record
        ),
    )
    assert arm_of(analyse_folder(tmp_path), "fp32").training[0].final_accuracy == pytest.approx(94.4)


def test_a_run_without_all_its_epochs_has_no_final_accuracy(tmp_path: Path) -> None:
    make_session(tmp_path)
    path = task_file(tmp_path, "train", "fp32", 0)
    records, _ = read(path)
    write(path, [record for record in records if not (isinstance(record, Epoch) and record.epoch == 6)])
    results = analyse_folder(tmp_path)
    assert arm_of(results, "fp32").training[0].final_accuracy is None
    assert parity_of(results, "native-fp16", "fp32").n == 4
    assert any(
        "Seed 0 is left out" in notice and "no accuracy of its last epoch" in notice for notice in results.notices
    )


def test_parity_is_tested_seed_by_seed(standard: Results) -> None:
    for arm, baseline in (("native-fp16", "apex-o1"), ("native-fp16", "fp32"), ("apex-o1", "fp32")):
        test = parity_of(standard, arm, baseline)
        own, other = arm_of(standard, arm).accuracy, arm_of(standard, baseline).accuracy
        assert own is not None and other is not None
        expected = stats.equivalence(own.runs, other.runs, 0.5)
        assert (test.n, test.difference, test.low, test.high, test.p, test.verdict, test.power) == (
            expected.n,
            expected.difference,
            expected.low,
            expected.high,
            expected.p,
            expected.verdict,
            expected.power,
        )
        assert test.verdict == "equivalent"
    assert pair_of(standard, "tf32", "fp32").equivalence is None


def test_holm_goes_over_all_three_tests(standard: Results) -> None:
    tests = [pair.equivalence for pair in standard.pairs if pair.equivalence is not None]
    assert len(tests) == 3
    adjusted = stats.holm([test.p for test in tests if test.p is not None])
    assert [test.p_holm for test in tests] == pytest.approx(adjusted)
    assert [test.p_beyond for test in tests] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(("beyond", "verdict"), [((0.02, 0.4, 0.9), "inconclusive"), ((0.01, 0.4, 0.9), "different")])
def test_of_several_pairs_one_may_lie_apart_by_chance(beyond: tuple[float, ...], verdict: str) -> None:
    """As in the first session on a GPU: 4.7 points below fp32 with p 0.04 over three seeds, in one of three tests."""
    names = (("native-fp16", "fp32"), ("native-fp16", "apex-o1"), ("apex-o1", "fp32"))
    alone = Equivalence("", "", 3, -4.7, -7.2, -2.2, 0.5, 0.98, None, None, "inconclusive", 0.0, None)
    tests = {
        pair: replace(alone, p_beyond=p, verdict="different" if p < 0.05 else "inconclusive")
        for pair, p in zip(names, beyond, strict=True)
    }
    found = together(tests)
    assert [test.verdict for test in found.values()] == [verdict, "inconclusive", "inconclusive"]
    assert found[names[0]].p_beyond == pytest.approx(3 * beyond[0]) and found[names[0]].p_holm == 1.0


def test_fewer_than_three_seeds_give_no_verdict(tmp_path: Path) -> None:
    results = made(tmp_path, seeds=2)
    test = parity_of(results, "native-fp16", "apex-o1")
    assert (test.n, test.verdict, test.p, test.p_holm) == (2, "no verdict", None, None)
    assert "accuracy has no verdict (2 seeds; fewer than 3 allow none)" in results.headline


def test_a_seed_that_became_nan_in_one_arm_is_left_out_and_said(tmp_path: Path) -> None:
    results = made(tmp_path, failures=[NAN])
    assert parity_of(results, "native-fp16", "apex-o1").n == 4
    assert parity_of(results, "apex-o1", "fp32").n == 4
    assert parity_of(results, "native-fp16", "fp32").n == 5
    said = [notice for notice in results.notices if "Seed 2 is left out" in notice]
    assert len(said) == 2
    assert all(NAN.reason in notice for notice in said)
    (failure,) = results.failures
    assert (failure.arm, failure.status, failure.reason) == ("apex-o1", "nan", NAN.reason)
    run = arm_of(results, "apex-o1").training[2]
    assert (run.status, run.final_accuracy, len(run.epochs)) == ("nan", None, 2)
    assert math.isnan(run.epochs[-1].losses[0])
    assert "1 seed left out (1 nan in Apex O1)" in results.headline


def test_where_a_seed_diverged_the_rest_is_never_called_equivalent(tmp_path: Path) -> None:
    clean, diverged = made(tmp_path / "clean"), made(tmp_path / "diverged", failures=[NAN])
    assert parity_of(clean, "native-fp16", "apex-o1").verdict == "equivalent"
    test = parity_of(diverged, "native-fp16", "apex-o1")
    assert (test.n, test.verdict) == (4, "inconclusive")
    assert test.low is not None and test.high is not None and -0.5 < test.low < test.high < 0.5
    assert parity_of(diverged, "native-fp16", "fp32").verdict == "equivalent"


def test_seeds_without_their_like_have_no_test(tmp_path: Path) -> None:
    failures = [Fails("train", "apex-o1", seed, "failed", "no") for seed in range(5)]
    results = made(tmp_path, failures=failures)
    assert pair_of(results, "native-fp16", "apex-o1").equivalence is None
    assert parity_of(results, "native-fp16", "fp32").n == 5
    arm = arm_of(results, "apex-o1")
    assert (arm.status, arm.reason) == ("failed", "train: failed, no")
    assert arm.images_per_s is not None
    assert "accuracy was not compared" in results.headline


# ------------------------------------------------------------------ training


def test_training_time_adds_up_and_scales_are_counted_from_the_start(exact: Results) -> None:
    run = arm_of(exact, "native-fp16").training[0]
    epoch_s = 390 * (STEP_MS["native-fp16"] + 0.41) / 1000
    assert [point.train_s for point in run.epochs] == pytest.approx([epoch_s * epoch for epoch in range(1, 7)])
    assert run.steps == 6 * 390
    steps = [point.step for point in run.scales]
    assert steps == sorted(steps)
    assert steps[0] == 0 and steps[-1] == 6 * 390 - 1 and 390 in steps
    assert [point.skipped for point in run.scales[:2]] == [True, True]
    assert [point.loss_scale for point in run.scales[:2]] == [32768.0, 16384.0]
    assert run.skipped_steps == sum(point.skipped for point in run.scales) >= 2
    assert arm_of(exact, "fp32").training[0].scales == ()


def test_time_to_the_target_ends_with_the_first_epoch_that_reached_it(tmp_path: Path) -> None:
    results = made(tmp_path, target_accuracy=90.0)
    run = arm_of(results, "fp32").training[0]
    first = next(point for point in run.epochs if point.test_accuracy is not None and point.test_accuracy >= 90.0)
    assert 1 < first.epoch < 6
    assert run.time_to_target_s == first.train_s


def test_a_target_that_is_not_reached_has_no_time(tmp_path: Path) -> None:
    results = made(tmp_path, target_accuracy=99.0)
    assert {run.time_to_target_s for arm in results.arms for run in arm.training} == {None}


# ------------------------------------------------------------------ step 0


@pytest.mark.parametrize("seconds", [math.inf, math.nan, -1.0, 0.0, 1e308])
def test_absurd_times_of_an_epoch_are_no_error(tmp_path: Path, seconds: float) -> None:
    make_session(tmp_path)

    def absurd(record: Record) -> Record:
        return replace(record, train_s=seconds) if isinstance(record, Epoch) else record

    rewrite(task_file(tmp_path, "train", "native-fp16", 1), absurd)
    results = analyse_folder(tmp_path)
    pair = pair_of(results, "native-fp16", "apex-o1")
    assert pair.training_speed is not None and math.isfinite(pair.training_speed.value)
    assert pair.training_speed.n == (5 if 0 < seconds < math.inf and 5 * seconds < math.inf else 4)
    assert report_files(results)["report.html"]


def test_seeds_that_never_reached_the_target_are_said(tmp_path: Path) -> None:
    """A ratio over those that did favours the arm that seldom does."""
    late = [94.2, 89.0, 94.1, 88.0, 94.3]
    results = analyse_folder(make_session(tmp_path, accuracy={"native-fp16": late}))
    (said,) = [notice for notice in results.notices if "did not reach" in notice]
    assert said.startswith("native-fp16 did not reach 90 % with 2 seeds of 5 (1 and 3)")
    pair = pair_of(results, "native-fp16", "apex-o1")
    assert pair.time_to_target is not None and pair.time_to_target.n == 3
    assert "as soon (95 %" in results.headline and ", 3 of 5 seeds)" in results.headline


def test_step_0_is_compared_with_the_baseline_and_apex(tmp_path: Path) -> None:
    make_session(tmp_path, arms=["fp32", "apex-o1", "native-fp16"])
    values = {"fp32": 1.0, "apex-o1": 1.25, "native-fp16": 1.5}
    for path in tmp_path.glob("runs/speed-*.jsonl"):
        arm = next(arm for arm in values if path.stem.removesuffix("-again").endswith(arm))
        rewrite(path, first_step([3 * values[arm], 4 * values[arm]], [2.0 * values[arm]]))
    results = analyse_folder(tmp_path)
    to_base, to_apex, to_itself = arm_of(results, "native-fp16").step0
    assert (to_itself.baseline, to_itself.logits, to_itself.gradients) == ("native-fp16", 0.0, 0.0)
    assert (to_base.baseline, to_base.logits, to_base.gradients) == ("fp32", pytest.approx(0.5), pytest.approx(0.5))
    assert (to_apex.baseline, to_apex.logits, to_apex.gradients) == ("apex-o1", pytest.approx(0.2), pytest.approx(0.2))
    assert to_base.same_weights and to_base.same_order
    assert [difference.baseline for difference in arm_of(results, "fp32").step0] == ["apex-o1"]


def test_step_0_without_gradients_compares_the_logits(tmp_path: Path) -> None:
    make_session(tmp_path)
    for path in tmp_path.glob("runs/speed-*-apex-o1.jsonl"):
        rewrite(path, first_step([1.0, 2.0], None))
    for path in tmp_path.glob("runs/speed-*-fp32.jsonl"):
        rewrite(path, first_step([1.0, 2.0], [1.0]))
    difference = arm_of(analyse_folder(tmp_path), "apex-o1").step0[0]
    assert (difference.logits, difference.gradients) == (0.0, None)


def test_the_difference_at_trained_weights_stands_beside_what_an_arm_differs_from_itself_by(tmp_path: Path) -> None:
    make_session(tmp_path, arms=["fp32", "apex-o1", "native-fp16"])
    values = {"fp32": 1.0, "apex-o1": 2.0, "native-fp16": 2.5, "native-fp16-again": 2.75}
    for path in tmp_path.glob("runs/after-*.jsonl"):
        name = next(name for name in reversed(values) if path.stem.endswith(name))
        rewrite(path, first_step([values[name], 0.0], [4 * values[name]], loss=values[name]))
    results = analyse_folder(tmp_path)
    to_base, to_apex, to_itself = arm_of(results, "native-fp16").after
    assert (to_apex.baseline, to_apex.logits, to_apex.gradients, to_apex.loss) == ("apex-o1", 0.25, 0.25, 0.25)
    assert (to_itself.logits, to_itself.gradients) == (pytest.approx(0.1), pytest.approx(0.1))
    assert to_apex.gradients_noise == to_base.gradients_noise == to_itself.gradients == to_apex.logits_noise
    assert to_apex.same_weights and to_base.same_order
    assert arm_of(results, "apex-o1").after[0].gradients_noise is None, "neither of the two ran twice"
    assert not [notice for notice in results.notices if "initial weights" in notice]


def test_absurd_numbers_of_a_first_step_are_no_error(tmp_path: Path) -> None:
    make_session(tmp_path, arms=["fp32", "apex-o1", "native-fp16"])
    for path in tmp_path.glob("runs/after-*-fp32.jsonl"):
        rewrite(path, first_step([1e308, -1e308], [1e200], loss=1e308))
    assert [one.baseline for one in arm_of(analyse_folder(tmp_path), "native-fp16").after] == ["apex-o1", "native-fp16"]


def test_other_trained_weights_in_one_arm_are_said(tmp_path: Path) -> None:
    make_session(tmp_path)
    change_started(task_file(tmp_path, "after", "native-fp16", 1), initial_weights="other")
    results = analyse_folder(tmp_path)
    assert any("initial weights" in notice for notice in results.notices)
    assert not arm_of(results, "native-fp16").after[0].same_weights


def first_step(logits: list[float], gradients: list[float] | None, loss: float = 2.3) -> Change:
    def change(record: Record) -> Record:
        return replace(record, logits=logits, gradients=gradients, loss=loss) if isinstance(record, Step0) else record

    return change


# ------------------------------------------------------------------ checks


def checks_failed(results: Results) -> list[str]:
    return [notice for notice in results.notices if notice.startswith("Check failed")]


def test_arms_that_were_treated_alike_give_no_notice(standard: Results, full: Results) -> None:
    assert standard.notices == ()
    assert checks_failed(full) == []


def change_started(path: Path, **fields: Any) -> None:
    rewrite(path, lambda record: replace(record, **fields) if isinstance(record, Started) else record)


@pytest.mark.parametrize(("field", "words"), [("initial_weights", "initial weights"), ("order", "order of the data")])
def test_another_beginning_is_a_failed_check(tmp_path: Path, field: str, words: str) -> None:
    make_session(tmp_path)
    change_started(task_file(tmp_path, "speed", "native-fp16", 1), **{field: "other"})
    results = analyse_folder(tmp_path)
    (notice,) = checks_failed(results)
    assert words in notice and "seed 0" in notice
    native = arm_of(results, "native-fp16").step0[0]
    assert (native.same_weights, native.same_order) == (field != "initial_weights", field != "order")


def test_another_flag_is_a_failed_check(tmp_path: Path) -> None:
    make_session(tmp_path)
    change_started(task_file(tmp_path, "speed", "apex-o1", 1), flags={"cudnn_benchmark": False})
    (notice,) = checks_failed(analyse_folder(tmp_path))
    assert "cudnn_benchmark" in notice and "apex-o1" in notice


def test_tf32_in_an_arm_without_it_is_a_failed_check(tmp_path: Path) -> None:
    make_session(tmp_path)
    change_started(task_file(tmp_path, "speed", "apex-o1", 1), flags={"cudnn_allow_tf32": True})
    (notice,) = checks_failed(analyse_folder(tmp_path))
    assert "cudnn_allow_tf32" in notice


def test_a_source_that_changed_is_a_failed_check(tmp_path: Path) -> None:
    make_session(tmp_path)
    change_started(task_file(tmp_path, "train", "native-fp16", 1), arm_sha256="other")
    (notice,) = checks_failed(analyse_folder(tmp_path))
    assert "source of the arm native-fp16" in notice


@pytest.mark.parametrize("key", ["gpu", "driver", "torch", "cudnn", "apex", "variables", "power_limit_w"])
def test_another_machine_is_a_failed_check(tmp_path: Path, key: str) -> None:
    make_session(tmp_path)
    with (tmp_path / "session.jsonl").open("a", encoding="utf-8") as file:
        file.write(encode(Environment({**environment(), key: "another one"})) + "\n")
    (notice,) = checks_failed(analyse_folder(tmp_path))
    assert key in notice and "another one" in notice


def test_a_training_that_went_on_from_a_checkpoint_is_named(tmp_path: Path) -> None:
    make_session(tmp_path)
    with task_file(tmp_path, "train", "apex-o1", 3).open("a", encoding="utf-8") as file:
        file.write(encode(Resumed(4)) + "\n")
    (notice,) = [notice for notice in analyse_folder(tmp_path).notices if "checkpoint" in notice]
    assert "apex-o1 after epoch 4" in notice and notice.startswith("1 training went on")


def test_the_state_of_the_moment_may_change(tmp_path: Path) -> None:
    make_session(tmp_path)
    with (tmp_path / "session.jsonl").open("a", encoding="utf-8") as file:
        file.write(encode(Environment({**environment(), "gpu_state": {"sm_mhz": 345}})) + "\n")
    assert checks_failed(analyse_folder(tmp_path)) == []


def test_a_gpu_that_was_slowed_down_is_said(tmp_path: Path) -> None:
    make_session(tmp_path)
    state = {"sm_mhz": 900, "throttle": ["idle", "thermal (hardware)"]}
    rewrite(
        task_file(tmp_path, "speed", "fp32", 0),
        lambda record: replace(record, gpu=state) if isinstance(record, Ended) else record,
    )
    (notice,) = analyse_folder(tmp_path).notices
    assert "thermal (hardware)" in notice and "1 task." in notice


# ------------------------------------------------------------------ what did not run


def test_an_arm_that_cannot_run_says_why(tmp_path: Path) -> None:
    results = made(tmp_path, apex=False)
    arm = arm_of(results, "apex-o1")
    assert (arm.status, arm.reason, arm.images_per_s, arm.accuracy) == ("unavailable", NO_APEX, None, None)
    assert results.pair("native-fp16", "apex-o1") is None
    assert results.complete
    assert results.headline.startswith("Apex O1 was unavailable (NVIDIA Apex is not installed")
    assert "2.7" in results.headline and "FP32" in results.headline


def test_an_arm_none_of_whose_runs_ended_well_failed(tmp_path: Path) -> None:
    failures = [Fails("speed", "apex-o1", block, "oom", f"out of memory in block {block}") for block in range(8)]
    failures += [Fails("train", "apex-o1", seed, "oom", "too") for seed in range(5)]
    make_session(tmp_path, failures=failures)
    for path in tmp_path.glob("runs/*-again.jsonl"):
        path.unlink()
    results = analyse_folder(tmp_path)
    arm = arm_of(results, "apex-o1")
    assert (arm.status, arm.reason) == ("failed", "speed: oom, out of memory in block 0")
    assert len(results.failures) == 13
    assert "Apex O1 failed (speed: oom, out of memory in block 0); native AMP (float16)" in results.headline


def test_one_bad_run_does_not_make_an_arm_fail(tmp_path: Path) -> None:
    results = made(tmp_path, failures=[Fails("speed", "apex-o1", 0, "failed", "CUDA error")])
    assert arm_of(results, "apex-o1").status == "ok"
    assert [failure.reason for failure in results.failures] == ["CUDA error"]


def test_a_session_that_was_cut_off_is_not_complete(tmp_path: Path) -> None:
    failures = [Fails("train", "native-fp16", 4, "incomplete")]
    results = made(tmp_path, failures=failures, finished=False)
    assert not results.complete
    assert any("has not finished" in notice for notice in results.notices)
    assert any("left no result" in notice and "s4-native-fp16" in notice for notice in results.notices)
    assert any("Seed 4 is left out" in notice and "incomplete" in notice for notice in results.notices)
    assert results.headline.startswith("Not complete yet: ")
    assert parity_of(results, "native-fp16", "fp32").n == 4


def test_a_session_of_which_nothing_has_run_yet_has_results(tmp_path: Path) -> None:
    make_session(tmp_path)
    for path in tmp_path.glob("runs/*"):
        path.unlink()
    (tmp_path / "runs").rmdir()
    results = analyse_folder(tmp_path)
    assert results.pairs == () and {arm.status for arm in results.arms} == {"failed"}
    assert "was not measured (failed: none of its tasks has run to its end)" in results.headline


def test_an_unfinished_session_calls_no_arm_failed(tmp_path: Path) -> None:
    make_session(tmp_path, finished=False)
    for path in tmp_path.glob("runs/*tf32.jsonl"):
        path.unlink()
    arm = arm_of(analyse_folder(tmp_path), "tf32")
    assert (arm.status, arm.reason) == ("unavailable", "None of its tasks has run to its end yet.")


def test_a_file_that_is_gone_is_said_and_makes_the_session_incomplete(tmp_path: Path) -> None:
    make_session(tmp_path)
    lost = task_file(tmp_path, "train", "fp32", 3)
    lost.unlink()
    results = analyse_folder(tmp_path)
    assert not results.complete and results.headline.startswith("Not complete yet: ")
    assert f"1 task of this session left no readable record: {lost.stem}." in results.notices


def test_an_arm_that_the_budget_left_out_did_not_fail(tmp_path: Path) -> None:
    make_session(tmp_path, arms=("fp32", "tf32", "native-fp16"))
    left = [path.stem for path in tmp_path.glob("runs/*-tf32.jsonl")]
    make_session(tmp_path / "cut", arms=("fp32", "tf32", "native-fp16"), not_run=left)
    results = analyse_folder(tmp_path / "cut")
    assert left and results.complete
    arm = arm_of(results, "tf32")
    assert (arm.status, arm.reason) == ("unavailable", "The budget left no time for it.")


def test_what_the_budget_took_away_is_said(tmp_path: Path) -> None:
    decision = Decision("The budget of 25 minutes allows 4 of 8 speed blocks and 3 of 5 seeds with 4 epochs", 4, 3, 4)
    left = "speed-resnet50-cifar10-plain-bs128-b00-s0-tf32"
    results = made(tmp_path, decision=decision, not_run=[left])
    assert (results.spec.blocks, results.spec.seeds, results.spec.epochs) == (4, 3, 4)
    assert results.notices == (f"{decision.reason}.", f"1 task did not run: {left}.")
    assert results.complete
    assert parity_of(results, "native-fp16", "apex-o1").n == 3
    assert "left out" not in results.headline


def test_a_budget_without_training_makes_no_arm_fail(tmp_path: Path) -> None:
    make_session(tmp_path, decision=Decision("The budget allows no training.", 8, 0, 0))
    results = analyse_folder(tmp_path)
    assert {arm.status for arm in results.arms} == {"ok"}
    assert "accuracy was not compared" in results.headline


def test_only_the_last_finish_counts(tmp_path: Path) -> None:
    """A session that was continued with a greater budget ran what it had left."""
    make_session(tmp_path, not_run=["speed-x"])
    with (tmp_path / "session.jsonl").open("a", encoding="utf-8") as file:
        file.write(encode(Finished("2026-01-03T00:00:00Z")) + "\n")
    assert analyse_folder(tmp_path).notices == ()


def test_a_damaged_line_is_said_and_the_rest_counts(tmp_path: Path) -> None:
    make_session(tmp_path)
    with task_file(tmp_path, "speed", "fp32", 0).open("a", encoding="utf-8") as file:
        file.write('{"type": "wind')
    results = analyse_folder(tmp_path)
    assert len(results.notices) == 1 and "cannot be read" in results.notices[0]
    assert arm_of(results, "fp32").images_per_s is not None


def test_a_folder_without_a_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no session"):
        analyse_folder(tmp_path)


# ------------------------------------------------------------------ full


def test_the_sweep(full: Results) -> None:
    points = {(point.arm, point.batch): point for point in full.sweep}
    assert len(points) == len(full.sweep) == 9 * 4
    speed = points["native-fp16", 256].images_per_s
    assert speed is not None and speed.n == 3 and speed.low is not None
    assert points["native-fp16", 256].memory_allocated == pytest.approx(3.5 * GIB * 1.9, rel=1e-6)
    assert points["native-fp16", 128].images_per_s == arm_of(full, "native-fp16").images_per_s
    out_of_memory = points["fp32", 2048]
    assert (out_of_memory.images_per_s, out_of_memory.memory_allocated) == (None, None)
    assert out_of_memory.reason == OUT_OF_MEMORY.reason
    assert arm_of(full, "fp32").status == "ok"
    assert any(failure.status == "oom" and "bs2048" in failure.task for failure in full.failures)
    ratio = points["native-fp16", 256].speed_ratio
    assert ratio is not None and ratio.n == 3 and ratio.low is not None
    assert ratio.value == pytest.approx(STEP_MS["fp32"] / STEP_MS["native-fp16"], rel=0.01)
    assert points["native-fp16", 256].speed_differs is True and points["fp32", 256].speed_differs is None
    assert points["native-fp16", 2048].speed_ratio is None, "the baseline did not fit"


def test_a_control_that_fails_beside_the_main_question_judges_what_it_is_about(tmp_path: Path) -> None:
    """Of a batch size and of a recipe, whose differences are then not judged; all others are."""
    make_session(tmp_path, profile="full", noise=0.0005, seeds=1, blocks=3)
    for what in ("resnet50-cifar10-plain-bs512", "resnet50-cifar10-clip-bs128"):
        for again in tmp_path.glob(f"runs/speed-{what}-*-apex-o1-again.jsonl"):
            rewrite(again, slower(1.02))
    results = analyse_folder(tmp_path)
    swept = {(point.arm, point.batch): point.speed_differs for point in results.sweep}
    assert (swept["native-fp16", 256], swept["native-fp16", 512]) == (True, None)
    others = {(one.workload, one.recipe, one.arm): one.speed_differs for one in results.others}
    assert others["resnet50-cifar10", "accumulate", "native-fp16"] is True
    assert others["resnet50-cifar10", "clip", "native-fp16"] is None
    assert pair_of(results, "native-fp16", "fp32").speed_differs is True
    assert "not judged: the A/A control failed" in str(sizes(results))


def test_the_largest_batch(full: Results) -> None:
    assert {arm.name: arm.largest_batch for arm in full.arms} == LARGEST_BATCH


def test_other_recipes_and_workloads(full: Results) -> None:
    found = {(other.workload, other.recipe, other.arm): other for other in full.others}
    assert {key[:2] for key in found} == {
        *(("resnet50-cifar10", recipe) for recipe in ("clip", "accumulate", "gradient-penalty")),
        *(("vit-cifar10", recipe) for recipe in ("plain", "clip", "accumulate")),
        ("resnet50-cifar10-loader", "plain"),
        *(("mlp", recipe) for recipe in ("plain", "clip", "accumulate", "gradient-penalty")),
    }
    assert full.complete, "the made-up session lacks tasks that a real one has"
    assert {(control.workload, control.batch) for control in full.controls} >= {("vit-cifar10", 128), (RESNET50, 2048)}
    assert ("resnet50-cifar10", "gradient-penalty", "apex-o1") not in found
    other = found["mlp", "plain", "native-fp16"]
    assert other.speed_ratio is not None
    assert other.speed_ratio.value == pytest.approx(STEP_MS["fp32"] / STEP_MS["native-fp16"], rel=0.01)
    loaded = found["resnet50-cifar10-loader", "plain", "native-fp16"]
    assert loaded.speed_ratio is not None
    assert loaded.speed_ratio.value == pytest.approx(STEP_MS["fp32"] / LOADER_MS, rel=0.01), "it waits for the loader"


# ------------------------------------------------------------------ sentences


def test_the_headline_of_an_equivalent_and_faster_arm(standard: Results) -> None:
    assert standard.headline.startswith(
        f"Native AMP (float16) trains resnet50-cifar10 1.08{TIMES} as fast as Apex O1 (95 % 1.0"
    )
    assert f") with 0.97{TIMES} of the memory; 90 % accuracy 1.08{TIMES} as soon (95 % " in standard.headline
    assert standard.headline.endswith("accuracy is equivalent within 0.5 points over 5 seeds.")


def test_the_headline_says_slower_where_it_is(tmp_path: Path) -> None:
    headline = made(tmp_path, step_ms={"native-fp16": 24.0}).headline
    assert f"0.90{TIMES} as fast as Apex O1 (that is slower, 95 %" in headline


@pytest.mark.parametrize(
    ("native", "words"),
    [
        ([92.0, 91.9, 92.1, 92.0, 91.8], "accuracy is lower by more than the margin of 0.5 points"),
        ([96.0, 95.9, 96.1, 96.0, 95.8], "accuracy is higher by more than the margin of 0.5 points"),
        ([93.0, 95.0, 94.5, 93.5, 94.9], "accuracy parity is inconclusive"),
    ],
)
def test_the_headline_says_what_the_test_of_parity_says(tmp_path: Path, native: list[float], words: str) -> None:
    results = made(tmp_path, accuracy={"native-fp16": native, "apex-o1": [94.0, 94.1, 94.0, 94.1, 94.0]})
    assert words in results.headline
    if "inconclusive" in words:
        needed = parity_of(results, "native-fp16", "apex-o1").seeds_needed
        assert needed is not None and f"{needed} seeds would be needed" in results.headline


def test_one_block_has_a_ratio_and_no_interval(tmp_path: Path) -> None:
    assert "(one pair of runs, no interval)" in made(tmp_path, blocks=1).headline


def test_a_session_without_native_amp_says_so(tmp_path: Path) -> None:
    assert "was not part of this session" in made(tmp_path, arms=["fp32", "apex-o1"]).headline


def test_a_session_without_apex_compares_with_the_baseline(tmp_path: Path) -> None:
    headline = made(tmp_path, arms=["fp32", "native-fp16"]).headline
    assert headline.startswith("Apex O1 was not part of this session; native AMP (float16) trains")


def test_native_amp_alone_has_nothing_beside_it(tmp_path: Path) -> None:
    assert "no other arm to be compared with" in made(tmp_path, arms=["native-fp16"]).headline


def test_claims_are_judged_by_the_numbers(exact: Results, tmp_path: Path) -> None:
    assert [claim.holds for claim in exact.claims if "fast" in claim.claim] == ["yes", "yes", "not measured"]
    twice = claim_of(exact, "twice")
    assert f"2.70{TIMES} FP32" in twice.measured and f"1.50{TIMES} TF32" in twice.measured
    assert claim_of(exact, "half the memory").holds == "no"
    assert claim_of(exact, "no loss").holds == "yes"
    other = made(
        tmp_path,
        noise=0.0,
        step_ms={"native-fp16": 54 / 1.8},
        memory_gib={"native-fp16": 2.9},
        accuracy={"native-fp16": [92.0, 91.9, 92.1, 92.0, 91.8]},
    )
    assert claim_of(other, "twice").holds == "no"
    assert claim_of(other, f"1.5{TIMES}").holds == "yes"
    assert claim_of(other, f"2{EN_DASH}3{TIMES}").measured == "not measured: mlp was not run"
    assert claim_of(other, "half the memory").holds == "yes"
    assert claim_of(other, "no loss").holds == "no"


def test_a_claim_on_linear_layers_is_judged_by_linear_layers(full: Results) -> None:
    claim = claim_of(full, f"2{EN_DASH}3{TIMES}")
    (mlp,) = [one for one in full.others if (one.workload, one.recipe, one.arm) == (MLP, "plain", "native-fp16")]
    assert mlp.speed_ratio is not None and mlp.speed_differs is True
    assert claim.measured.startswith(f"{mlp.speed_ratio.value:.2f}{TIMES} FP32 (95 % ") and "on mlp" in claim.measured
    assert claim.holds == "yes"


def test_a_claim_without_its_number_is_not_measured(tmp_path: Path) -> None:
    results = made(tmp_path, arms=["apex-o1", "native-fp16"])
    assert {claim.holds for claim in results.claims} == {"not measured"}
    assert {claim.measured.partition(":")[0] for claim in results.claims} == {"not measured"}


# ------------------------------------------------------------------ smoke


def test_nothing_is_concluded_from_a_smoke_session(tmp_path: Path) -> None:
    results = made(tmp_path, smoke=True)
    assert results.smoke
    assert results.headline.startswith("SMOKE: fp32, native-fp16 and native-bf16 ran on a CPU (apex-o1 unavailable)")
    assert {pair.speed_differs for pair in results.pairs} == {None}
    assert {pair.memory for pair in results.pairs} == {None}
    assert {arm.memory for arm in results.arms} == {None}
    assert {arm.steps.launch_bound for arm in results.arms if arm.steps} == {None}
    assert {pair.equivalence.verdict for pair in results.pairs if pair.equivalence} == {"no verdict"}
    assert {claim.holds for claim in results.claims} == {"not measured"}


def test_a_smoke_session_that_was_cut_off_says_so(tmp_path: Path) -> None:
    assert made(tmp_path, smoke=True, finished=False).headline.startswith("Not complete yet: SMOKE: ")


def test_a_cpu_is_a_smoke_session_whatever_its_profile(tmp_path: Path) -> None:
    """Even with seeds enough for a verdict."""
    make_session(tmp_path)
    session = tmp_path / "session.jsonl"
    session.write_text(session.read_text(encoding="utf-8").replace('"device": "cuda"', '"device": "cpu"'))
    results = analyse_folder(tmp_path)
    assert results.smoke and results.headline.startswith("SMOKE")
    assert {pair.equivalence.verdict for pair in results.pairs if pair.equivalence} == {"no verdict"}
    assert {pair.equivalence.p for pair in results.pairs if pair.equivalence} == {None}
