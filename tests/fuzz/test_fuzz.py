"""Some of the made-up files of `run`, which ``make fuzz`` makes for an hour."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="what reads the scripts also runs them")

from tests.fuzz.mutate import mutated
from tests.fuzz.run import complaint, legacy

FILES, CHUNK = 400, 25
texts = functools.cache(legacy)


@pytest.mark.parametrize("first", range(0, FILES, CHUNK))
def test_there_is_an_answer(first: int) -> None:
    for seed in range(first, first + CHUNK):
        wrong = complaint(mutated(seed, texts()))
        assert wrong is None, f"seed {seed}: {wrong}"


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "found").glob("*.py")), ids=lambda path: path.stem)
def test_what_failed_once(path: Path) -> None:
    assert complaint(path.read_text(encoding="utf-8")) is None


def test_the_same_files_every_time() -> None:
    assert [mutated(seed, texts()) for seed in range(20)] == [mutated(seed, texts()) for seed in range(20)]


def test_a_crash_is_a_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("tests.fuzz.run.migrate_module", fails)
    assert complaint("import apex") == "KeyError: 'x'"
