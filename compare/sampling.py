"""What the machine does while a task runs: clocks, power, temperature, and who else is busy on it.

A thread of the runner reads it about once a second; the task's own process is not touched.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from . import nvidia
from .records import Sample

INTERVAL = 1.0
"""Seconds between two samples."""
COUNTED_EVERY = 5
"""Samples between two counts of the processes on the GPU: each starts a process."""

_PROC = Path("/proc")


class Sampler:
    """Samples the machine until it is left, for a task whose processes are those of one session (`setsid`)."""

    def __init__(
        self, session: int, keep: Callable[[Sample], None], watched: nvidia.Stream | None, interval: float = INTERVAL
    ) -> None:
        self._session, self._keep, self._watched, self._interval = session, keep, watched, interval
        self._over = threading.Event()
        self._state: dict[str, Any] = {}
        self._reader: subprocess.Popen[str] | None = None
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Sampler:
        if self._watched is not None:
            with suppress(OSError):
                self._reader = subprocess.Popen(
                    self._watched.state, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
                )
                self._start(self._read)
        self._start(self._sample)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._reader is not None:
            self._reader.kill()
            self._reader.wait()
        for thread in self._threads:
            thread.join()
        if self._reader is not None and self._reader.stdout is not None:
            self._reader.stdout.close()

    def _start(self, what: Callable[[], None]) -> None:
        thread = threading.Thread(target=what, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _read(self) -> None:
        assert self._reader is not None and self._reader.stdout is not None and self._watched is not None
        for line in self._reader.stdout:
            self._state = self._watched.read(line) or self._state

    def _sample(self) -> None:
        before, sharing = busy_seconds(self._session), None
        for number in itertools.count():
            over = self._over.wait(self._interval)
            if over and number:  # a task that is shorter than one interval has one sample all the same
                return
            now = busy_seconds(self._session)
            state = self._state
            sharing = self._sharing() if number % COUNTED_EVERY == 0 else sharing
            sample = Sample(
                at=time.time(),
                sm_mhz=state.get("sm_mhz"),
                memory_mhz=state.get("memory_mhz"),
                temperature_c=state.get("temperature_c"),
                power_w=state.get("power_w"),
                throttle=state.get("throttle"),
                sharing=sharing,
                busy_elsewhere=elsewhere(before, now),
            )
            # A disk that is full is noticed, and said, by the task's own records.
            with suppress(OSError):
                self._keep(sample)
            if over:
                return
            before = now

    def _sharing(self) -> int | None:
        """Other processes on the GPU; None where they cannot be counted."""
        if self._watched is None:
            return None
        finished = nvidia.run_command(self._watched.computing)
        if finished is None or finished.returncode:
            return None
        return foreign([int(found) for found in re.findall(r"^\s*(\d+)", finished.stdout, re.MULTILINE)], self._session)


def foreign(computing: list[int], session: int) -> int:
    """How many of the processes that compute on the GPU are not the task's.

    A container does not see them by the numbers that it knows its own by: then all but as many as it has are foreign.
    """
    own = members(session)
    if set(computing) & own:
        return len(set(computing) - own)
    return max(0, len(computing) - 1) if computing else 0


def members(session: int) -> set[int]:
    """The processes of a session, by number."""
    return {number for number, found, _ in _processes() if found == session}


def busy_seconds(session: int) -> tuple[float, float, float] | None:
    """Now, and the seconds of processor time that all processes, and those of the session, have used; None unless
    Linux."""
    try:
        cells = (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    tick = os.sysconf("SC_CLK_TCK")
    # user nice system idle iowait irq softirq steal: what is neither idle nor waiting; guests are in user already.
    everything = sum(int(cell) for index, cell in enumerate(cells[:8]) if index not in (3, 4))
    own = sum(used for _, found, used in _processes() if found == session)
    return time.monotonic(), everything / tick, own / tick


def elsewhere(before: tuple[float, float, float] | None, now: tuple[float, float, float] | None) -> float | None:
    """Cores that were busy with anything but the session, between two looks."""
    if before is None or now is None or now[0] <= before[0]:
        return None
    own = max(0.0, now[2] - before[2])
    return max(0.0, (now[1] - before[1] - own) / (now[0] - before[0]))


def _processes() -> list[tuple[int, int, int]]:
    """Number, session and ticks used (its own and its ended children's) of every process that can be seen."""
    found = []
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                # The name in brackets may hold spaces and brackets.
                cells = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                found.append((int(entry.name), int(cells[3]), sum(int(cell) for cell in cells[11:15])))
    return found
