"""Scripts with lines changed at random are migrated, and both versions compute the same (changed.py)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

pytest.importorskip("torch")

from tests.effort import some

from .changed import program
from .generate import MAIN
from .harness import SCRIPTS, read_script
from .many import INTERNAL, UNSOUND, judge

pytest.importorskip("migrate.engine", reason="the engine is not there yet")


@pytest.mark.parametrize("seed", range(some(300, 60)))
def test_any(seed: int) -> None:
    result = judge(program(seed))
    assert result.verdict not in (UNSOUND, INTERNAL), "\n".join([result.line, *result.notes, *result.said])


def test_changes_are_the_same_every_time() -> None:
    assert [program(seed) for seed in range(10)] == [program(seed) for seed in range(10)]


def test_something_is_changed_each_time_and_is_python() -> None:
    texts = {path.stem: read_script(path) for path in SCRIPTS.glob("*.py")}
    for seed in random.Random(1).sample(range(10_000), 60):
        made = program(seed)
        assert made.files[MAIN] != texts.get(made.shapes[0])
        compile(made.files[MAIN], str(seed), "exec")


def test_every_kind_of_change_is_made() -> None:
    drawn = Counter(what.partition(":")[0] for seed in range(400) for what in program(seed).shapes[1:])
    assert set(drawn) == {
        "a line more", "a block around", "a statement less", "behind the next", "twice", "a function of its own",
        "into the block",
    }  # fmt: skip
    assert min(drawn.values()) >= 5
