"""What the recorder wrote, as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Place:
    """Where in the user's code."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Event:
    """One thing that happened. ``data`` is what recorder/apex2native_recorder/calls.py and scaling.py say of it."""

    kind: str
    at: Place | None
    data: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.data.get(name)


@dataclass(frozen=True)
class Window:
    """What happened since the last step, and the step; the last window of a process has none."""

    events: tuple[Event, ...]
    step: Event | None

    def of(self, kind: str) -> tuple[Event, ...]:
        """The events of one kind, in order."""
        return tuple(event for event in self.events if event.kind == kind)


@dataclass(frozen=True)
class History:
    """One process."""

    begin: Event
    events: tuple[Event, ...]

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """The events, cut at each step."""
        found: list[Window] = []
        since: list[Event] = []
        for event in self.events:
            if event.kind == "step":
                found.append(Window(tuple(since), event))
                since = []
            else:
                since.append(event)
        return (*found, Window(tuple(since), None))

    def of(self, kind: str) -> tuple[Event, ...]:
        """The events of one kind, in order."""
        return tuple(event for event in self.events if event.kind == kind)

    @property
    def raised(self) -> Event | None:
        """The exception that ended it."""
        return next(iter(self.of("raised")), None)

    @property
    def refused(self) -> Event | None:
        """What a GradScaler raised last, also where the script caught it."""
        return next(iter(self.of("refused")[-1:]), None)

    @property
    def steps(self) -> int:
        return len(self.of("step"))

    def until(self, steps: int) -> History:
        """What happened up to this step; all of it where there are fewer."""
        if self.steps < steps:
            return self
        kept = [event for window in self.windows[:steps] for event in (*window.events, window.step) if event]
        return History(self.begin, tuple(kept))

    @property
    def cut(self) -> bool:
        """Whether it was ended after as many steps as were asked for."""
        return any(event["why"] == "steps" for event in self.of("end"))

    @property
    def overflow(self) -> int | None:
        """The number of the backward that was made to overflow."""
        return next((event["n"] for event in self.of("backward") if event["overflow"]), None)


def read(records: Path) -> tuple[History, ...]:
    """The processes that trained or evaluated something, by rank and in the order in which they began.

    A line that a kill cut short is left out."""
    found = []
    for path in records.glob("*.jsonl"):
        events = tuple(_events(path))
        if events and events[0].kind == "start":
            rank = next((event["rank"] for event in events if event.kind == "rank"), events[0]["rank"])
            found.append((rank, events[0]["begun"], History(events[0], events[1:])))
    found.sort(key=lambda one: one[:2])
    used = tuple(one for _, _, one in found if one.of("forward") or one.of("backward") or one.of("step"))
    return used or tuple(one for _, _, one in found)[:1]


def problems(records: Path) -> tuple[str, ...]:
    """Why something could not be recorded."""
    return tuple(
        event["text"] for path in sorted(records.glob("*.jsonl")) for event in _events(path) if event.kind == "problem"
    )


def _events(path: Path) -> Iterator[Event]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            continue
        at = data.pop("at", None)
        yield Event(data.pop("e"), Place(at[0], at[1]) if at else None, data)


def numbers(values: Any) -> Sequence[float]:
    """Recorded numbers: what is not finite was written as text, what is none as null."""
    if not isinstance(values, list):
        values = [values]
    return [float(value) for value in values if value is not None]
