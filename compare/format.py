"""Numbers as a reader wants them: rounded to what they can bear, with their unit, and a dash where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .results import Interval
from .workloads.known import takes_images

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
TIMES = "\N{MULTIPLICATION SIGN}"
NONE = DASH
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")


def _fixed(value: float, decimals: int) -> str:
    """A number with thousands separators, and a true minus sign that never stands before a zero."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:,.{decimals}f}"
    if text.startswith("-"):
        text = text[1:] if not any(digit in text for digit in "123456789") else MINUS + text[1:]
    return text


def significant(value: float | None) -> str:
    """A magnitude with three digits or more: 0.123, 1.23, 45.6, 789, 12,345."""
    if value is None:
        return NONE
    if not math.isfinite(value) or value == 0:
        return _fixed(value, 0)
    return _fixed(value, decimals_for(value))


def decimals_for(value: float) -> int:
    """Decimals that give a value three digits."""
    if value == 0 or not math.isfinite(value):
        return 0
    return min(6, max(0, 2 - math.floor(math.log10(abs(value)))))


def speed_unit(workload: str) -> str:
    """What a workload's speed counts, per second."""
    return "images/s" if takes_images(workload) else "samples/s"


def ratio(value: float | None, decimals: int = 2) -> str:
    """1.23 and a times sign: 1.23 times as much."""
    return NONE if value is None else f"{_fixed(value, decimals)}{TIMES}"


def excess(value: float | None) -> str:
    """How far a ratio above 1 lies from 1: 1.3 %; beyond a doubling the number says no more than that it is large."""
    if value is None:
        return NONE
    difference = 100 * (value - 1)
    if difference > 100:
        return "more than 100 %"
    return f"{difference:.0f} %" if difference >= 10 else f"{difference:.2g} %"


def percent(value: float | None, decimals: int = 2) -> str:
    """93.12 %, of a number that is already in percent."""
    return NONE if value is None else f"{_fixed(value, decimals)} %"


def share(value: float | None) -> str:
    """12 %, of a share between 0 and 1."""
    if value is None:
        return NONE
    return "< 1 %" if 0 < value < 0.01 else f"{_fixed(100 * value, 0)} %"


def probability(value: float | None) -> str:
    """93 %, never a certainty: > 99 %."""
    return "> 99 %" if value is not None and value > 0.99 else share(value)


def points(value: float | None, decimals: int = 2) -> str:
    """A difference in percentage points, with its sign: +0.12."""
    if value is None:
        return NONE
    text = _fixed(value, decimals)
    return f"+{text}" if value > 0 and any(digit in text for digit in "123456789") else text


def milliseconds(value: float | None) -> str:
    """12.3 ms"""
    return NONE if value is None else f"{significant(value)} ms"


def memory(value: float | None) -> str:
    """Bytes in the largest binary unit of which there is one: 12.3 GiB."""
    if value is None:
        return NONE
    unit = memory_unit(value)
    return f"{significant(value / 1024 ** _BINARY.index(unit))} {unit}"


def memory_unit(largest: float) -> str:
    """The unit for numbers up to this many bytes."""
    power = 0
    while largest >= 1024 and power < len(_BINARY) - 1:
        largest /= 1024
        power += 1
    return _BINARY[power]


def in_unit(value: float, unit: str) -> float:
    """Bytes as a number of KiB, MiB, …"""
    return float(value / 1024 ** _BINARY.index(unit))


def duration(seconds: float | None) -> str:
    """45.2 s, 12 min 30 s, 2 h 05 min."""
    if seconds is None:
        return NONE
    if not math.isfinite(seconds) or seconds < 60:
        return f"{significant(seconds)} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def p_value(value: float | None) -> str:
    """0.012, or "< 0.001"."""
    if value is None:
        return NONE
    return "< 0.001" if value < 0.001 else _fixed(value, 3)


def count(value: int | None) -> str:
    """12,345"""
    return NONE if value is None else f"{value:,}"


def relative(value: float | None) -> str:
    """A relative difference: 1.2e-03, or 0."""
    if value is None:
        return NONE
    return "0" if value == 0 else f"{value:.1e}" if math.isfinite(value) else _fixed(value, 0)


def spread(interval: Interval | None, write: Callable[[float], str]) -> str:
    """The bounds of an interval, or an empty text without one."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return between(interval.low, interval.high, write)


def between(low: float, high: float, write: Callable[[float], str]) -> str:
    """Two bounds: a dash between them, with spaces so that it is not taken for a minus."""
    return f"{write(low)} {DASH} {write(high)}"


def like(value: float) -> Callable[[float], str]:
    """Writes numbers with the decimals that `value` gets, so that bounds match their estimate."""
    decimals = decimals_for(value)
    return lambda number: _fixed(number, decimals)


def status(name: str) -> str:
    """How a run ended, in words."""
    words = {"nan": "NaN", "oom": "out of memory", "timeout": "timed out"}
    return words.get(name, name)


def plural(number: int, one: str, many: str | None = None) -> str:
    """1 seed, 2 seeds."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """a, b and c"""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"
