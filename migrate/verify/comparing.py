"""Where two runs part: the first window between steps in which something differs by more than noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .history import Event, History, Window, numbers

_TIMES = 4.0  # a difference is noise up to so many times that of the old code from itself
_MANY = 1000  # windows whose noise is worth remembering


@dataclass(frozen=True)
class Difference:
    """One quantity of one window. ``old`` and ``new`` are what was recorded; events carry the places."""

    quantity: str
    old: Any
    new: Any
    was: Event | None = None
    now: Event | None = None
    ratio: float | None = None  # new to old, of numbers


@dataclass(frozen=True)
class Parted:
    """The first window that differs, and everything that differs in it."""

    process: int
    window: int  # equals the number of steps before it
    old: Window
    new: Window
    differences: tuple[Difference, ...]

    def first(self, *quantities: str) -> Difference | None:
        """The first difference of these kinds."""
        return next((one for one in self.differences if one.quantity in quantities), None)


@dataclass(frozen=True)
class Noise:
    """How far the old code is from itself, for each quantity and window, and what is rounding in any case."""

    rounding: float
    spread: dict[str, list[float]] = field(default_factory=dict)

    def allows(self, quantity: str, window: int) -> float:
        """The relative difference that is still noise: what the old code reached up to this window."""
        seen = self.spread.get(quantity, ())[: window + 1]
        return max([self.rounding, *(_TIMES * one for one in seen)])


@dataclass
class Seen:
    """What was compared, and the largest difference that passed as noise."""

    counts: dict[str, int] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)
    exact: bool = True

    def count(self, quantity: str, number: int = 1) -> None:
        self.counts[quantity] = self.counts.get(quantity, 0) + number


def compare(old: Sequence[History], new: Sequence[History], noise: Noise, seen: Seen) -> Parted | None:
    """The first parting of the runs' processes, None where there is none. ``seen`` is filled."""
    for process, (before, after) in enumerate(zip(old, new, strict=False)):
        windows = list(zip(before.windows, after.windows, strict=False))
        for number, (was, now) in enumerate(windows):
            found = _window(was, now, number, noise, seen)
            if found:
                return Parted(process, number, was, now, tuple(found))
        if len(before.windows) != len(after.windows):
            number = len(windows) - 1
            return Parted(
                process, number, before.windows[number], after.windows[number],
                (Difference("steps", before.steps, after.steps),),
            )  # fmt: skip
        if before.raised is None and after.raised is not None:
            return Parted(
                process, len(windows) - 1, before.windows[-1], after.windows[-1],
                (Difference("exception", None, after.raised["text"], now=after.raised),),
            )  # fmt: skip
    if len(old) != len(new):
        empty = Window((), None)
        return Parted(min(len(old), len(new)), 0, empty, empty, (Difference("processes", len(old), len(new)),))
    return None


def spread(one: Sequence[History], other: Sequence[History]) -> dict[str, list[float]] | None:
    """How far two runs of the old code are from each other, window by window; None where they differ in kind."""
    measured: dict[str, list[float]] = {}
    everything = Noise(math.inf)
    for first, second in zip(one, other, strict=True) if len(one) == len(other) else ():
        if len(first.windows) != len(second.windows):
            return None
        for number, (was, now) in enumerate(zip(first.windows, second.windows, strict=True)):
            seen = Seen()
            if _window(was, now, number, everything, seen):
                return None
            for quantity, size in seen.largest.items():
                sizes = measured.setdefault(quantity, [])
                sizes.extend([0.0] * (number + 1 - len(sizes)))
                sizes[number] = max(sizes[number], size)
    return measured if len(one) == len(other) else None


# ---------------------------------------------------------------- one window


def _window(was: Window, now: Window, number: int, noise: Noise, seen: Seen) -> list[Difference]:
    look = _Look(number, noise, seen)
    look.sequence("half weights", was.of("half"), now.of("half"), lambda e: e["name"])
    look.sequence("forwards", was.of("forward"), now.of("forward"), lambda e: (e["name"], e["training"], e["grad"]))
    look.each("casts of forwards", was.of("forward"), now.of("forward"), _casts)
    look.numbers("evaluation", was.of("output"), now.of("output"), lambda e: e["value"])
    look.sequence("losses", was.of("loss"), now.of("loss"), lambda e: (e["name"], e["grad"]))
    look.each("casts of losses", was.of("loss"), now.of("loss"), _casts, free=_free)
    look.sequence("backwards", was.of("backward"), now.of("backward"), lambda e: len(e["value"]))
    backwards = was.of("backward"), now.of("backward")
    look.each("casts of backwards", *backwards, lambda e: e["casts"])
    look.each("scaling", *backwards, lambda e: e["scale"] not in (None, 1.0))
    look.numbers("loss scale", *_while_it_stands(*backwards), lambda e: e["scale"], exact=True)
    look.numbers("loss", *backwards, lambda e: e["value"])
    look.sequence("clips", was.of("clip"), now.of("clip"), lambda e: e["name"])
    clips = _other_clips(was.of("clip"), now.of("clip"))
    look.numbers("clipped norm", *clips, lambda e: e["norm"])
    look.numbers("clipping limit", *clips, lambda e: e["limit"])
    if was.step is None or now.step is None:
        if was.step is not now.step and not look.found:
            look.differs("steps", was.step and was.step["taken"], now.step and now.step["taken"], was.step, now.step)
        return look.found
    steps = (was.step,), (now.step,)
    look.each("optimizer", *steps, lambda e: e["opt"])
    look.each("step taken", *steps, lambda e: e["taken"])
    look.numbers("gradient norm", *steps, lambda e: e["norm"])
    look.numbers("learning rate", *steps, lambda e: e["lr"])
    look.weights(was.step, now.step)
    return look.found


def _other_clips(was: Sequence[Event], now: Sequence[Event]) -> tuple[Sequence[Event], Sequence[Event]]:
    """The clips but those whose norm and limit are so many times as large both, which is the same clip: gradients that
    stay scaled in rounds without a step are clipped so."""
    pairs = [(before, after) for before, after in zip(was, now, strict=False) if not _alike(before, after)]
    return [before for before, _ in pairs], [after for _, after in pairs]


def _alike(before: Event, after: Event) -> bool:
    values = [numbers(event[name]) for event in (before, after) for name in ("norm", "limit")]
    if not all(len(one) == 1 for one in values):
        return False
    (old_norm,), (old_limit,), (norm,), (limit,) = values
    if not math.isfinite(old_norm) and not math.isfinite(norm):
        return True  # whatever the limit, nothing finite comes of it
    return (
        limit != old_limit
        and min(old_norm, old_limit) > 0
        and math.isclose(norm / old_norm, limit / old_limit, rel_tol=1e-6)
    )


def _while_it_stands(was: Sequence[Event], now: Sequence[Event]) -> tuple[Sequence[Event], Sequence[Event]]:
    """The backwards up to the first overflow: Apex halves there, a GradScaler behind the step, which is left out by
    both."""
    scales = [event["scale"] or 0.0 for event in was]
    at = next((at for at in range(1, len(scales)) if 0.0 < scales[at] < scales[at - 1]), len(was))
    return was[:at], now[:at]


def _casts(event: Event) -> bool:
    return bool(event["casts"])


def _free(event: Event) -> bool:
    """Where Apex leaves it to the types that arrive; and it casts binary cross entropy nowhere."""
    return event["casts"] is None or event["name"] == "binary_cross_entropy"


class _Look:
    """Collects the differences of one window."""

    def __init__(self, number: int, noise: Noise, seen: Seen) -> None:
        self.number, self.noise, self.seen = number, noise, seen
        self.found: list[Difference] = []

    def differs(self, quantity: str, old: Any, new: Any, was: Event | None, now: Event | None, **more: Any) -> None:
        self.found.append(Difference(quantity, old, new, was, now, **more))

    def sequence(self, quantity: str, was: Sequence[Event], now: Sequence[Event], of: Callable[[Event], Any]) -> None:
        """The same things happen, in the same order."""
        self.seen.count(quantity, len(was))
        before, after = [of(event) for event in was], [of(event) for event in now]
        if before == after:
            return
        at = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(was), len(now)))
        one, other = (events[at] if at < len(events) else None for events in (was, now))
        self.differs(quantity, len(was), len(now), one, other)

    def each(
        self,
        quantity: str,
        was: Sequence[Event],
        now: Sequence[Event],
        of: Callable[[Event], Any],
        free: Callable[[Event], bool] = lambda event: False,
    ) -> None:
        """What can only be the same or not."""
        for before, after in zip(was, now, strict=False):
            self.seen.count(quantity)
            if not free(before) and of(before) != of(after):
                self.differs(quantity, of(before), of(after), before, after)
                return

    def numbers(
        self,
        quantity: str,
        was: Sequence[Event],
        now: Sequence[Event],
        of: Callable[[Event], Any],
        exact: bool = False,
    ) -> None:
        """Numbers that may differ by noise."""
        for before, after in zip(was, now, strict=False):
            pairs = list(zip(numbers(of(before)), numbers(of(after)), strict=False))
            self.seen.count(quantity, len(pairs))
            for old, new in pairs:
                if not self.near(quantity, old, new, exact):
                    ratio = new / old if old and math.isfinite(old) and math.isfinite(new) else None
                    self.differs(quantity, old, new, before, after, ratio=ratio)
                    return

    def near(self, quantity: str, old: float, new: float, exact: bool = False) -> bool:
        if old == new or (math.isnan(old) and math.isnan(new)):
            return True
        self.seen.exact = False
        least = min(abs(old), abs(new))
        size = abs(old - new) / least if least else math.inf  # to the smaller one: otherwise it is never above 2
        if exact or not size <= self.noise.allows(quantity, self.number):  # not a number is no noise
            return False
        self.seen.largest[quantity] = max(size, self.seen.largest.get(quantity, 0.0))
        return True

    def weights(self, was: Event, now: Event) -> None:
        """All of them to the last bit; where they are not equal, the recorded ones by their largest."""
        if not (was["taken"] and now["taken"]):
            return
        self.seen.count("weights")
        if was["weights"] == now["weights"]:
            return
        self.seen.exact = False
        before, after = numbers(was["sample"]), numbers(now["sample"])
        largest = max(map(abs, before), default=0.0) or 1.0
        size = max((abs(a - b) / largest for a, b in zip(before, after, strict=False)), default=0.0)
        if len(before) != len(after) or not size <= self.noise.allows("weights", self.number):
            self.differs("weights", was["weights"][:12], now["weights"][:12], was, now)
            return
        self.seen.largest["weights"] = max(size, self.seen.largest.get("weights", 0.0))
