"""Trainings run side by side where there are several places, speed tasks never; an interrupt leaves nothing behind."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from compare import runner
from compare.analyse import analyse_folder
from compare.engine import Here, all_of
from compare.errors import UserError
from compare.records import Ended, Planned, read_session
from compare.request import gpus
from compare.spec import Spec, Task
from tests.compare.test_runner import AROUND, SPEC, Listener, processes_with

Span = tuple[str, float, float]


class Spans(Listener):
    """When each task began and ended."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: dict[str, float] = {}
        self.spans: list[Span] = []

    def starts(self, number: int, of: int, task: Task) -> None:
        super().starts(number, of, task)
        self.begun[task.name] = time.monotonic()

    def ended(self, task: Task, ended: Ended) -> None:
        super().ended(task, ended)
        self.spans.append((task.name, self.begun[task.name], time.monotonic()))


def overlapping(spans: list[Span]) -> set[tuple[str, str]]:
    return {(a[0], b[0]) for a in spans for b in spans if a[0] < b[0] and a[1] < b[2] and b[1] < a[2]}


def run(folder: Path, spec: Spec, engine: Here, listener: Listener) -> None:
    runner.run(spec, folder, replace(AROUND, engine=engine, begun=time.monotonic()), "", listener)


# ------------------------------------------------------------------ GPUs of one machine


def test_trainings_run_side_by_side_and_speed_tasks_alone(tmp_path: Path) -> None:
    """The variable that names a GPU is all that a CPU can be given of one."""
    listener = Spans()
    run(tmp_path, replace(SPEC, seeds=3, blocks=2), Here(("0", "1")), listener)
    assert set(listener.statuses) == {"ok"} and len(listener.statuses) == 7
    pairs = overlapping(listener.spans)
    assert pairs and all(one.startswith("train-") and two.startswith("train-") for one, two in pairs)
    session = read_session(tmp_path)
    where = {run.task.name: planned.where for run in session.runs if (planned := run.last(Planned))}
    assert {place for name, place in where.items() if name.startswith("speed-")} == {"GPU 0"}
    assert {place for name, place in where.items() if name.startswith("train-")} == {"GPU 0", "GPU 1"}
    (said,) = [notice for notice in analyse_folder(tmp_path).notices if "side by side" in notice]
    assert "on GPU 0" in said and "on GPU 1" in said and "Speed tasks ran alone" in said


def test_one_place_runs_one_after_the_other_and_says_nothing_of_places(tmp_path: Path) -> None:
    listener = Spans()
    run(tmp_path, replace(SPEC, seeds=2), Here(), listener)
    assert overlapping(listener.spans) == set()
    assert not [notice for notice in analyse_folder(tmp_path).notices if "side by side" in notice]


def test_an_interrupt_ends_all_that_run(tmp_path: Path) -> None:
    spec = replace(SPEC, seeds=2, repeated=(), blocks=0, epochs=100_000)

    def both_train() -> bool:
        texts = [path.read_text() for path in (tmp_path / "runs").glob("train-*.jsonl")]
        return sum('"epoch"' in text for text in texts) == 2

    with interrupted_once(both_train), pytest.raises(KeyboardInterrupt):
        run(tmp_path, spec, Here(("0", "1")), Listener())
    records = list((tmp_path / "runs").glob("train-*.jsonl"))
    assert len(records) == 2
    assert [processes_with(path) for path in records] == [[], []]
    assert all(run.status == "incomplete" for run in read_session(tmp_path).runs)


@contextmanager
def interrupted_once(true: Callable[[], bool]) -> Iterator[None]:
    """Ctrl-C for this process as soon as something is true, not after a time that a busy machine may not keep."""
    over = threading.Event()

    def press() -> None:
        while not true():
            if over.wait(0.05):
                return
        _thread.interrupt_main()

    presser = threading.Thread(target=press)
    # Tests that were started in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    presser.start()
    try:
        yield
    finally:
        over.set()
        presser.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("words", ["", "0,0", "0,one", "0;1", "-1"])
def test_a_wrong_list_of_gpus_is_refused(words: str) -> None:
    with pytest.raises(UserError, match="--gpus takes different numbers"):
        gpus(words, replace(SPEC, device="cuda"))


def test_gpus_and_what_they_do_not_go_with() -> None:
    assert gpus("0, 2,GPU-1a-2b", replace(SPEC, device="cuda")) == ("0", "2", "GPU-1a-2b")
    assert gpus(None, SPEC) == ()
    with pytest.raises(UserError, match="there is none here"):
        gpus("0,1", SPEC)
    with pytest.raises(UserError, match="choose one of them"):
        gpus("0,1", replace(SPEC, device="cuda", processes=2))


# ------------------------------------------------------------------ slots


def finish(number: int, done: list[tuple[int, int]], slot: int) -> None:
    time.sleep(0.02 * (number % 3))
    done.append((number, slot))


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_every_task_has_a_slot_of_its_own(slots: int) -> None:
    done: list[tuple[int, int]] = []
    tasks: list[Callable[[int], None]] = [partial(finish, number, done) for number in range(9)]
    assert all_of(tasks, slots, lambda index: True, threading.Event()) == 9
    assert {number for number, _ in done} == set(range(9))
    assert {slot for _, slot in done} <= set(range(slots))
    if slots == 1:
        assert [number for number, _ in done] == list(range(9))


def test_none_is_begun_that_may_not_start() -> None:
    done: list[tuple[int, int]] = []
    tasks: list[Callable[[int], None]] = [partial(finish, number, done) for number in range(9)]
    assert all_of(tasks, 2, lambda index: index < 4, threading.Event()) == 4
    assert {number for number, _ in done} == {0, 1, 2, 3}


@pytest.mark.parametrize(("slots", "waiting"), [(1, 0), (2, 0), (2, 1)])
def test_an_interrupt_waits_for_all_that_run(slots: int, waiting: int) -> None:
    """Also for the one that was being waited for when the interrupt came."""
    stop, begun, ended = threading.Event(), list[int](), list[int]()

    def slow_to_stop(slot: int) -> None:
        begun.append(slot)
        assert stop.wait(300)
        time.sleep(1)
        ended.append(slot)

    with interrupted_once(lambda: len(begun) == slots), pytest.raises(KeyboardInterrupt):
        all_of([slow_to_stop] * (slots + waiting), slots, lambda index: True, stop)
    assert sorted(ended) == list(range(slots))


def test_the_first_error_is_raised_when_the_others_have_stopped() -> None:
    stop, stopped = threading.Event(), []

    def wrong(slot: int) -> None:
        raise UserError("the disk is full")

    def long(slot: int) -> None:
        assert stop.wait(300)
        stopped.append(slot)

    with pytest.raises(UserError, match="the disk is full"):
        all_of([long, wrong, long, long], 2, lambda index: True, stop)
    assert stopped == [0]
