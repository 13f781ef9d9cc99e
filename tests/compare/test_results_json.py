"""`results.json` follows its schema and its contract, whatever the session."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compare.analyse import analyse_folder
from compare.report import results_json
from compare.results import Results
from tests.compare.made import NAN, OUT_OF_MEMORY, Fails, make_session

SESSIONS: dict[str, dict[str, Any]] = {
    "standard": {},
    "full, with failures": {"profile": "full", "failures": [NAN, OUT_OF_MEMORY]},
    "smoke": {"smoke": True},
    "no apex, one seed": {"profile": "quick", "apex": False, "seeds": 1, "blocks": 1},
    "cut off": {"finished": False, "failures": [Fails("train", "fp32", seed, "incomplete") for seed in range(5)]},
}


@pytest.fixture(params=SESSIONS.values(), ids=SESSIONS.keys())
def results(request: pytest.FixtureRequest, tmp_path: Path) -> Results:
    return analyse_folder(make_session(tmp_path, **request.param))


def validate(data: Any) -> None:
    jsonschema.validate(data, results_json.schema(), jsonschema.Draft202012Validator)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(results_json.schema())


def test_every_session_follows_the_schema(results: Results) -> None:
    text = results_json.render(results)
    validate(json.loads(text, parse_constant=refuse))
    assert text == results_json.render(results)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_the_schema_refuses_what_it_should(tmp_path: Path) -> None:
    data = results_json.to_json(analyse_folder(make_session(tmp_path)))
    spoilt: tuple[dict[str, Any], ...] = (
        {"schema": 2},
        {"arms": [{**data["arms"][0], "status": "fine"}]},
        {"arms": [{key: value for key, value in data["arms"][0].items() if key != "memory"}]},
        {"pairs": [{**data["pairs"][0], "speed_ratio": 1.2}]},
        {"environment": {}},
        {"more": 1},
    )
    for spoil in spoilt:
        with pytest.raises(jsonschema.ValidationError):
            validate({**data, **spoil})


def test_the_contract(tmp_path: Path) -> None:
    """The keys that other programs read."""
    results = analyse_folder(make_session(tmp_path))
    data = results_json.to_json(results)
    assert (data["schema"], data["profile"]) == (1, "standard")
    assert {"gpu", "driver", "torch", "cuda", "cudnn", "apex"} <= data["environment"].keys()
    arm = next(arm for arm in data["arms"] if arm["name"] == "native-fp16")
    found = results.arm("native-fp16")
    assert (
        found is not None and found.images_per_s is not None and found.memory is not None and found.accuracy is not None
    )
    assert (arm["status"], arm["reason"], arm["seeds"]) == ("ok", None, 5)
    speed = found.images_per_s
    assert [arm["images_per_s"][key] for key in ("value", "low", "high")] == [speed.value, speed.low, speed.high]
    # At the median step there are no stalls.
    assert speed.value < arm["images_per_s"]["median"] < 1.02 * speed.value
    assert len(arm["images_per_s"]["processes"]) == 16
    assert arm["memory"]["allocated"] == found.memory.allocated
    assert arm["memory"]["reserved"] == found.memory.reserved
    assert arm["accuracy"]["runs"] == list(found.accuracy.runs)
    assert arm["accuracy"]["low"] < arm["accuracy"]["mean"] < arm["accuracy"]["high"]
    pair = next(pair for pair in data["pairs"] if (pair["arm"], pair["baseline"]) == ("native-fp16", "apex-o1"))
    assert pair["speed_ratio"]["low"] < pair["speed_ratio"]["value"] < pair["speed_ratio"]["high"]
    assert pair["memory_ratio"] == pytest.approx(3.5 / 3.6)
    assert pair["accuracy_difference"] == pytest.approx(0.026)
    assert (pair["equivalence"]["margin"], pair["equivalence"]["verdict"]) == (0.5, "equivalent")
    assert 0 < pair["equivalence"]["p"] < 0.05


def test_numbers_that_are_not_finite_become_null(tmp_path: Path) -> None:
    results = analyse_folder(make_session(tmp_path, failures=[NAN]))
    results = replace(results, environment={"gpu": float("inf"), "deep": [{"er": float("nan")}]})
    data = results_json.to_json(results)
    validate(data)
    assert data["environment"]["gpu"] is None
    assert data["environment"]["deep"] == [{"er": None}]
    apex = next(arm for arm in data["arms"] if arm["name"] == "apex-o1")
    assert apex["training"][2]["epochs"][-1]["losses"] == [None] * 10


def test_the_file_is_written_whole(tmp_path: Path) -> None:
    results = analyse_folder(make_session(tmp_path))
    (tmp_path / "results.json").write_text("old")
    path = results_json.write(results, tmp_path)
    assert path.read_text(encoding="utf-8") == results_json.render(results)
    assert not list(tmp_path.glob(".results.json*"))
    with pytest.raises(OSError):
        results_json.write(results, tmp_path / "nowhere")
