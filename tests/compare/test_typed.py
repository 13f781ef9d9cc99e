"""A record whose fields hold something else than they should is left out with a sentence, whatever it is."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from compare.analyse import analyse
from compare.errors import UserError
from compare.records import Sample
from compare.report.build import _read, report_files
from compare.report.results_json import render
from compare.typed import fits
from tests.compare.made import make_session, write
from tests.effort import some

MUTATED = int(os.environ.get("MUTATED", some(120, 24)))

WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 1e308, 10**400, 3.5, "x", "nan", "inf", "", "2026"),
    *([], {}, [None], ["x"], [[1]], {"a": 1}),
)


@pytest.mark.parametrize(
    ("value", "hint", "right"),
    [
        (1, float, True),
        (True, float, False),
        (True, int, False),
        (1.5, int, False),
        (10**400, float, False),
        (-(10**20), int, False),
        (1e300, float, True),
        (None, int | None, True),
        ("speed", Literal["speed", "train"], True),
        ("other", Literal["speed", "train"], False),
        ([1, 2.5], list[float], True),
        ([1, "2"], list[float], False),
        ([[1, 2.0]], list[tuple[int, float]], True),
        ([[1, 2.0, 3]], list[tuple[int, float]], False),
        (["a"], tuple[str, ...], True),
        ({"a": object}, dict[str, Any], True),
        ([], dict[str, Any], False),
    ],
)
def test_what_fits(value: object, hint: object, right: bool) -> None:
    assert fits(value, hint) is right


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_session(tmp_path_factory.mktemp("session"), blocks=3, seeds=3)
    for run in sorted((made / "runs").glob("speed-*.jsonl"))[:4]:
        samples = [Sample(float(at), 1980, 2619, 60, 400.0, ["power cap"], 0, 0.2) for at in range(4)]
        write(made / "machine" / run.name, samples)
    return made


@pytest.mark.parametrize("seed", range(MUTATED))
def test_a_changed_value_never_ends_in_an_error_of_ours(folder: Path, seed: int) -> None:
    """One value of one record becomes something else: it is refused in a sentence, left out with one, or counted."""
    rng = random.Random(seed)
    recorded = sorted(folder.glob("*/*.jsonl"))
    path = rng.choice([*recorded, folder / "session.jsonl", folder / "session.jsonl"])
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines()
    number = rng.randrange(len(lines))
    record = json.loads(lines[number])
    place = rng.choice(list(_places(record)))
    inside = record
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = rng.choice(WRONG)
    lines[number] = json.dumps(record)
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        results = analyse(_read(folder))
        json.loads(render(results))
        if seed % 24 == 0:
            report_files(results)
    except UserError as error:
        assert str(error).count("\n") == 0
    finally:
        path.write_text(before, encoding="utf-8")


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key and index in a record."""
    if place:
        yield place
    inside: Any = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, one in inside:
        yield from _places(one, (*place, key))
