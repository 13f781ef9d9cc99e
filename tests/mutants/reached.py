"""Which tests reach which mutant, and then those tests alone: the pytest plugin of ``run.py``.

In a copy of the tree a call of `by` stands around every expression that a mutant changes, and ``$REACHED`` becomes a
file that says of each test how many seconds of the processor it took, and the numbers of the mutants whose expression
it evaluated; of a condition that a mutant holds at False, only where it was true, and the other way round. All other
tests do with the mutant exactly what they do without it, so they need not run. What is evaluated while tests are
imported, all reach.

Nothing may be kept from one test to the next for that: caches are emptied, and tests of a file that shares cases or
fixtures reach what any test of it reaches.

``$PICKED`` is a file with the names of tests and how many seconds of the processor each may take: no others run, they
run in that order, and where one takes longer, that is the end of the process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")
SHARES = re.compile(r"\bcache\b|\bscope=|\bscript_case\b")

_reached: dict[str, set[int]] = defaultdict(set)
_seconds: dict[str, float] = {}
_now = [""]  # the test that runs
_may: dict[str, float] = {}


def by(number: int, after: str, value: T) -> T:
    """The value of the expression, noted where that of the mutant is another one, or may be."""
    if after not in ("True", "False") or bool(value) != (after == "True"):
        _reached[_now[0]].add(number)
    return value


def _file(test: str) -> str:
    return test.partition("::")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, _may.get(item.nodeid, 0))
    if "REACHED" in os.environ:
        _forget(tests_too=_file(item.nodeid) != _file(_now[0]))
    _now[0], started = item.nodeid, time.process_time()
    try:
        return (yield)
    finally:
        _seconds[item.nodeid] = time.process_time() - started


def _forget(tests_too: bool) -> None:
    for name, module in [*sys.modules.items()]:
        if name.startswith("migrate.") or (tests_too and name.startswith("tests.")):
            for held in [*vars(module).values()]:
                getattr(held, "cache_clear", int)()


def pytest_sessionfinish() -> None:
    if "REACHED" not in os.environ:
        return
    files: dict[str, set[int]] = defaultdict(set)
    for test in _seconds:
        files[_file(test)] |= _reached[test]
    shared = {file for file in files if SHARES.search(Path(file).read_text(encoding="utf-8"))}
    said = {}
    for test, seconds in _seconds.items():
        reached = files[_file(test)] if _file(test) in shared else _reached[test]
        said[test] = [seconds, *sorted(reached | _reached[""])]
    Path(os.environ["REACHED"]).write_text(json.dumps(said), encoding="utf-8")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "PICKED" in os.environ:
        _may.update(json.loads(Path(os.environ["PICKED"]).read_text(encoding="utf-8")))
        places = {name: place for place, name in enumerate(_may)}
        items[:] = sorted((one for one in items if one.nodeid in places), key=lambda one: places[one.nodeid])
