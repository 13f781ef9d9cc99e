"""The work of a migration grows as what there is of a shape: counted in calls, whatever else the machine does.

Seconds are for `shapes.py`; a loop over all units in each unit, or over all files in each file, shows here as well.
"""

from __future__ import annotations

import cProfile
import gc
import math
import pstats
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.facts.module import Module
from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.rewrite.trace import Run
from migrate.sources import collect
from migrate.spool import Spool
from migrate.writing import came_from
from tests.bench import shapes
from tests.bench.shapes import Files
from tests.effort import LONG

# Exponent of a doubling: the bound for seconds is 1.2, which memory has a part in. Half a percent of the calls hangs on
# what the process was asked before, which moves an exponent by 0.01.
MOST = 1.08
# Sizes at which the rest weighs little, and what was quadratic once shows. `one_optimizer` and `methods_of_one` have
# the judge at its bound: what grows is all but it. `calls_twice` is a state of that many functions in each other.
SIZES: dict[Callable[[int], Files], int] = {
    shapes.training_functions: 100,
    shapes.one_optimizer: 120,
    shapes.methods_of_one: 100,
    shapes.calls_twice: 12,
    shapes.elif_chain: 300,
    shapes.ifs_in_the_loop: 25,
    shapes.forwards: 50,
    shapes.rounds_written_out: 40,
    shapes.optimizers: 200,
    shapes.exits: 60,
    shapes.cases: 200,
    shapes.imports: 200,
    shapes.stores: 200,
    shapes.classes: 50,
    shapes.attributes: 40,
    shapes.literal: 500,
    shapes.long_function: 200,
    shapes.cluster: 60,
    shapes.names_of_amp: 200,
}
# Where each of many is told from each other: what was done for each pair took the cube of them.
PAIRS: dict[Callable[[int], Files], int] = {
    shapes.optimizers_in_arms: 40,
    shapes.scales_in_arms: 120,
    shapes.line_of_classes: 20,
}
TAKE_LONG = (shapes.training_functions, shapes.one_optimizer, shapes.methods_of_one, shapes.cluster)
TRIED = [shape for shape in SIZES if LONG or shape not in TAKE_LONG]


def calls(folder: Path, files: Files) -> int:
    """How many functions a dry run calls."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    profile = cProfile.Profile()
    gc.disable()  # who else in the process wants to be told of collections is no work of the tool
    try:
        with Spool() as spool, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profile.enable()
            analyse(collect([str(folder)]), Settings(), spool, jobs=1)
            profile.disable()
    finally:
        gc.enable()
    total: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return total


@pytest.mark.parametrize("shape", TRIED, ids=lambda shape: shape.__name__)
def test_work_grows_as_the_program_does(tmp_path: Path, shape: Callable[[int], Files]) -> None:
    calls(tmp_path / "first", shape(1))  # what is looked for once in a process
    least, some, twice = (calls(tmp_path / str(n), shape(n)) for n in (1, SIZES[shape], 2 * SIZES[shape]))
    assert math.log2((twice - least) / (some - least)) <= MOST


@pytest.mark.parametrize("shape", PAIRS, ids=lambda shape: shape.__name__)
def test_pairs_are_looked_at_once(tmp_path: Path, shape: Callable[[int], Files]) -> None:
    calls(tmp_path / "first", shape(1))
    least, some, twice = (calls(tmp_path / str(n), shape(n)) for n in (1, PAIRS[shape], 2 * PAIRS[shape]))
    assert math.log2((twice - least) / (some - least)) <= 1.6


def test_calls_in_calls_are_looked_at_once(tmp_path: Path) -> None:
    calls(tmp_path / "first", shapes.calls_in_calls(1))  # what is looked for once in a process
    some, twice = (calls(tmp_path / str(n), shapes.calls_in_calls(n)) for n in (6, 12))
    assert twice < 2 * some  # 2 ** 12 calls of any of them are more than all the rest


def test_lines_are_traced_in_time_that_grows_as_they_do() -> None:
    def seconds(count: int) -> float:
        text = "x = 1\n" * count
        m, runs = Module(text), [Run(6 * at, 6 * at, 6) for at in range(count)]
        begun = time.process_time()
        (lines,) = came_from(m, [text], runs)
        assert lines == tuple(range(1, count + 1))
        return time.process_time() - begun

    few, many = (min(seconds(count) for _ in range(3)) for count in (4_000, 32_000))
    assert many < 24 * few  # a copy of what is left for each line: more than 50
