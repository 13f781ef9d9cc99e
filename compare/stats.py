"""The statistics of the comparison: intervals of speed ratios, equivalence of accuracy.

Pure functions on sequences of floats; the same input gives the same output.

Why these methods. A sample here is small (3 to 10 independent processes), so an interval has to keep its
coverage there. Simulated for normal, heavy-tailed, log-normal and exponential samples, nominal 95 %:

    sample of            5            6            10           20
    percentile           0.77-0.83    0.80-0.87    0.86-0.91    0.91-0.94
    BCa                  0.78-0.84    0.82-0.87    0.87-0.90    0.88-0.94
    Student t            0.88-0.96    0.88-0.96    0.90-0.96    0.92-0.96
    bootstrap-t, equal   0.92-0.95    0.93-0.95    0.93-0.95    0.92-0.96
    bootstrap-t, sym.    0.94-0.98    0.93-0.98    0.93-0.97    0.94-0.97

Hence the symmetric bootstrap-t from `BOOTSTRAP_FROM` values on; the usual bootstraps are too narrow at any size met
here. Of fewer values a bootstrap has too few distinct resamples (10 of three), and Student t is exact for normal ones.
`tests/compare/test_stats.py` simulates the coverage of what is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from .results import Interval, Verdict

CONFIDENCE = 0.95
BOOTSTRAP_FROM = 5
"""Fewest values of which a bootstrap is made."""
RESAMPLES = 9999
SEED = 20_250_513
MIN_SEEDS = 3
"""Fewest seeds that allow a verdict on accuracy."""
MAX_SEEDS = 1000
"""Where the search for the number of seeds ends."""
NODES = 200
"""Points of the Gauss-Legendre quadrature of the power: far more than its smooth integrand needs."""

SINGLE = "one run, no interval"
NO_SPREAD = "all runs equal"
STUDENT = "Student t"
BOOTSTRAP_T = f"symmetric bootstrap-t, {RESAMPLES} resamples"
ON_LOGS = " on logarithms"

# Values that differ by less than this share of their size differ by rounding only.
_ROUNDING = 1e-12


def ratio_interval(numerators: Sequence[float], denominators: Sequence[float]) -> Interval:
    """Geometric mean of the ratios of paired positive values, with its 95 % interval.

    A pair is one block: two independent processes that ran close in time. Raises ValueError where the lengths
    differ, nothing is paired, or a value is not a positive finite number.
    """
    if len(numerators) != len(denominators):
        raise ValueError(f"{len(numerators)} numerators cannot be paired with {len(denominators)} denominators")
    _check(numerators, positive=True)
    _check(denominators, positive=True)
    return _of_logs([math.log(a) - math.log(b) for a, b in zip(numerators, denominators, strict=True)])


def geometric_mean_interval(values: Sequence[float]) -> Interval:
    """Geometric mean of positive values, one per process, with its 95 % interval: for speeds.

    Geometric, so that the quotient of two arms' means is the mean of their paired ratios. Raises ValueError for an
    empty sequence or a value that is not a positive finite number.
    """
    _check(values, positive=True)
    return _of_logs([math.log(value) for value in values])


def mean_interval(values: Sequence[float]) -> Interval:
    """Mean with its 95 % Student t interval: for accuracy over seeds, as the test of equivalence assumes.

    Raises ValueError for an empty sequence or a value that is not finite.
    """
    _check(values)
    mean, low, high, method = _student(np.asarray(values, dtype=float), CONFIDENCE)
    return Interval(mean, low, high, len(values), method)


def bootstrap_t(values: Sequence[float], resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """95 % interval of the mean by the symmetric studentised bootstrap.

    None where it cannot be had: the sample has no spread, or too many resamples have none (many ties).
    """
    sample = np.asarray(values, dtype=float)
    n = len(sample)
    mean, error = float(sample.mean()), _standard_error(sample)
    if error == 0:
        return None
    resampled = sample[_resamples(n, resamples)]
    errors = resampled.std(axis=1, ddof=1) / math.sqrt(n)
    deviations = np.abs(resampled.mean(axis=1) - mean)
    # A resample of one value n times has no spread: its t is infinite, which is kept, as the conservative side.
    spread = errors > _ROUNDING * error
    t = np.where(spread, deviations / np.where(spread, errors, 1.0), np.inf)
    critical = float(np.quantile(t, CONFIDENCE, method="higher"))
    if not math.isfinite(critical):
        return None
    return mean - critical * error, mean + critical * error


@dataclass(frozen=True)
class Tost:
    """Result of `equivalence`; the fields are those of `compare.results.Equivalence`."""

    n: int
    difference: float
    low: float | None
    high: float | None
    margin: float
    p: float | None
    verdict: Verdict
    power: float | None
    seeds_needed: int | None


def equivalence(arm: Sequence[float], baseline: Sequence[float], margin: float, alpha: float = 0.05) -> Tost:
    """Paired test of equivalence: two one-sided t tests on `arm - baseline`, pair by pair (seed by seed).

    Equivalent where the (1 - 2 alpha) interval of the mean difference lies inside the margin, which is where both
    one-sided tests reject at `alpha`; different where it lies outside, all of it on one side; else inconclusive.
    Fewer than three pairs give no verdict and no p. Raises ValueError for unpaired, missing or non-finite values and
    for a margin that is not positive.
    """
    if len(arm) != len(baseline):
        raise ValueError(f"{len(arm)} values cannot be paired with {len(baseline)}")
    if not margin > 0:
        raise ValueError(f"a margin must be positive, not {margin}")
    _check(arm)
    _check(baseline)
    differences = np.asarray(arm, dtype=float) - np.asarray(baseline, dtype=float)
    n, mean = len(differences), float(differences.mean())
    if n < MIN_SEEDS:
        return Tost(n, mean, None, None, margin, None, "no verdict", None, None)
    # Rounding of the values, not of their differences, decides what counts as no spread.
    size = max(abs(value) for value in (*arm, *baseline))
    error = _standard_error(differences, size)
    if error == 0:
        p = 0.0 if abs(mean) < margin else 1.0
        low = high = mean
    else:
        above = stats.t.sf((mean + margin) / error, n - 1)
        below = stats.t.cdf((mean - margin) / error, n - 1)
        p = float(max(above, below))
        half = float(stats.t.ppf(1 - alpha, n - 1)) * error
        low, high = mean - half, mean + half
    verdict: Verdict
    if -margin < low and high < margin:
        verdict = "equivalent"
    elif low > margin or high < -margin:
        verdict = "different"
    else:
        verdict = "inconclusive"
    sd = error * math.sqrt(n)
    return Tost(
        n, mean, low, high, margin, p, verdict, power(sd, n, margin, alpha), seeds_needed(sd, margin, alpha=alpha)
    )


def power(sd: float, n: int, margin: float, alpha: float = 0.05, difference: float = 0.0) -> float:
    """Probability that `equivalence` says equivalent, for normal paired differences.

    `sd` is their standard deviation, `difference` their true mean. Exact: given the sample's standard deviation s,
    the verdict is |mean| + t s / sqrt(n) < margin; integrated over the chi distribution of s.
    """
    if n < 2:
        return 0.0
    if sd == 0:
        return 1.0 if abs(difference) < margin else 0.0
    freedom = n - 1
    root = math.sqrt(n)
    t = float(stats.t.ppf(1 - alpha, freedom))
    # In units of the standard error of the mean; x has the chi distribution, s = sd x / sqrt(freedom).
    room, shift, slope = margin * root / sd, difference * root / sd, t / math.sqrt(freedom)

    lowest, highest = (float(stats.chi.ppf(q, freedom)) for q in (1e-12, 1 - 1e-12))
    highest = min(highest, room / slope)
    if highest <= lowest:
        return 0.0
    nodes, weights = _quadrature()
    x = lowest + (nodes + 1) * (highest - lowest) / 2
    width = room - slope * x
    inside = special.ndtr(width - shift) - special.ndtr(-width - shift)
    found = float(np.dot(weights, stats.chi.pdf(x, freedom) * inside)) * (highest - lowest) / 2
    return min(1.0, max(0.0, found))


def seeds_needed(sd: float, margin: float, target: float = 0.8, alpha: float = 0.05) -> int | None:
    """Fewest seeds (at least three) with which `power` reaches the target, None beyond `MAX_SEEDS`."""
    too_few, enough = MIN_SEEDS - 1, MIN_SEEDS
    while power(sd, enough, margin, alpha) < target:
        if enough >= MAX_SEEDS:
            return None
        too_few, enough = enough, min(2 * enough, MAX_SEEDS)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if power(sd, middle, margin, alpha) < target:
            too_few = middle
        else:
            enough = middle
    return enough


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for their number by Holm's step-down method, in the order given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def mcnemar(correct_a: Sequence[bool], correct_b: Sequence[bool]) -> float:
    """Two-sided exact p of McNemar's test: whether two classifiers err on equally many of the same images.

    The images on which just one is right decide, by a binomial test. Raises ValueError for unequal lengths.
    """
    if len(correct_a) != len(correct_b):
        raise ValueError(f"{len(correct_a)} images cannot be paired with {len(correct_b)}")
    a, b = np.asarray(correct_a, dtype=bool), np.asarray(correct_b, dtype=bool)
    only_a, only_b = int((a & ~b).sum()), int((~a & b).sum())
    if only_a + only_b == 0:
        return 1.0
    return float(stats.binomtest(only_a, only_a + only_b, 0.5).pvalue)


def quantile(values: Sequence[float], q: float) -> float:
    """The quantile of the values, 0 <= q <= 1, linear between neighbours."""
    return float(np.quantile(np.asarray(values, dtype=float), q))


# ------------------------------------------------------------------ inside


def _of_logs(logs: list[float]) -> Interval:
    sample = np.asarray(logs, dtype=float)
    n = len(sample)
    # Near 0 the size of a logarithm says nothing of its rounding: ratios that differ by a share of 1e-12 are equal.
    sample = np.where(np.abs(sample - sample[0]) < _ROUNDING, sample[0], sample)
    mean, low, high, method = _student(sample, CONFIDENCE)
    if n >= BOOTSTRAP_FROM and method != NO_SPREAD:
        found = bootstrap_t([float(value) for value in sample])
        if found is not None:
            low, high, method = *found, BOOTSTRAP_T
    if n > 1 and method != NO_SPREAD:
        method += ON_LOGS
    return Interval(
        math.exp(mean), None if low is None else math.exp(low), None if high is None else math.exp(high), n, method
    )


def _student(sample: NDArray[np.float64], confidence: float) -> tuple[float, float | None, float | None, str]:
    n, mean = len(sample), float(sample.mean())
    if n == 1:
        return mean, None, None, SINGLE
    error = _standard_error(sample)
    if error == 0:
        return mean, mean, mean, NO_SPREAD
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    return mean, mean - half, mean + half, STUDENT


def _standard_error(sample: NDArray[np.float64], size: float | None = None) -> float:
    """Standard error of the mean; exactly 0 where the values differ by rounding alone."""
    n = len(sample)
    spread = float(sample.max() - sample.min())
    if spread <= _ROUNDING * (float(np.abs(sample).max()) if size is None else size):
        return 0.0
    return float(sample.std(ddof=1)) / math.sqrt(n)


@lru_cache(maxsize=16)
def _resamples(n: int, resamples: int) -> NDArray[Any]:
    return np.random.default_rng(SEED).integers(0, n, size=(resamples, n))


@lru_cache(maxsize=1)
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


def _check(values: Sequence[float], *, positive: bool = False) -> None:
    if not len(values):
        raise ValueError("no values")
    for value in values:
        if not math.isfinite(value) or (positive and value <= 0):
            raise ValueError(f"not a {'positive ' if positive else ''}finite number: {value}")
