"""Records survive the way through a file, whatever became of the file."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import pytest

from compare.records import (
    Asked,
    Decision,
    Ended,
    Epoch,
    Planned,
    Step0,
    Window,
    Writer,
    decode,
    encode,
    read,
    read_session,
)
from compare.spec import Spec, Task

WINDOW = Window(0, [1.5, 2.5], 0.25, "host")
SPEC = Spec("smoke", "cpu", ("fp32",), ("fp32",), (), blocks=5, seeds=5, epochs=30)


def test_a_record_reads_back_as_it_was() -> None:
    assert decode(encode(WINDOW)) == WINDOW
    epoch = Epoch(1, 2, 0.5, None, [1.0], 50.0, 1.0, 0.1, None, 2.0, [1], [(0, 65536.0), (1, 32768.0)], [2.3, 2.2])
    again = decode(encode(epoch))
    assert isinstance(again, Epoch)
    assert [tuple(pair) for pair in again.scales] == epoch.scales


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_has_not_are_spelt_out(value: float) -> None:
    line = encode(Step0([value, 1.0], None, value, 1))
    assert "NaN" not in line and "Infinity" not in line
    again = decode(line)
    assert isinstance(again, Step0)
    for found in (again.logits[0], again.loss):
        assert found == value or (math.isnan(found) and math.isnan(value))


def test_a_path_that_is_no_text_reads_back_as_it_was(tmp_path: Path) -> None:
    asked = Asked({}, "now", "amp-compare run --out /data/\udcc3\udca4")
    with Writer(tmp_path / "session.jsonl") as writer:
        writer.write(asked)
    assert read(tmp_path / "session.jsonl") == ([asked], [])


def test_a_text_field_that_says_nan_stays_a_text() -> None:
    assert decode(encode(Ended("nan", "nan", 1.0))) == Ended("nan", "nan", 1.0)


def test_what_a_later_version_adds_is_skipped() -> None:
    assert decode(encode(WINDOW)[:-1] + ', "of a later version": 1}') == WINDOW
    assert decode('{"type": "of another version"}') is None


@pytest.mark.parametrize("line", ["", "{", "[]", '"window"', '{"type": "window"}'])
def test_what_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        decode(line)


def test_a_line_that_was_cut_off_is_left_out_and_what_follows_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with Writer(path) as writer:
        writer.write(WINDOW)
    path.write_bytes(path.read_bytes() + encode(WINDOW)[:20].encode())
    with Writer(path) as writer:
        writer.write(Ended("ok"))
    records, notices = read(path)
    assert records == [WINDOW, Ended("ok")]
    assert len(notices) == 1 and "line 2" in notices[0]


def test_bytes_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"\xff\xfe\x00\n" + encode(WINDOW).encode() + b"\n")
    assert read(path)[0] == [WINDOW]


def test_a_session_reads_back_with_what_a_budget_decided(tmp_path: Path) -> None:
    with Writer(tmp_path / "session.jsonl") as writer:
        writer.write(Asked(SPEC.to_json(), "now", "amp-compare"))
        writer.write(Decision("less", 3, 4, 10))
    task = Task("train", "fp32", seed=2)
    with Writer(tmp_path / "runs" / f"{task.name}.jsonl") as writer:
        writer.write(Planned({**task.__dict__, "of a later version": 1}))
    session = read_session(tmp_path)
    assert session.asked == SPEC
    assert (session.spec.blocks, session.spec.seeds, session.spec.epochs) == (3, 4, 10)
    assert [run.task for run in session.runs] == [task]
    assert session.runs[0].status == "incomplete"


def test_a_file_that_does_not_say_its_task_is_left_out_with_a_notice(tmp_path: Path) -> None:
    with Writer(tmp_path / "session.jsonl") as writer:
        writer.write(Asked(Spec("smoke", "cpu", ("fp32",), (), ()).to_json(), "now", "amp-compare run"))
    with Writer(tmp_path / "runs" / "speed-x.jsonl") as writer:
        writer.write(Planned({"arm": "fp32"}))
    session = read_session(tmp_path)
    assert session.runs == () and "speed-x.jsonl is left out" in session.notices[0]


def test_a_folder_without_a_session_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no session"):
        read_session(tmp_path)


def test_names_of_tasks_differ_in_every_field() -> None:
    one = Task("speed", "fp32")
    for field in fields(Task):
        other = {"kind": "train", "settling": True}.get(field.name, 7 if field.type == "int" else "other")
        assert Task(**{**one.__dict__, field.name: other}).name != one.name, field.name
