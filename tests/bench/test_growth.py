"""The work of a migration grows as what there is of a shape: counted in calls, whatever else the machine does.

Seconds are for `shapes.py`; a loop over all units in each unit, or over all files in each file, shows here as well.
"""

from __future__ import annotations

import cProfile
import math
import pstats
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.bench import shapes
from tests.bench.shapes import Files

MOST = 1.12  # exponent of a doubling: the bound for seconds is 1.2, which memory has a part in
# Sizes at which the rest weighs little; those beside `training_functions` and `cluster` are small to be quick.
SIZES: dict[Callable[[int], Files], int] = {
    shapes.training_functions: 40,
    shapes.calls_twice: 24,
    shapes.elif_chain: 100,
    shapes.ifs_in_the_loop: 25,
    shapes.forwards: 50,
    shapes.optimizers: 10,
    shapes.classes: 50,
    shapes.attributes: 40,
    shapes.literal: 500,
    shapes.long_function: 200,
    shapes.cluster: 60,
}


def calls(folder: Path, files: Files) -> int:
    """How many functions a dry run calls."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    profile = cProfile.Profile()
    with Spool() as spool, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        profile.enable()
        analyse(collect([str(folder)]), Settings(), spool, jobs=1)
        profile.disable()
    total: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return total


@pytest.mark.parametrize("shape", SIZES, ids=lambda shape: shape.__name__)
def test_work_grows_as_the_program_does(tmp_path: Path, shape: Callable[[int], Files]) -> None:
    calls(tmp_path / "first", shape(1))  # what is looked for once in a process
    least, some, twice = (calls(tmp_path / str(n), shape(n)) for n in (1, SIZES[shape], 2 * SIZES[shape]))
    assert math.log2((twice - least) / (some - least)) <= MOST
