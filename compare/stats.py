"""The statistics of the comparison: intervals of speed ratios, equivalence of accuracy.

Pure functions on sequences of floats; the same input gives the same output.

Why these methods. A sample here is small (3 to 20 independent processes), so an interval has to keep its coverage there
without being wider than it must. Simulated, nominal 95 % (`python -m compare.simulation` makes the table of
docs/comparison.md; `tests/compare/test_stats.py` holds it):

* Student's t on the log ratios is exact for normal ones, covers 89-95 % of skewed ones and 96-99 % where one process in
  ten is an outlier. It is what is used, at every number of blocks.
* The percentile bootstrap and BCa cover 77-84 % at five values: too narrow at any size met here.
* The symmetric bootstrap-t covers 94-98 %, but at five values its width is in the median 1.4 times, at worst a hundred
  times that of Student's t. It stands beside the interval as a check of sensitivity from `BOOTSTRAP_FROM` values on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from .results import Interval, Verdict

CONFIDENCE = 0.95
BOOTSTRAP_FROM = 5
"""Fewest values of which a bootstrap is made: of three there are ten distinct resamples."""
CONTROL = 0.01
"""Share of valid measurements in which one of the A/A controls fails by chance."""
BOUND = 0.8
"""Confidence of the upper bound of a spread with which powers are said: the spread of a few values is often too
small."""
POWER = 0.8
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
ON_LOGS = " on logarithms"

# The exponential of more than this is no double any more.
_LARGEST = 709.0
# Values that differ by less than this share of their size differ by rounding only.
_ROUNDING = 1e-12


def ratio_interval(numerators: Sequence[float], denominators: Sequence[float]) -> Interval:
    """Geometric mean of the ratios of paired positive values, with its 95 % interval.

    A pair is one block: two independent processes that ran close in time. Raises ValueError where the lengths
    differ, nothing is paired, or a value is not a positive finite number.
    """
    return _of_logs(_logs(numerators, denominators))


def geometric_mean_interval(values: Sequence[float]) -> Interval:
    """Geometric mean of positive values, one per process, with its 95 % interval: for speeds.

    Geometric, so that the quotient of two arms' means is the mean of their paired ratios. Raises ValueError for an
    empty sequence or a value that is not a positive finite number.
    """
    _check(values, positive=True)
    return _of_logs(np.log(np.asarray(values, dtype=float)))


def mean_interval(values: Sequence[float]) -> Interval:
    """Mean with its 95 % Student t interval: for accuracy over seeds, as the test of equivalence assumes.

    Raises ValueError for an empty sequence or a value that is not finite.
    """
    _check(values)
    mean, low, high, method = _student(np.asarray(values, dtype=float), CONFIDENCE)
    return Interval(mean, low, high, len(values), method)


def log_interval(logs: NDArray[np.float64]) -> tuple[float, float]:
    """Student's 95 % interval of the mean of at least two values."""
    _, low, high, _ = _student(logs, CONFIDENCE)
    assert low is not None and high is not None
    return low, high


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


def controls(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[bool | None]:
    """For each of the arms that ran twice in the same blocks of the same thing, whether its two runs agree: whether the
    interval of their mean ratio holds 1.

    It is the interval of 99 % over all of them (Bonferroni), with the spread that they have in common: that of two or
    three blocks alone is often so small by chance that equal code seems to differ, and its interval otherwise so wide
    that it could hardly fail. None of fewer than two blocks. Raises ValueError as `ratio_interval` does.
    """
    samples = [_logs(second, first) for first, second in pairs]
    several = [sample for sample in samples if len(sample) > 1]
    freedom = sum(len(sample) - 1 for sample in several)
    errors = [_standard_error(sample) ** 2 * len(sample) for sample in several]
    common = sum(error * (len(sample) - 1) for error, sample in zip(errors, several, strict=True)) / max(1, freedom)
    critical = float(stats.t.ppf(1 - CONTROL / (2 * len(several)), freedom)) if several else math.nan

    def agrees(sample: NDArray[np.float64]) -> bool:
        return abs(float(sample.mean())) <= critical * math.sqrt(common / len(sample)) + _ROUNDING

    return [agrees(sample) if len(sample) > 1 else None for sample in samples]


def log_spread(numerators: Sequence[float], denominators: Sequence[float]) -> float | None:
    """Standard deviation of the logarithms of paired ratios, about their relative spread; None of fewer than two."""
    if len(numerators) < 2:
        return None
    return _standard_error(_logs(numerators, denominators)) * math.sqrt(len(numerators))


def spread_bound(sd: float, n: int, confidence: float = BOUND) -> float:
    """The one-sided upper confidence bound of a normal standard deviation, of which `n` values gave `sd`."""
    return sd * math.sqrt((n - 1) / float(stats.chi2.ppf(1 - confidence, n - 1)))


def detectable(sd: float, n: int, target: float = POWER) -> float:
    """The smallest true ratio above 1 that `n` blocks tell from 1 (95 % interval) with this probability.

    `sd` is the standard deviation of the log ratios. Exact: integrated over the chi distribution of the sample's own.
    """
    if sd == 0:
        return 1.0
    freedom = n - 1
    slope = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) / math.sqrt(freedom)
    x, weights = _over_chi(freedom, float(stats.chi.ppf(1 - 1e-12, freedom)))

    def short(shift: float) -> float:
        seen = special.ndtr(shift - slope * x) + special.ndtr(-shift - slope * x)
        return float(np.dot(weights, seen)) - target

    # In standard errors. With few blocks the critical t is large, and what passes it is of its order.
    shift = float(optimize.brentq(short, 0.0, 10 + 4 * slope * math.sqrt(freedom), xtol=1e-6))
    return _exp(shift * sd / math.sqrt(n))


@dataclass(frozen=True)
class Excess:
    """How much larger the differences between two arms are than those between two runs of one."""

    ratio: float
    """Root mean square difference of the arms over that of the repeated runs."""
    low: float
    high: float
    """Its 95 % interval, from F."""
    exceeds: bool
    """Whether it is larger, one-sided at 5 %."""


def excess(between: Sequence[float], within: Sequence[float]) -> Excess | None:
    """Compare paired differences between two arms with those between two runs of the same arm, about zero, by F.

    Both hold the arm's first run, which F knows nothing of: of equal arms it then says in 3 sessions of a hundred, not
    in 5, that they differ by more, and its interval covers 97 %.

    None where there are fewer than three of either, or the repeated runs are all equal. Raises ValueError for a value
    that is not finite.
    """
    if min(len(between), len(within)) < MIN_SEEDS:
        return None
    _check(between)
    _check(within)
    own, other = (float(np.mean(np.square(np.asarray(values, dtype=float)))) for values in (within, between))
    if own == 0:
        return None
    quotient, free = other / own, (len(between), len(within))
    low, high = (quotient / float(stats.f.ppf(q, *free)) for q in ((1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2))
    p = float(stats.f.sf(quotient, *free))
    return Excess(math.sqrt(quotient), math.sqrt(low), math.sqrt(high), p < 1 - CONFIDENCE)


@dataclass(frozen=True)
class Tost:
    """Result of `equivalence`; the fields are those of `compare.results.Equivalence`."""

    n: int
    difference: float
    low: float | None
    high: float | None
    margin: float
    p: float | None
    p_beyond: float | None
    verdict: Verdict
    power: float | None
    seeds_needed: int | None


def equivalence(arm: Sequence[float], baseline: Sequence[float], margin: float, alpha: float = 0.05) -> Tost:
    """Paired test of equivalence: two one-sided t tests on `arm - baseline`, pair by pair (seed by seed).

    Equivalent where the (1 - 2 alpha) interval of the mean difference lies inside the margin, which is where both
    one-sided tests reject at `alpha`; different where the (1 - alpha) interval lies outside, all of it on one side,
    which is where `p_beyond`, of a two-sided test, is below `alpha`; else inconclusive.
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
        return Tost(n, mean, None, None, margin, None, None, "no verdict", None, None)
    # Rounding of the values, not of their differences, decides what counts as no spread.
    size = max(abs(value) for value in (*arm, *baseline))
    error = _standard_error(differences, size)
    if error == 0:
        p, beyond = (0.0, 1.0) if abs(mean) < margin else (1.0, float(abs(mean) == margin))
        low = high = mean
    else:
        above = stats.t.sf((mean + margin) / error, n - 1)
        below = stats.t.cdf((mean - margin) / error, n - 1)
        p = float(max(above, below))
        # Which side it lies on is not known beforehand: both count.
        beyond = min(1.0, 2 * float(stats.t.sf((abs(mean) - margin) / error, n - 1)))
        half = float(stats.t.ppf(1 - alpha, n - 1)) * error
        low, high = mean - half, mean + half
    verdict: Verdict
    if -margin < low and high < margin:
        verdict = "equivalent"
    elif beyond < alpha:
        verdict = "different"
    else:
        verdict = "inconclusive"
    sd = spread_bound(error * math.sqrt(n), n)
    needed = seeds_needed(sd, margin, alpha=alpha)
    return Tost(n, mean, low, high, margin, p, beyond, verdict, power(sd, n, margin, alpha), needed)


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

    highest = min(float(stats.chi.ppf(1 - 1e-12, freedom)), room / slope)
    if highest <= float(stats.chi.ppf(1e-12, freedom)):
        return 0.0
    x, weights = _over_chi(freedom, highest)
    width = room - slope * x
    inside = special.ndtr(width - shift) - special.ndtr(-width - shift)
    return min(1.0, max(0.0, float(np.dot(weights, inside))))


def seeds_needed(sd: float, margin: float, target: float = POWER, alpha: float = 0.05) -> int | None:
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


def quantile(values: Sequence[float], q: float) -> float:
    """The quantile of the values, 0 <= q <= 1, linear between neighbours."""
    return float(np.quantile(np.asarray(values, dtype=float), q))


# ------------------------------------------------------------------ inside


def _logs(numerators: Sequence[float], denominators: Sequence[float]) -> NDArray[np.float64]:
    """Logarithms of the paired ratios. Raises ValueError for what has none."""
    if len(numerators) != len(denominators):
        raise ValueError(f"{len(numerators)} numerators cannot be paired with {len(denominators)} denominators")
    _check(numerators, positive=True)
    _check(denominators, positive=True)
    logs: NDArray[np.float64] = np.log(np.asarray(numerators, dtype=float)) - np.log(
        np.asarray(denominators, dtype=float)
    )
    # Near 0 the size of a logarithm says nothing of its rounding: ratios that differ by a share of 1e-12 are equal.
    logs[np.abs(logs - logs[0]) < _ROUNDING] = logs[0]
    return logs


def _of_logs(sample: NDArray[np.float64]) -> Interval:
    n = len(sample)
    mean, low, high, method = _student(sample, CONFIDENCE)
    if low is None or high is None:
        return Interval(_exp(mean), None, None, n, method)
    if method == NO_SPREAD:
        return Interval(_exp(mean), _exp(low), _exp(high), n, method)
    found = bootstrap_t([float(value) for value in sample]) if n >= BOOTSTRAP_FROM else None
    beside = (_exp(found[0]), _exp(found[1])) if found else None
    return Interval(_exp(mean), _exp(low), _exp(high), n, method + ON_LOGS, beside)


def _exp(log: float) -> float:
    """Of what no double holds the largest: an absurd record is no reason for an error."""
    return math.exp(min(log, _LARGEST))


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


def _over_chi(freedom: int, highest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and weights that integrate a smooth function over the chi distribution, up to `highest`."""
    nodes, weights = _quadrature()
    lowest = float(stats.chi.ppf(1e-12, freedom))
    x = lowest + (nodes + 1) * (highest - lowest) / 2
    return x, weights * stats.chi.pdf(x, freedom) * (highest - lowest) / 2


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
