"""Known answers, and what the methods promise checked by simulation (all seeded, so that a test gives one answer)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from compare import stats

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


@pytest.mark.parametrize(
    ("n", "draw"),
    [(3, normal), (3, skewed), *((n, draw) for n in (5, 6, 10) for draw in (normal, skewed, exponential))],
)
def test_the_interval_covers_the_truth_about_as_often_as_it_says(
    monkeypatch: pytest.MonkeyPatch, n: int, draw: Draw
) -> None:
    # Fewer resamples than in use, for the test's time: they move the bounds at random, not one way.
    monkeypatch.setattr(stats.bootstrap_t, "__defaults__", (999,))
    rng = np.random.default_rng(n)
    true, runs = 1.25, 1000
    ratios = true * np.exp(0.01 * draw(rng, (runs, n)))
    covered = 0
    for sample in ratios:
        interval = stats.ratio_interval(sample.tolist(), [1.0] * n)
        assert interval.low is not None and interval.high is not None
        covered += interval.low <= true <= interval.high
    # The promise is 0.92 to 0.985; 1000 runs have a standard error of 0.007.
    assert 0.92 - 0.01 <= covered / runs <= 0.985 + 0.005


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


@pytest.mark.parametrize(
    ("n", "method"),
    [(2, "Student t on logarithms"), (4, "Student t on logarithms"), (5, "bootstrap-t"), (12, "bootstrap-t")],
)
def test_the_method_is_named(n: int, method: str) -> None:
    values = [1.0 + 0.01 * (index * 7 % n) for index in range(n)]
    assert method in stats.ratio_interval(values, [1.0] * n).method


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


def test_many_ties_fall_back_to_student() -> None:
    """A third of the resamples of these five have no spread, so that a studentised bootstrap has no bounds."""
    assert stats.bootstrap_t([1.0, 1.0, 1.0, 1.0, 2.0]) is None
    interval = stats.ratio_interval([1.0, 1.0, 1.0, 1.0, 2.0], [1.0] * 5)
    assert interval.method == "Student t on logarithms"
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


def test_mcnemar_counts_the_images_on_which_one_alone_is_right() -> None:
    # Ten against two: 2 * (C(12,0) + C(12,1) + C(12,2)) / 2**12.
    a = [True] * 10 + [False] * 2 + [True] * 500 + [False] * 30
    b = [False] * 10 + [True] * 2 + [True] * 500 + [False] * 30
    assert stats.mcnemar(a, b) == pytest.approx(2 * 79 / 4096)
    assert stats.mcnemar(b, a) == stats.mcnemar(a, b)
    assert stats.mcnemar(a, a) == 1.0
    with pytest.raises(ValueError):
        stats.mcnemar([True], [True, False])
