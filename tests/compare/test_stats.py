"""Known answers, and what the methods promise checked by simulation (all seeded, so that a test gives one answer)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from compare import stats
from tests.effort import LONG

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]


def normal(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    return rng.normal(0.0, 1.0, size)


def skewed(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Log-normal with a skewness of 1.75, less its mean."""
    return np.exp(rng.normal(0.0, 0.5, size)) - math.exp(0.125)


def exponential(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Skewness 2, less its mean."""
    return rng.exponential(1.0, size) - 1.0


# ------------------------------------------------------------------ intervals


def outliers(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Normal, one process in ten five times as far out."""
    return rng.normal(0.0, 1.0, size) * np.where(rng.random(size) < 0.1, 5.0, 1.0)


@pytest.mark.parametrize("n", [3, 5, 8, 20] if LONG else [5])
@pytest.mark.parametrize(
    ("draw", "least", "most"),
    [(normal, 0.93, 0.97), (skewed, 0.90, 0.97), (exponential, 0.86, 0.97), (outliers, 0.94, 1)],
)
def test_the_interval_covers_the_truth_about_as_often_as_it_says(
    n: int, draw: Draw, least: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats, "bootstrap_t", lambda values: None)
    rng = np.random.default_rng(n)
    true, runs = 1.25, 2000
    ratios = true * np.exp(0.01 * draw(rng, (runs, n)))
    covered = 0
    for sample in ratios:
        interval = stats.ratio_interval(sample.tolist(), [1.0] * n)
        assert interval.low is not None and interval.high is not None
        covered += interval.low <= true <= interval.high
    # 2000 runs have a standard error of 0.005.
    assert least - 0.005 <= covered / runs <= most + 0.005


@pytest.mark.parametrize("n", [3, 5, 8, 20])
def test_the_interval_is_no_wider_than_it_must_be(n: int) -> None:
    """Half its width is that of Student's t for normal ratios: at five blocks 2.78 standard errors, never a hundred."""
    rng = np.random.default_rng(n)
    for sample in np.exp(0.01 * rng.normal(0.0, 1.0, (100, n))):
        interval = stats.ratio_interval(sample.tolist(), [1.0] * n)
        assert interval.low is not None and interval.high is not None
        logs = np.log(sample)
        error = logs.std(ddof=1) / math.sqrt(n)
        critical = {3: 4.3027, 5: 2.7764, 8: 2.3646, 20: 2.0930}[n]
        assert math.log(interval.high / interval.low) / 2 == pytest.approx(critical * error, rel=1e-4)


def test_more_blocks_make_the_interval_narrower() -> None:
    """Of the same spread: what is asked of a method before all else. Three blocks once looked tighter than five."""
    rng = np.random.default_rng(0)
    widths = []
    for n in (3, 4, 5, 6, 8, 12, 20):
        found = [stats.geometric_mean_interval(one.tolist()) for one in np.exp(0.01 * rng.normal(size=(200, n)))]
        widths.append(np.median([math.log((one.high or 0) / (one.low or 1)) for one in found]))
    assert widths == sorted(widths, reverse=True)


def test_plausible_speeds_have_a_plausible_interval() -> None:
    """Five speeds from 2,359 to 2,399 were once printed as 1,963 to 2,865."""
    interval = stats.geometric_mean_interval([2359.0, 2398.0, 2399.0, 2398.5, 2398.2])
    assert interval.low is not None and interval.high is not None
    assert 2350 < interval.low < interval.value < interval.high < 2420
    assert interval.bootstrap is None or interval.bootstrap[1] - interval.bootstrap[0] > interval.high - interval.low


def test_the_percentile_bootstrap_would_not_do() -> None:
    """Why the method is what it is: at five values the usual bootstrap covers far less than it says."""
    rng = np.random.default_rng(0)
    covered = 0
    for sample in rng.normal(0.0, 1.0, (500, 5)):
        means = sample[rng.integers(0, 5, (499, 5))].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        covered += low <= 0.0 <= high
    assert covered / 500 < 0.9


def test_the_ratio_is_the_geometric_mean_of_paired_ratios() -> None:
    interval = stats.ratio_interval([2.0, 8.0], [1.0, 1.0])
    assert interval.value == pytest.approx(4.0)
    assert interval.n == 2
    # Log ratios ln 2 and ln 8: mean ln 4, standard error ln 2, t(0.975, 1) = 12.706.
    assert interval.low == pytest.approx(4.0 * 2.0**-12.7062, rel=1e-4)
    assert interval.high == pytest.approx(4.0 * 2.0**12.7062, rel=1e-4)


def test_a_drift_that_pairs_share_does_not_widen_the_interval() -> None:
    drift = [1.0, 1.3, 0.8, 1.1, 0.9]
    noise = [1.0, 1.001, 0.999, 1.002, 0.998]
    interval = stats.ratio_interval([1.5 * d * e for d, e in zip(drift, noise, strict=True)], drift)
    assert interval.low is not None and interval.high is not None
    assert 1.49 < interval.low < 1.5 < interval.high < 1.51


def test_a_ratio_and_its_inverse_have_inverse_intervals() -> None:
    a, b = [1.0, 1.1, 0.95, 1.2, 1.05, 1.15], [0.5, 0.52, 0.5, 0.55, 0.49, 0.51]
    one, other = stats.ratio_interval(a, b), stats.ratio_interval(b, a)
    assert one.low is not None and one.high is not None
    assert (other.value, other.low, other.high) == pytest.approx((1 / one.value, 1 / one.high, 1 / one.low))


@pytest.mark.parametrize("n", [2, 4, 5, 12])
def test_the_method_is_named_and_the_bootstrap_stands_beside_it(n: int) -> None:
    values = [1.0 + 0.01 * (index * 7 % n) for index in range(n)]
    interval = stats.ratio_interval(values, [1.0] * n)
    assert interval.method == "Student t on logarithms"
    assert (interval.bootstrap is not None) == (n >= 5)
    assert interval.bootstrap is None or interval.bootstrap[0] < interval.value < interval.bootstrap[1]


def test_absurd_numbers_are_no_error() -> None:
    interval = stats.ratio_interval([1e-300, 1e300, 1.0], [1.0] * 3)
    assert interval.high is not None and math.isfinite(interval.high) and interval.high > 1e300
    assert interval.low == 0.0


def test_one_pair_has_no_interval() -> None:
    interval = stats.ratio_interval([3.0], [2.0])
    assert interval.value == pytest.approx(1.5)
    assert (interval.low, interval.high, interval.n) == (None, None, 1)
    assert interval.method == "one run, no interval"


@pytest.mark.parametrize("n", [2, 5, 9])
def test_equal_ratios_give_a_point_even_where_they_differ_by_rounding(n: int) -> None:
    denominators = [0.1 * (index + 1) for index in range(n)]
    interval = stats.ratio_interval([1.1 * value for value in denominators], denominators)
    assert interval.low == interval.high == pytest.approx(1.1)
    assert interval.method == "all runs equal"


def test_many_ties_have_no_bootstrap() -> None:
    """A third of the resamples of these five have no spread, so that a studentised bootstrap has no bounds."""
    assert stats.bootstrap_t([1.0, 1.0, 1.0, 1.0, 2.0]) is None
    interval = stats.ratio_interval([1.0, 1.0, 1.0, 1.0, 2.0], [1.0] * 5)
    assert interval.method == "Student t on logarithms"
    assert interval.bootstrap is None
    assert interval.low is not None and interval.low < interval.value


def test_the_same_numbers_give_the_same_interval() -> None:
    values = [1.0, 1.2, 0.9, 1.1, 1.3]
    assert stats.ratio_interval(values, [1.0] * 5) == stats.ratio_interval(values, [1.0] * 5)


@pytest.mark.parametrize(
    ("numerators", "denominators"),
    [([1.0, 2.0], [1.0]), ([], []), ([1.0], [0.0]), ([-1.0], [1.0]), ([math.nan], [1.0]), ([math.inf], [1.0])],
)
def test_what_has_no_ratio_is_refused(numerators: list[float], denominators: list[float]) -> None:
    with pytest.raises(ValueError):
        stats.ratio_interval(numerators, denominators)


def test_the_quotient_of_two_speeds_is_their_paired_ratio() -> None:
    a, b = [5900.0, 6000.0, 6100.0, 5950.0, 6050.0], [5500.0, 5450.0, 5600.0, 5520.0, 5480.0]
    quotient = stats.geometric_mean_interval(a).value / stats.geometric_mean_interval(b).value
    assert quotient == pytest.approx(stats.ratio_interval(a, b).value)


def test_the_mean_has_students_interval() -> None:
    interval = stats.mean_interval([94.0, 94.2, 94.4])
    # Standard deviation 0.2, t(0.975, 2) = 4.3027.
    assert interval.value == pytest.approx(94.2)
    assert interval.low == pytest.approx(94.2 - 4.3027 * 0.2 / math.sqrt(3), rel=1e-6)
    assert interval.high == pytest.approx(94.2 + 4.3027 * 0.2 / math.sqrt(3), rel=1e-6)
    assert interval.method == "Student t"
    assert stats.mean_interval([94.0]).low is None


# ------------------------------------------------------------------ equivalence


@pytest.mark.parametrize(
    ("sd", "n", "margin", "expected"),
    [(0.25, 5, 0.5, 0.95), (0.25, 5, 0.3, 0.48), (0.25, 10, 0.3, 0.93), (0.35, 15, 0.3, 0.87)],
)
def test_known_powers(sd: float, n: int, margin: float, expected: float) -> None:
    """Values of a Monte-Carlo simulation, to its two digits."""
    assert stats.power(sd, n, margin) == pytest.approx(expected, abs=0.006)


def test_power_at_the_margin_is_at_most_the_level() -> None:
    for n in (3, 5, 10, 30):
        for sd in (0.05, 0.25, 1.0):
            assert stats.power(sd, n, 0.5, difference=0.5) <= 0.05 + 1e-9
    assert stats.power(0.05, 30, 0.5, difference=0.5) == pytest.approx(0.05, abs=1e-6)


def test_power_has_its_limits() -> None:
    assert stats.power(0.0, 3, 0.5) == 1.0
    assert stats.power(0.0, 3, 0.5, difference=0.5) == 0.0
    assert stats.power(100.0, 3, 0.5) == pytest.approx(0.0, abs=1e-3)
    assert stats.power(1e-6, 3, 0.5) == pytest.approx(1.0)
    assert stats.power(0.25, 1, 0.5) == 0.0


@pytest.mark.parametrize(("sd", "margin"), [(0.25, 0.5), (0.25, 0.3), (0.35, 0.3), (1.0, 0.5)])
def test_the_seeds_needed_are_the_fewest(sd: float, margin: float) -> None:
    needed = stats.seeds_needed(sd, margin)
    assert needed is not None
    assert stats.power(sd, needed, margin) >= 0.8 > stats.power(sd, needed - 1, margin)


def test_the_seeds_needed_are_at_least_three_and_at_most_the_limit() -> None:
    assert stats.seeds_needed(1e-9, 0.5) == 3
    assert stats.seeds_needed(50.0, 0.5) is None


@pytest.fixture
def verdict_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations need the verdict of thousands of samples, not their power, which takes far longer."""
    monkeypatch.setattr(stats, "power", lambda *_: 0.0)
    monkeypatch.setattr(stats, "seeds_needed", lambda *_, **__: None)


@pytest.mark.usefixtures("verdict_alone")
@pytest.mark.parametrize("n", [3, 5])
def test_a_true_difference_of_the_margin_is_called_equivalent_at_most_in_one_of_twenty(n: int) -> None:
    rng = np.random.default_rng(n)
    runs = 3000
    wrong = sum(
        stats.equivalence(sample.tolist(), [0.0] * n, margin=0.5).verdict == "equivalent"
        for sample in rng.normal(0.5, 0.1, (runs, n))
    )
    assert wrong / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert wrong > 0  # or the test would say nothing


def test_the_power_that_is_said_is_the_power_that_is_had(monkeypatch: pytest.MonkeyPatch) -> None:
    said = stats.power(0.25, 5, 0.4)
    monkeypatch.setattr(stats, "power", lambda *_: 0.0)
    monkeypatch.setattr(stats, "seeds_needed", lambda *_, **__: None)
    rng = np.random.default_rng(1)
    runs = 2000
    right = sum(
        stats.equivalence(sample.tolist(), [0.0] * 5, margin=0.4).verdict == "equivalent"
        for sample in rng.normal(0.0, 0.25, (runs, 5))
    )
    assert right / runs == pytest.approx(said, abs=0.03)


def test_equivalence_known_answer() -> None:
    test = stats.equivalence([94.1, 94.0, 94.3], [94.0, 94.0, 94.0], margin=0.5)
    # Differences 0.1, 0.0, 0.3: mean 0.4 / 3, sd 0.15275, t(0.95, 2) = 2.91999.
    half = 2.919986 * 0.1527525 / math.sqrt(3)
    assert test.n == 3
    assert test.difference == pytest.approx(0.4 / 3)
    assert (test.low, test.high) == pytest.approx((0.4 / 3 - half, 0.4 / 3 + half), rel=1e-5)
    # The greater of both one-sided p values is that of the nearer bound: t = (0.4/3 - 0.5) / 0.08819 = -4.158.
    assert test.p == pytest.approx(0.5 * (1 - 4.15761 / math.sqrt(2 + 4.15761**2)), rel=1e-4)
    assert test.verdict == "equivalent"


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([0.1, -0.1, 0.05, 0.0, -0.05], "equivalent"),
        ([0.9, -0.9, 0.5, -0.4, 0.1], "inconclusive"),
        ([1.0, 1.1, 0.9, 1.05, 0.95], "different"),
        ([-1.0, -1.1, -0.9, -1.05, -0.95], "different"),
        # Surely a difference, but a small one: that is what a margin is for.
        ([0.20, 0.21, 0.19, 0.20, 0.22], "equivalent"),
        ([0.50, 0.55, 0.45, 0.52, 0.48], "inconclusive"),
    ],
)
def test_verdicts(differences: list[float], verdict: str) -> None:
    baseline = [94.0, 94.2, 93.9, 94.1, 94.05]
    arm = [value + difference for value, difference in zip(baseline, differences, strict=True)]
    test = stats.equivalence(arm, baseline, margin=0.5)
    assert test.verdict == verdict
    assert test.p is not None
    assert (test.p < 0.05) == (verdict == "equivalent")
    assert test.p_beyond is not None
    assert (test.p_beyond < 0.05) == (verdict == "different")


def test_a_difference_is_called_one_by_the_95_percent_interval() -> None:
    """Three seeds that spread: the 90 % interval lies outside of the margin, the 95 % interval does not."""
    test = stats.equivalence([46.80, 54.55, 48.92], [53.17, 58.65, 51.0], margin=0.5)
    assert test.high is not None and test.high < -0.5 and test.verdict == "inconclusive"
    # Differences -6.37, -4.10, -2.08: mean -4.1833, sd 2.1462; t = (4.1833 - 0.5) / (2.1462 / sqrt 3) = 2.9725.
    assert test.p_beyond == pytest.approx(1 - 2.9725 / math.sqrt(2 + 2.9725**2), rel=1e-3)


def test_equal_arms_are_called_different_in_one_session_of_twenty_at_most() -> None:
    """Three arms of equal truth over three seeds that spread far beyond the margin, as in a training of two epochs."""
    rng, sessions = np.random.default_rng(0), 500
    by_interval = by_holm = 0
    for _ in range(sessions):
        one, two, three = (list(runs) for runs in rng.normal(55.0, 4.0, (3, 3)))
        tests = [stats.equivalence(arm, base, 0.5) for arm, base in ((one, two), (one, three), (three, two))]
        by_interval += any((test.low or 0) > 0.5 or (test.high or 0) < -0.5 for test in tests)
        by_holm += any(p < 0.05 for p in stats.holm([test.p_beyond for test in tests if test.p_beyond is not None]))
    assert by_holm / sessions <= 0.05, "what it is now"
    assert 0.15 < by_interval / sessions < 0.25, "what it was: one session of five"


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_seeds_have_no_verdict(n: int) -> None:
    test = stats.equivalence([94.1] * n, [94.0] * n, margin=0.5)
    assert test.difference == pytest.approx(0.1)
    assert (test.verdict, test.p, test.low, test.high, test.power, test.seeds_needed) == ("no verdict", *[None] * 5)


@pytest.mark.parametrize(
    ("difference", "verdict", "p"), [(0.1, "equivalent", 0.0), (0.5, "inconclusive", 1.0), (0.7, "different", 1.0)]
)
def test_differences_without_spread(difference: float, verdict: str, p: float) -> None:
    test = stats.equivalence([0.25 + difference, 0.5 + difference, 1.0 + difference], [0.25, 0.5, 1.0], margin=0.5)
    assert (test.verdict, test.p) == (verdict, p)
    assert test.low == test.high == pytest.approx(difference)


@pytest.mark.parametrize(
    ("arm", "baseline", "margin"),
    [([1.0], [1.0, 2.0], 0.5), ([], [], 0.5), ([1.0], [1.0], 0.0), ([math.nan], [1.0], 0.5)],
)
def test_what_has_no_equivalence_is_refused(arm: list[float], baseline: list[float], margin: float) -> None:
    with pytest.raises(ValueError):
        stats.equivalence(arm, baseline, margin)


# ------------------------------------------------------------------ several tests, images


def test_holm() -> None:
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.5, 0.9]) == [1.0, 1.0]
    assert stats.holm([0.2]) == [0.2]
    assert stats.holm([]) == []


# ------------------------------------------------------------------ controls, what could be seen


@pytest.mark.parametrize("n", [3, 5, 8])
def test_a_control_fails_where_equal_code_differs_and_else_seldom(n: int) -> None:
    """Of two arms in equal blocks: one valid measurement in a hundred, and nearly always at 2.5 %."""
    rng = np.random.default_rng(2)
    runs = 2000
    made = np.exp(0.005 * rng.normal(size=(runs, 2, n)))
    ones = [1.0] * n
    failed = sum(False in stats.controls([(ones, one.tolist()), (ones, two.tolist())]) for one, two in made)
    assert failed / runs == pytest.approx(0.01, abs=0.007)
    seen = sum(stats.controls([(ones, one.tolist()), (ones, (1.025 * two).tolist())])[1] is False for one, two in made)
    assert seen / runs > 0.9


def test_controls_of_a_few_blocks() -> None:
    assert stats.controls([([1.0] * 5, [1.02, 1.021, 1.019, 1.02, 1.022])]) == [False]
    assert stats.controls([([1.0, 2.0], [1.0, 2.0]), ([1.0], [1.1])]) == [True, None]
    assert stats.controls([([1.0, 2.0], [1.1, 2.2])]) == [False], "without any spread"
    assert stats.controls([]) == []
    # Of one arm three blocks agree by chance: the other's say how much they may differ.
    lucky, usual = [1.006, 1.0065, 1.0055], [1.004, 0.996, 0.999]
    assert stats.controls([([1.0] * 3, lucky)]) == [False]
    assert stats.controls([([1.0] * 3, lucky), ([1.0] * 3, usual)]) == [True, True]


@pytest.mark.parametrize("n", [3, 5, 8, 20] if LONG else [5])
def test_a_true_difference_is_found_as_often_as_is_said(n: int) -> None:
    """And the more blocks, the smaller the difference: once a larger sample found less."""
    spread = 0.005
    ratio = stats.detectable(spread, n)
    rng = np.random.default_rng(n)
    runs = 2000
    found = 0
    for logs in rng.normal(math.log(ratio), spread, (runs, n)):
        interval = stats.ratio_interval(np.exp(logs).tolist(), [1.0] * n)
        found += interval.low is not None and interval.low > 1
    assert found / runs == pytest.approx(0.8, abs=0.03)


def test_what_can_be_detected_shrinks_with_the_blocks() -> None:
    ratios = [stats.detectable(0.005, n) for n in (2, 3, 5, 8, 20, 100)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[2] == pytest.approx(1.0084, abs=0.0003)
    assert stats.detectable(0.0, 5) == 1.0


def test_the_bound_of_a_spread_lies_above_it_four_times_in_five() -> None:
    rng = np.random.default_rng(3)
    samples = rng.normal(0.0, 1.0, (4000, 5))
    above = np.mean([stats.spread_bound(float(one.std(ddof=1)), 5) > 1.0 for one in samples])
    assert above == pytest.approx(0.8, abs=0.02)


def test_power_is_said_by_the_upper_bound_of_the_spread() -> None:
    differences = [0.2, -0.2, 0.1, -0.1, 0.05]
    test = stats.equivalence(differences, [0.0] * 5, margin=0.5)
    sd = float(np.std(differences, ddof=1))
    assert test.power == pytest.approx(stats.power(stats.spread_bound(sd, 5), 5, 0.5))
    assert test.power is not None and test.power < stats.power(sd, 5, 0.5)


def test_two_arms_that_differ_as_one_does_from_itself_do_not_exceed_it() -> None:
    rng = np.random.default_rng(4)
    runs = 2000
    said = [stats.excess(one.tolist(), two.tolist()) for one, two in rng.normal(0.0, 0.1, (runs, 2, 5))]
    assert sum(found is not None and found.exceeds for found in said) / runs == pytest.approx(0.05, abs=0.02)
    covered = sum(found is not None and found.low <= 1 <= found.high for found in said)
    assert covered / runs == pytest.approx(0.95, abs=0.02)


def test_that_both_differences_share_a_run_makes_no_false_excess() -> None:
    rng = np.random.default_rng(5)
    runs = 2000
    said = [stats.excess((a - b).tolist(), (c - a).tolist()) for a, b, c in rng.normal(0.0, 0.1, (runs, 3, 5))]
    assert sum(found is not None and found.exceeds for found in said) / runs == pytest.approx(0.033, abs=0.015)
    covered = sum(found is not None and found.low <= 1 <= found.high for found in said)
    assert covered / runs == pytest.approx(0.97, abs=0.015)


def test_two_arms_that_differ_by_more_exceed_it() -> None:
    found = stats.excess([0.5, -0.4, 0.6, 0.5, -0.5], [0.05, -0.04, 0.06, 0.02, -0.05])
    assert found is not None and found.exceeds and found.low > 1 and found.ratio == pytest.approx(10.9, abs=0.5)
    assert stats.excess([0.1, 0.2], [0.1, 0.2]) is None
    assert stats.excess([0.1, 0.2, 0.3], [0.0, 0.0, 0.0]) is None
