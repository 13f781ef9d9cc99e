"""The cores this process may use, and how many of them decode images."""

from __future__ import annotations

import os

MOST_WORKERS = 8
"""Of one loader: what users set where a machine has more cores."""


def cores() -> int:
    """Those that the system lets this process run on, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def loader_workers(processes: int = 1) -> int:
    """A worker a core, `MOST_WORKERS` at most, where so many processes on this machine have a loader each."""
    return max(1, min(MOST_WORKERS, cores() // processes))
