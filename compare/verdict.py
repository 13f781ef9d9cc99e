"""The results in sentences: the headline, and common claims beside what was measured.

Everything follows from the numbers by rules that do not know which answer is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .format import between, excess, listed, plural, points, ratio
from .results import Claim, Equivalence, Interval, Pair, Results
from .spec import MLP
from .stats import MIN_SEEDS

NATIVE = "native-fp16"
APEX = "apex-o1"
TIMES, EN_DASH = "\N{MULTIPLICATION SIGN}", "\N{EN DASH}"
NATIVE_WORDS = "Native AMP (float16)"
Holds = Literal["yes", "no", "not measured"]
_WORDS = {APEX: "Apex O1", "fp32": "FP32", "tf32": "TF32"}
# More decimals where two rounded numbers would hide the difference.
_CLOSE_TO_ONE = 0.02


def headline(results: Results) -> str:
    """The verdict in one sentence."""
    sentence = _smoke(results) if results.smoke else _measured(results)
    return sentence if results.complete else f"Not complete yet: {sentence}"


def claims(results: Results) -> tuple[Claim, ...]:
    """Common claims on mixed precision, each judged by what native AMP (float16) measured here against FP32.

    A claim on speed or memory is judged by the measured ratio, rounded to two decimals as it is printed.
    """
    return tuple(
        Claim(claim.text, claim.source, "not measured", "not measured")
        if results.smoke
        else Claim(claim.text, claim.source, *claim.judge(results))
        for claim in _CLAIMS
    )


# ------------------------------------------------------------------ headline


def _smoke(results: Results) -> str:
    ran = [arm.name for arm in results.arms if arm.status == "ok"]
    other = [f"{arm.name} {arm.status}" for arm in results.arms if arm.status != "ok"]
    where = "on a CPU" if results.spec.device == "cpu" else "as a smoke test"
    told = f"{listed(ran)} ran {where}" if ran else f"no arm ran {where}"
    told += f" ({', '.join(other)})" if other else ""
    return f"SMOKE: {told}; nothing follows from it on speed, memory or accuracy."


def _measured(results: Results) -> str:
    native, apex = results.arm(NATIVE), results.arm(APEX)
    if native is None:
        return f"{NATIVE_WORDS} was not part of this session, so it has no verdict."
    if native.images_per_s is None and native.accuracy is None:
        return f"{NATIVE_WORDS} was not measured ({native.status}: {_clause(native.reason)}), so there is no verdict."
    to_apex = results.pair(NATIVE, APEX)
    if to_apex is not None:
        return f"{_sentence(results, to_apex)}."
    if apex is None:
        why = "Apex O1 was not part of this session"
    elif apex.status == "ok":
        why = "Apex O1 has no run that can be paired"
    else:
        why = f"Apex O1 {'was unavailable' if apex.status == 'unavailable' else 'failed'} ({_clause(apex.reason)})"
    to_base = results.pair(NATIVE, results.spec.baseline)
    if to_base is None:
        return f"{why}, and {NATIVE} has no other arm to be compared with."
    told = _sentence(results, to_base)
    return f"{why}; {told[0].lower()}{told[1:]}."


def _sentence(results: Results, pair: Pair) -> str:
    memory = _memory(pair) if pair.speed else ""
    parts = [f"{NATIVE_WORDS} {_speed(results, pair)}{memory}", _to_target(results, pair), _accuracy(results, pair)]
    return "; ".join(part for part in parts if part)


def _speed(results: Results, pair: Pair) -> str:
    other, what, speed = _word(pair.baseline), results.spec.workload, pair.speed
    if speed is None:
        return f"was not timed beside {other} on {what}"
    if speed.low is None or speed.high is None:
        return f"trains {what} {_times(speed)} as fast as {other} (one pair of runs, no interval)"
    interval = f"95 % {_range(speed)}"
    if pair.speed_differs is None:
        return (
            f"was timed at {_times(speed)} {other}'s speed on {what}, which is not judged: two runs of the same arm "
            "differed too (A/A)"
        )
    if pair.speed_differs:
        slower = "that is slower, " if speed.value < 1 else ""
        control = "" if results.controls else ", no A/A control"
        return f"trains {what} {_times(speed)} as fast as {other} ({slower}{interval}{control})"
    shown = f"; a difference of {excess(pair.detectable)} would have shown" if pair.detectable else ""
    return f"trains {what} at a speed that is not told from {other}'s ({_times(speed)}, {interval}{shown})"


def _memory(pair: Pair) -> str:
    return "" if pair.memory is None else f" with {ratio(pair.memory)} of the memory"


def _to_target(results: Results, pair: Pair) -> str:
    """Time to the target accuracy, where at least two seeds of both arms reached it."""
    time = pair.time_to_target
    if time is None or time.low is None:
        return ""
    some = f", {time.n} of {results.spec.seeds} seeds" if time.n < results.spec.seeds else ""
    return f"{results.spec.target_accuracy:g} % accuracy {_times(time)} as soon (95 % {_range(time)}{some})"


def _accuracy(results: Results, pair: Pair) -> str:
    """What the test of parity says, and which seeds it could not use: a seed that diverged in one arm is no detail."""
    test = pair.equivalence
    if test is None:
        return "accuracy was not compared"
    margin, seeds = f"{test.margin:g} points", plural(test.n, "seed")
    if test.verdict == "no verdict":
        told = f"accuracy has no verdict ({seeds}; fewer than {MIN_SEEDS} allow none)"
    elif test.verdict == "equivalent":
        told = f"accuracy is equivalent within {margin} over {seeds}"
    elif test.verdict == "different":
        way = "higher" if test.difference > 0 else "lower"
        told = f"accuracy is {way} by more than the margin of {margin} ({_difference(test)}, {seeds})"
    else:
        needed = f", {test.seeds_needed} seeds would be needed" if (test.seeds_needed or 0) > test.n else ""
        told = f"accuracy parity is inconclusive ({_difference(test)}, margin {margin}, {seeds}{needed})"
    left_out = results.spec.seeds - test.n
    if left_out > 0:
        told += f", {plural(left_out, 'seed')} left out{_endings(results, test)}"
    return told


def _difference(test: Equivalence) -> str:
    bounds = "" if test.low is None or test.high is None else f", 90 % {between(test.low, test.high, points)}"
    return f"{points(test.difference)} points{bounds}"


def _endings(results: Results, test: Equivalence) -> str:
    """How the runs of the seeds that were left out ended, by arm."""
    told = []
    for name in (test.arm, test.baseline):
        arm = results.arm(name)
        ends = [run.status for run in arm.training if run.final_accuracy is None and run.status != "ok"] if arm else []
        told += [f"{ends.count(end)} {end} in {_word(name)}" for end in dict.fromkeys(ends)]
    return f" ({', '.join(told)})" if told else ""


# ------------------------------------------------------------------ claims


def _at_least(bound: float) -> Callable[[Results], tuple[str, Holds]]:
    def judge(results: Results) -> tuple[str, Holds]:
        value = _to_fp32(results)
        return _speeds(results), "not measured" if value is None else "yes" if value >= bound else "no"

    return judge


def _within(low: float, high: float) -> Callable[[Results], tuple[str, Holds]]:
    def judge(results: Results) -> tuple[str, Holds]:
        return _in_range(_speeds(results), _to_fp32(results), low, high)

    return judge


def _within_on(workload: str, low: float, high: float) -> Callable[[Results], tuple[str, Holds]]:
    """Judged by what was measured on another workload: the one that the claim is about."""

    def judge(results: Results) -> tuple[str, Holds]:
        if results.spec.workload == workload:
            return _in_range(_speeds(results), _to_fp32(results), low, high)
        ratio = next(
            (
                one.speed_ratio
                for one in results.others
                if (one.workload, one.recipe, one.arm) == (workload, "plain", NATIVE)
            ),
            None,
        )
        if ratio is None:
            return f"not measured: {workload} was not run", "not measured"
        interval = "" if ratio.low is None else f" (95 % {_range(ratio)})"
        told = f"{_times(ratio)} {_word(results.spec.baseline)}{interval} on {workload}"
        return _in_range(told, round(ratio.value, 2), low, high)

    return judge


def _in_range(told: str, value: float | None, low: float, high: float) -> tuple[str, Holds]:
    if value is None:
        return told, "not measured"
    return told + ("; above the range" if value > high else ""), "yes" if low <= value <= high else "no"


def _half_the_memory(results: Results) -> tuple[str, Holds]:
    told = []
    for baseline in (results.spec.baseline, "tf32"):
        pair = results.pair(NATIVE, baseline)
        if pair is not None and pair.memory is not None:
            told.append(f"{ratio(pair.memory)} of {_word(baseline)}'s peak")
    first = results.pair(NATIVE, results.spec.baseline)
    if first is None or first.memory is None:
        return ", ".join(told) or "not measured", "not measured"
    return ", ".join(told), "yes" if round(first.memory, 2) <= 0.5 else "no"


def _no_loss(results: Results) -> tuple[str, Holds]:
    pair = results.pair(NATIVE, results.spec.baseline)
    test = pair.equivalence if pair else None
    if test is None:
        return "not measured", "not measured"
    seeds = plural(test.n, "seed")
    told = f"{_difference(test)} to {_word(test.baseline)} over {seeds}: {test.verdict} (margin {test.margin:g})"
    if test.verdict == "equivalent" or (test.verdict == "different" and test.difference > 0):
        return told, "yes"
    return told, "no" if test.verdict == "different" else "not measured"


def _to_fp32(results: Results) -> float | None:
    pair = results.pair(NATIVE, results.spec.baseline)
    return round(pair.speed.value, 2) if pair is not None and pair.speed is not None else None


def _speeds(results: Results) -> str:
    told = []
    for baseline in (results.spec.baseline, "tf32"):
        pair = results.pair(NATIVE, baseline)
        if pair is not None and pair.speed is not None:
            interval = "" if pair.speed.low is None else f" (95 % {_range(pair.speed)})"
            told.append(f"{_times(pair.speed)} {_word(baseline)}{interval}")
    return ", ".join(told) or "not measured"


@dataclass(frozen=True)
class _CommonClaim:
    text: str
    source: str
    judge: Callable[[Results], tuple[str, Holds]]


_BLOG = "PyTorch blog, Accelerating Training on NVIDIA GPUs with PyTorch Automatic Mixed Precision (2020)"

_CLAIMS = (
    _CommonClaim("at least twice as fast", "often said of Tensor Cores, no one source; against FP32", _at_least(2)),
    _CommonClaim(
        f"1.5{TIMES} to 5.5{TIMES} as fast", f"{_BLOG}: several networks on 8 V100, against FP32", _within(1.5, 5.5)
    ),
    _CommonClaim(
        f"2{EN_DASH}3{TIMES} as fast",
        "PyTorch AMP recipe: three linear layers on Volta to Ampere, against FP32",
        _within_on(MLP, 2, 3),
    ),
    _CommonClaim(
        "half the memory", "PyTorch 1.6 release notes: savings of up to 50 % on Tensor Core GPUs", _half_the_memory
    ),
    _CommonClaim(
        "no loss of accuracy", f"Micikevicius et al., Mixed Precision Training (2018), and the {_BLOG}", _no_loss
    ),
)


# ------------------------------------------------------------------ words


def _word(arm: str) -> str:
    return _WORDS.get(arm, arm)


def _decimals(interval: Interval) -> int:
    return 3 if math.isfinite(interval.value) and abs(interval.value - 1) < _CLOSE_TO_ONE else 2


def _times(interval: Interval) -> str:
    return ratio(interval.value, _decimals(interval))


def _range(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "none"
    decimals = _decimals(interval)
    return between(interval.low, interval.high, lambda value: f"{value:.{decimals}f}")


def _clause(text: str | None) -> str:
    """A reason as part of a sentence."""
    return (text or "no reason was recorded").rstrip(".")
