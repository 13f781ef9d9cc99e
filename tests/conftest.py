"""For all tests: what has to be set before torch is imported."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings

# Tests run two at a time on two cores. Threads that spin at every barrier would make a step several times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Who tests on a terminal that is none of a person's would wait for the pager's end for ever.
os.environ["PAGER"] = "cat"

# Started by `nohup`, or in the background of a script, all that tests start would inherit that these are ignored.
for number, default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, default)

# A busy machine is no fault of the code: how long something takes is for the benchmarks.
settings.register_profile("without a deadline", deadline=None)
settings.load_profile("without a deadline")


def pytest_collection_finish() -> None:
    """The tool's own processes seldom look for circles that nobody holds (migrate/memory.py). Neither do its tests, for
    which all that was imported and collected would be looked through each time as well."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture
def many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a tree of many files: which of them belong to a program goes by what each tells, and of the others their
    text says what they do."""
    monkeypatch.setattr("migrate.components.MOST_WHOLE", 0)
