"""Scripts that are taken apart into files are migrated, and both versions compute the same (split.py)."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

pytest.importorskip("torch")

from tests.effort import some

from .changed import FRESH
from .generate import MAIN
from .harness import SCRIPTS, read_script
from .many import BAD, INTERNAL, UNSOUND, judge
from .split import WAYS, program

pytest.importorskip("migrate.engine", reason="the engine is not there yet")


@pytest.mark.parametrize("seed", range(some(500, 40)))
def test_any(seed: int) -> None:
    result = judge(program(seed))
    assert result.verdict not in (UNSOUND, INTERNAL), "\n".join([result.line, *result.notes, *result.said])


def test_most_run_as_they_did_in_one_file() -> None:
    assert sum(judge(program(seed)).verdict == BAD for seed in range(100, 110)) <= 2


def test_parts_are_the_same_every_time() -> None:
    assert [program(seed) for seed in range(10)] == [program(seed) for seed in range(10)]


def test_nothing_is_lost_and_something_moves() -> None:
    texts = {path.stem: read_script(path) for path in [*SCRIPTS.glob("*.py"), *FRESH.glob("*.py")]}
    for seed in range(60):
        made = program(seed)
        own = [text for name, text in made.files.items() if not name.startswith(("relay_", "wrapped_"))]
        kept = Counter(name for text in own for name in _defined(text))
        assert kept == Counter(_defined(texts[made.shapes[0]]))
        assert len(_defined(made.files[MAIN])) < len(_defined(texts[made.shapes[0]]))


def test_every_way_to_import_is_gone() -> None:
    drawn = Counter(way for seed in range(200) for way in program(seed).shapes if way in WAYS)
    assert set(drawn) == set(WAYS) and min(drawn.values()) >= 10
    packages = [seed for seed in range(200) if any("/" in name for name in program(seed).files)]
    assert 40 <= len(packages) <= 120


def _defined(text: str) -> list[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [stmt.name for stmt in ast.parse(text).body if isinstance(stmt, kinds)]
