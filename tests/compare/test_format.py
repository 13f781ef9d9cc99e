"""Numbers as the report writes them."""

from __future__ import annotations

import math

import pytest

from compare import format as fmt
from compare.results import Interval

TIMES, MINUS, DASH = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}", "\N{EN DASH}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.01234, "0.0123"),
        (1.2345, "1.23"),
        (45.67, "45.7"),
        (789.4, "789"),
        (12345.6, "12,346"),
        (-45.67, f"{MINUS}45.7"),
        (math.nan, "NaN"),
        (math.inf, "∞"),
        (None, DASH),
    ],
)
def test_significant(value: float | None, text: str) -> None:
    assert fmt.significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (1023, "1,023 B"), (1024, "1.00 KiB"), (6.5 * 2**30, "6.50 GiB"), (None, DASH)]
)
def test_memory(value: float | None, text: str) -> None:
    assert fmt.memory(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.250 s"),
        (45.24, "45.2 s"),
        (59.96, "60.0 s"),
        (60, "1 min 00 s"),
        (3599.7, "1 h 00 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_duration(value: float, text: str) -> None:
    assert fmt.duration(value) == text


def test_a_rounded_zero_has_no_sign() -> None:
    assert fmt.points(-0.001) == fmt.points(0.001) == "0.00"
    assert fmt.points(0.126) == "+0.13" and fmt.points(-0.126) == f"{MINUS}0.13"


def test_small_things() -> None:
    assert fmt.ratio(1.0256) == f"1.03{TIMES}" and fmt.ratio(1.0256, 3) == f"1.026{TIMES}" and fmt.ratio(None) == DASH
    assert fmt.percent(93.456) == "93.46 %" and fmt.milliseconds(12.34) == "12.3 ms"
    assert (fmt.share(0.004), fmt.share(0.42), fmt.share(0.0)) == ("< 1 %", "42 %", "0 %")
    assert (fmt.probability(0.999), fmt.probability(0.93), fmt.probability(None)) == ("> 99 %", "93 %", DASH)
    assert (fmt.p_value(0.0004), fmt.p_value(0.0123)) == ("< 0.001", "0.012")
    assert (fmt.excess(1.0131), fmt.excess(2.0), fmt.excess(8.9)) == ("1.3 %", "100 %", "more than 100 %")
    assert fmt.relative(0.00123) == "1.2e-03"
    assert (fmt.plural(1, "seed"), fmt.plural(2, "seed")) == ("1 seed", "2 seeds")
    assert (fmt.listed(["a"]), fmt.listed(["a", "b", "c"]), fmt.listed([])) == ("a", "a, b and c", "none")


def test_bounds_match_their_estimate() -> None:
    assert fmt.spread(Interval(45.67, 45.0, 46.123, 5, ""), fmt.like(45.67)) == f"45.0 {DASH} 46.1"
    assert fmt.spread(Interval(45.67, None, None, 1, ""), fmt.like(45.67)) == ""
