"""The runner with real processes: what crashes is recorded, what is missing is run, nothing is lost."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from compare import estimate, folders, plan, process, runner, sampling
from compare.analyse import analyse_folder
from compare.errors import UserError
from compare.process import run_task
from compare.records import (
    Decision,
    Ended,
    Environment,
    Epoch,
    Finished,
    Planned,
    Retried,
    Run,
    Session,
    Started,
    Step0,
    Unavailable,
    Window,
    Writer,
    read,
    read_session,
)
from compare.spec import RESNET50, Spec, Task
from compare.watch import Terminal
from compare.worker import REQUEST, Request

PROJECT = Path(__file__).parents[2]
WORK = "tests.compare.tiny:"
SPEC = Spec(
    "smoke",
    "cpu",
    arms=("fp32", "apex-o1"),
    trained=("fp32",),
    repeated=("fp32",),
    workload=WORK + "build",
    batch=8,
    warmup=1,
    windows=1,
    window_steps=2,
    timeout=600.0,
)
AROUND = runner.Surroundings({"gpu": None}, {"apex-o1": "There is no Apex here."}, {})


class Listener:
    """A watcher that keeps what it was told."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.statuses: list[str] = []
        self.sentences: list[str] = []
        self.left: list[float] = []

    def starts(self, number: int, of: int, task: Task) -> None:
        self.started.append(task.name)

    def remaining(self, seconds: float) -> None:
        self.left.append(seconds)

    def progress(self, done: int, total: int, note: str) -> None: ...

    def ended(self, task: Task, ended: Ended) -> None:
        self.statuses.append(ended.status)

    def says(self, sentence: str) -> None:
        self.sentences.append(sentence)


def session(folder: Path, spec: Spec = SPEC) -> tuple[Listener, Session]:
    listener = Listener()
    runner.run(spec, folder, replace(AROUND, begun=time.monotonic()), "amp-compare run", listener)
    return listener, read_session(folder)


def one(folder: Path, fault: str, timeout: float = 600.0, kind: str = "speed") -> tuple[Ended, Run]:
    task = Task(kind, "fp32", workload=WORK + fault, batch=8)  # type: ignore[arg-type]
    ended = run_task(Request(SPEC, task, folder / "runs" / "one.jsonl"), lambda *_: None, timeout)
    records, _ = read(folder / "runs" / "one.jsonl")
    return ended, Run(task, tuple(records))


def processes_with(path: Path) -> list[int]:
    """The processes that hold a file open."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == str(path):
                found.append(int(link.parts[2]))
        except OSError:  # it ended meanwhile, or closed the file
            continue
    return found


def test_a_session_runs_once_and_then_has_nothing_left(tmp_path: Path) -> None:
    listener, found = session(tmp_path)
    assert listener.statuses == ["ok"] * 3
    assert {(run.task.kind, run.task.replica) for run in found.runs} == {("speed", 0), ("speed", 1), ("train", 0)}
    assert all(isinstance(run.records[0], Planned) and run.status == "ok" for run in found.runs)
    assert all(run.last(Started) for run in found.runs)
    assert [(gone.arm, gone.reason) for gone in found.of(Unavailable)] == [("apex-o1", "There is no Apex here.")]
    assert found.of(Finished)[-1].not_run == []
    assert len(listener.left) == 3 and min(listener.left) > 0
    assert list((tmp_path / "runs").glob("*.log")) == [], "the log of a process that ended well is not kept"
    again, found = session(tmp_path)
    assert again.started == []
    assert len(found.of(Environment)) == 2 and len(found.runs) == 3


def test_first_steps_are_made_from_the_weights_of_a_training_which_are_not_kept(tmp_path: Path) -> None:
    spec = replace(SPEC, arms=("fp32", "native-fp16"), trained=("fp32", "native-fp16"), repeated=(), blocks=0, epochs=2)
    spec = replace(spec, trained_again=("native-fp16",), seeds=1, after=1)
    _, found = session(tmp_path, spec)
    assert Counter((run.task.kind, run.status) for run in found.runs) == {("train", "ok"): 2, ("after", "ok"): 3}
    began = {run.task.kind: {run.of(Started)[0].initial_weights} for run in found.runs}
    assert began["after"] != began["train"]
    for run in found.runs:
        assert {run.of(Started)[0].initial_weights} == began[run.task.kind], "not all began with the same weights"
    trained = next(run for run in found.runs if run.task.kind == "train" and run.task.arm == "fp32")
    first = next(run for run in found.runs if run.task.kind == "after" and run.task.arm == "fp32").of(Step0)[0]
    assert first.loss < trained.of(Epoch)[0].first_losses[0] / 2, "the weights are not those of the end"
    assert list((tmp_path / "checkpoints").iterdir()) == []
    native = analyse_folder(tmp_path).arms[1]
    assert [one.baseline for one in native.after] == ["fp32", "native-fp16"]
    assert native.after[1].gradients == 0.0 and (native.after[0].gradients or 0) > 0


def test_a_first_step_without_trained_weights_says_so(tmp_path: Path) -> None:
    ended, _ = one(tmp_path, "build", kind="after")
    assert ended.status == "failed" and "weights that the training with seed 0" in (ended.reason or "")


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        ("crashes", "failed", "RuntimeError: a fault that was built in"),
        ("out_of_memory_at_once", "oom", "CUDA out of memory"),
        ("diverges", "nan", "the loss was nan"),
        ("dies", "failed", "SIGKILL"),
        ("nothing_of_that_name", "failed", "nothing_of_that_name"),
    ],
)
def test_whatever_becomes_of_a_process_is_recorded(tmp_path: Path, fault: str, status: str, words: str) -> None:
    ended, run = one(tmp_path, fault)
    assert ended.status == status and ended.reason is not None and words in ended.reason
    assert "\n" not in ended.reason
    assert run.last(Ended) == ended and ended.seconds is not None
    assert (tmp_path / "runs" / "one.log").exists()


def test_less_is_left_with_each_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_expected", lambda *_: 10.0)
    listener, _ = session(tmp_path)
    assert listener.left == [30.0, 20.0, 10.0]


def test_a_process_that_hangs_is_ended_and_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is up once it has begun, however long that takes on a busy machine."""
    records = tmp_path / "runs" / "one.jsonl"

    def monotonic() -> float:
        begun = records.exists() and '"started"' in records.read_text()
        return time.monotonic() + (1e6 if begun else 0.0)

    monkeypatch.setattr(process, "time", SimpleNamespace(monotonic=monotonic))
    ended, run = one(tmp_path, "hangs", timeout=3600.0)
    assert ended.status == "timeout" and ended.reason == "It took longer than 3600 s and was ended."
    assert run.last(Started) is not None, "what it had recorded is kept"
    assert processes_with(tmp_path / "runs" / "one.jsonl") == [], "a process was left behind"


def test_processes_that_hold_a_file_are_found(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w"):
        assert processes_with(tmp_path / "file") == [os.getpid()]
    assert processes_with(tmp_path / "file") == []


def test_one_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    listener, found = session(tmp_path, replace(SPEC, workload=WORK + "crashes", repeated=()))
    assert listener.statuses == ["failed", "failed"]
    assert found.of(Finished)
    again, _ = session(tmp_path, replace(SPEC, workload=WORK + "crashes", repeated=()))
    assert again.started == [], "a failure is a result: it is not tried again"


def test_what_was_interrupted_runs_again_and_its_records_are_put_aside(tmp_path: Path) -> None:
    session(tmp_path)
    victim = next((tmp_path / "runs").glob("train-*.jsonl"))
    lines = victim.read_text().splitlines(keepends=True)
    victim.write_text("".join(lines[:-1])[:-10])
    listener, found = session(tmp_path)
    assert listener.started == [victim.stem] and listener.statuses == ["ok"]
    assert all(run.status == "ok" for run in found.runs) and len(found.runs) == 3
    assert [path.name for path in (tmp_path / "runs" / "interrupted").iterdir()] == [f"{victim.stem}.1.jsonl"]


def test_a_runner_killed_at_any_moment_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    """A real kill -9 in the middle of a task: its process goes too, and the next start runs the rest."""
    asked = tmp_path / "spec.json"
    asked.write_text(json.dumps(SPEC.to_json()))
    script = (
        "import json, sys; from pathlib import Path; from tests.compare.test_runner import *;"
        "spec = Spec.from_json(json.loads(Path(sys.argv[1]).read_text()));"
        "runner.run(spec, Path(sys.argv[2]), AROUND, '', Listener())"
    )
    folder, scratch = tmp_path / "session", tmp_path / "scratch"
    scratch.mkdir()
    variables = {**os.environ, "TMPDIR": str(scratch)}
    process = subprocess.Popen([sys.executable, "-c", script, str(asked), str(folder)], cwd=PROJECT, env=variables)

    def computes() -> bool:
        """A task has begun and not ended: between two of them there is no scratch folder."""
        begun = any('"started"' in path.read_text() for path in (folder / "runs").glob("*.jsonl"))
        return begun and bool(list(scratch.glob("amp-compare-*")))

    while not computes():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 300
    while list(scratch.glob("amp-compare-*")) or any(map(processes_with, (folder / "runs").glob("*.jsonl"))):
        assert time.monotonic() < deadline, "a process or its scratch folder was left behind"
        time.sleep(0.05)
    before = {run.task.name for run in read_session(folder).runs if run.status == "ok"}
    listener, found = session(folder)
    assert set(listener.started) == {task.name for task in plan.tasks(SPEC, ["fp32"])} - before
    assert all(run.status == "ok" for run in found.runs) and len(found.runs) == 3


def test_a_worker_ends_when_its_input_closes(tmp_path: Path) -> None:
    task = Task("speed", "fp32", workload=WORK + "hangs", batch=8)
    asked = json.dumps(Request(SPEC, task, tmp_path / "one.jsonl").to_json())
    command = [sys.executable, "-m", "compare.worker"]
    variables = {**os.environ, REQUEST: asked}
    process = subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=variables)
    while not (tmp_path / "one.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.02)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=300) != 0


def test_nothing_of_a_search_for_the_largest_batch_outlives_a_kill(tmp_path: Path) -> None:
    """A probe that goes on would hold the GPU's memory; a folder of requests would stay for ever."""
    task = Task("capacity", "fp32", workload=WORK + "hangs", batch=8)
    begun = tmp_path / "begun"
    variables = {**os.environ, REQUEST: json.dumps(Request(SPEC, task, tmp_path / "one.jsonl").to_json())}
    variables["TINY_BEGUN"] = str(begun)
    command = [sys.executable, "-m", "compare.worker"]
    process = subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=variables, start_new_session=True
    )
    while not begun.exists():  # before, a probe would end for the pipe that breaks as it is started
        assert process.poll() is None
        time.sleep(0.05)
    assert len(sampling.members(process.pid)) == 3, "the search, multiprocessing's tracker, the probe"
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 300
    while sampling.members(process.pid):
        assert time.monotonic() < deadline, "a probe was left behind"
        time.sleep(0.05)


def test_no_scratch_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    one(tmp_path, "dies")
    assert not list(scratch.glob("*compare-*"))


def test_what_of_the_machine_is_no_longer_the_same_is_said_at_once(tmp_path: Path) -> None:
    """Not in the report alone, hours later."""
    session(tmp_path, replace(SPEC, trained=(), repeated=()))
    listener = Listener()
    around = replace(AROUND, environment={"gpu": None, "driver": "570.1"}, begun=time.monotonic())
    runner.run(replace(SPEC, trained=(), repeated=()), tmp_path, around, "", listener)
    assert listener.started == [] and any("the driver changed within the session" in one for one in listener.sentences)


# ---------------------------------------------------------------- again


def test_what_failed_is_run_again_on_request_and_its_records_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_BROKEN", "1")
    spec = replace(SPEC, workload=WORK + "broken_by_a_variable", repeated=())
    listener, _ = session(tmp_path, spec)
    assert listener.statuses == ["failed", "failed"]
    monkeypatch.delenv("TINY_BROKEN")
    assert session(tmp_path, spec)[0].started == []
    again = Listener()
    runner.run(spec, tmp_path, replace(AROUND, begun=time.monotonic()), "amp-compare run --retry", again, retry=True)
    assert again.statuses == ["ok", "ok"]
    found = read_session(tmp_path)
    assert [run.status for run in found.runs] == ["ok", "ok"]
    assert [(record.status, record.task) for record in found.of(Retried)] == [
        ("failed", name) for name in again.started
    ]
    kept = sorted(path.name for path in (tmp_path / "runs" / "failed").iterdir())
    assert kept == sorted(f"{name}.1.jsonl" for name in again.started)
    said = [notice for notice in analyse_folder(tmp_path).notices if "was run again, on request" in notice]
    assert len(said) == 2 and "a fault that a variable turned on" in said[0]
    # Nothing is left that failed: asked again, nothing runs.
    third = Listener()
    runner.run(spec, tmp_path, replace(AROUND, begun=time.monotonic()), "", third, retry=True)
    assert third.started == []


def test_a_finished_session_with_failed_runs_is_gone_on_with_on_request(tmp_path: Path) -> None:
    folder = tmp_path / "2026-01-01-cpu-smoke"
    spec = replace(SPEC, workload=WORK + "crashes", repeated=(), trained=())
    session(folder, spec)
    today = date(2026, 1, 2)
    assert folders.choose(tmp_path, spec, None, today).name == "2026-01-02-cpu-smoke"
    assert folders.choose(tmp_path, spec, None, today, retry=True) == folder


# ---------------------------------------------------------------- how long a task may take


@pytest.mark.parametrize(
    ("step", "epochs", "least", "most"),
    [
        # A minute of training may take a quarter of an hour, a T4's hours for a seed five times those.
        (0.005, 30, 900.0, 900.0),
        (1.0, 30, 5 * 390 * 30 * 1.0, 5 * 1.3 * 390 * 30 * 1.0),
    ],
)
def test_a_task_may_take_several_times_what_is_expected(
    tmp_path: Path, step: float, epochs: int, least: float, most: float
) -> None:
    spec = replace(SPEC, workload=RESNET50, batch=128, epochs=epochs, device="cuda")
    first = next(task for task in plan.tasks(spec, ["fp32"]) if task.kind == "speed")
    with Writer(tmp_path / "runs" / f"{first.name}.jsonl") as writer:
        writer.write(Planned(dict(first.__dict__)))
        writer.write(Window(0, [1000 * step] * 2, 1.0, "cuda-events"))
        writer.write(Ended("ok", None, 20.0 + 3 * step))
    with Writer(tmp_path / "session.jsonl") as writer:
        runner._open(spec, tmp_path, AROUND, "", writer)
    seconds = runner._patience(replace(first, kind="train"), spec, read_session(tmp_path), AROUND)
    assert least <= seconds <= most


def test_of_an_own_network_that_never_ran_nothing_is_expected(tmp_path: Path) -> None:
    with Writer(tmp_path / "session.jsonl") as writer:
        runner._open(SPEC, tmp_path, AROUND, "", writer)
    task = Task("train", "fp32", workload=WORK + "build", batch=8)
    assert runner._patience(task, SPEC, read_session(tmp_path), AROUND) == runner.UNKNOWN_PATIENCE


# ---------------------------------------------------------------- budget


def test_a_budget_decides_after_the_first_block_and_stays_decided(tmp_path: Path) -> None:
    spec = replace(SPEC, blocks=4, seeds=4, epochs=40, budget=1e6)
    first = next(task for task in plan.tasks(spec, ["fp32"]) if task.kind == "speed")
    _fabricate(tmp_path / "runs" / f"{first.name}.jsonl", first, seconds=100.0)
    tight = replace(spec, budget=700.0)
    with Writer(tmp_path / "session.jsonl") as writer:
        runner._open(tight, tmp_path, AROUND, "", writer)
        decided = runner._decision(tight, read_session(tmp_path), ["fp32"], 600.0, writer)
        again = runner._decision(tight, read_session(tmp_path), ["fp32"], 1e9, writer)
    assert decided is not None and again == decided
    assert decided.blocks == 3 and decided.seeds == 0, "two more blocks of two tasks leave nothing of 600 s"
    assert len(read_session(tmp_path).of(Decision)) == 1


def test_no_task_is_begun_that_the_budget_has_no_time_for(tmp_path: Path) -> None:
    spec = replace(SPEC, budget=250.0)
    first, second, _ = sorted(plan.tasks(spec, ["fp32"]), key=lambda task: (task.kind, task.replica))
    _fabricate(tmp_path / "runs" / f"{first.name}.jsonl", first, seconds=200.0)
    listener, found = session(tmp_path, spec)
    assert second.name in found.of(Finished)[-1].not_run, "a second one of 200 s does not fit into 250 s"
    assert listener.sentences and "budget" in listener.sentences[0]


def test_a_budget_counts_what_came_before_the_first_task(tmp_path: Path) -> None:
    spec, listener = replace(SPEC, budget=600.0), Listener()
    runner.run(spec, tmp_path, replace(AROUND, begun=time.monotonic() - 599.0), "", listener)
    assert listener.started == [] and len(read_session(tmp_path).of(Finished)[-1].not_run) == 3


def test_training_is_expected_to_take_what_its_arms_steps_took(tmp_path: Path) -> None:
    spec = replace(SPEC, epochs=10, epoch_steps=50)
    first = next(task for task in plan.tasks(spec, ["fp32"]) if task.kind == "speed")
    _fabricate(tmp_path / "runs" / f"{first.name}.jsonl", first, seconds=20.0)
    with Writer(tmp_path / "session.jsonl") as writer:
        runner._open(spec, tmp_path, AROUND, "", writer)
    train = replace(first, kind="train")
    seconds = runner._expected(train, spec, read_session(tmp_path), AROUND)
    assert seconds == pytest.approx(20.0 - 3 * 0.01 + 1.15 * 0.01 * 50 * 10)


def test_of_an_own_network_only_the_start_is_known_before_it_ran() -> None:
    own, known = (replace(Task("speed", "native-fp16"), workload=name) for name in (WORK + "build", RESNET50))
    assert estimate.seconds(own, SPEC, {}) == estimate.START_CPU < estimate.seconds(known, SPEC, {})


def _fabricate(path: Path, task: Task, seconds: float) -> None:
    with Writer(path) as writer:
        writer.write(Planned(dict(task.__dict__)))
        writer.write(Window(0, [10.0, 10.0], 1.0, "host"))
        writer.write(Ended("ok", None, seconds))


# ---------------------------------------------------------------- refusals


def test_a_full_disk_is_one_sentence_and_what_was_written_stays(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    task = Task("speed", "fp32", workload=WORK + "build", batch=8)
    (tmp_path / "runs" / "one.jsonl").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"No space left on device.*goes on where it stopped"):
        run_task(Request(SPEC, task, tmp_path / "runs" / "one.jsonl"), lambda *_: None)


def test_a_disk_that_fills_up_under_a_running_task_is_the_same_sentence(tmp_path: Path) -> None:
    """The process meets the limit, not the runner: a file may grow to 3000 bytes there."""
    limit = tmp_path / "sitecustomize.py"
    limit.write_text(
        "import resource, signal, sys\n"
        "if 'compare.worker' in ' '.join(sys.orig_argv):\n"
        "    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
    )
    task = Task("speed", "fp32", workload=WORK + "build", batch=8)
    script = (
        "from tests.compare.test_runner import *; import sys\n"
        f"try: run_task(Request(SPEC, Task('speed', 'fp32', workload={task.workload!r}, batch=8), Path(sys.argv[1])), "
        "lambda *_: None)\n"
        "except UserError as error: print(error)"
    )
    path = os.pathsep.join([str(tmp_path), str(PROJECT)])
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "one.jsonl")],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert "cannot be written" in done.stdout, done.stdout + done.stderr
    assert "it goes on where it stopped" in done.stdout
    records, _ = read(tmp_path / "one.jsonl")
    assert any(isinstance(record, Planned) for record in records)


def test_a_folder_with_other_settings_is_refused(tmp_path: Path) -> None:
    session(tmp_path, replace(SPEC, arms=(), trained=(), repeated=()))
    with pytest.raises(UserError, match="other settings"):
        session(tmp_path)


def test_a_session_file_that_cannot_be_read_is_refused_and_left(tmp_path: Path) -> None:
    (tmp_path / "session.jsonl").write_text("something else\n")
    with pytest.raises(UserError, match="holds no session"):
        session(tmp_path)
    assert (tmp_path / "session.jsonl").read_text() == "something else\n"


def test_two_runners_do_not_share_a_folder(tmp_path: Path) -> None:
    with folders.alone(tmp_path / "session"):
        script = (
            "import sys; from pathlib import Path; from compare import folders\n"
            "with folders.alone(Path(sys.argv[1])): pass"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "session")], cwd=PROJECT, capture_output=True, text=True
        )
        assert "Another comparison is running" in done.stderr


@pytest.mark.parametrize(
    ("gpu", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "h100-80gb-hbm3"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("Tesla V100-SXM2-16GB", "tesla-v100-sxm2-16gb"),
        (None, "cpu"),
    ],
)
def test_a_folder_is_named_after_the_gpu(gpu: str | None, name: str) -> None:
    assert folders.slug(gpu) == name


def test_an_unfinished_folder_is_gone_on_with_and_a_finished_one_is_not(tmp_path: Path) -> None:
    today, later = date(2026, 11, 21), date(2026, 11, 22)
    folder = folders.choose(tmp_path, SPEC, None, today)
    assert folder == tmp_path / "2026-11-21-cpu-smoke"
    with Writer(folder / "session.jsonl") as writer:
        runner._open(SPEC, folder, AROUND, "", writer)
        assert folders.choose(tmp_path, SPEC, None, later) == folder
        assert folders.choose(tmp_path, replace(SPEC, budget=5.0), None, later) == folder
        other = folders.choose(tmp_path, replace(SPEC, seeds=9), None, today)
        assert other == tmp_path / "2026-11-21-cpu-smoke-2"
        writer.write(Finished("now"))
    assert folders.choose(tmp_path, SPEC, None, later) == tmp_path / "2026-11-22-cpu-smoke"


def test_what_a_budget_cut_is_not_gone_on_with(tmp_path: Path) -> None:
    today, spec = date(2026, 11, 21), replace(SPEC, budget=60.0)
    folder = folders.choose(tmp_path, spec, None, today)
    with Writer(folder / "session.jsonl") as writer:
        runner._open(spec, folder, AROUND, "", writer)
        writer.write(Finished("now", ["speed-x"]))
        assert folders.choose(tmp_path, replace(spec, budget=90.0), None, today) == folder
        assert folders.choose(tmp_path, replace(spec, budget=None), None, today) == folder
        assert folders.choose(tmp_path, spec, None, today) != folder, "its budget is spent"
        writer.write(Decision("The budget allows no training.", 1, 0, 0))
        writer.write(Finished("now", ["speed-x"]))
    assert folders.choose(tmp_path, replace(spec, budget=90.0), None, today) != folder


def test_a_folder_of_another_make_is_passed_over_and_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "2026-11-21-cpu-smoke"
    folder.mkdir()
    line = '{"type":"asked","spec":{"profile":"smoke"},"started":"x","command":"y"}\n'
    (folder / "session.jsonl").write_text(line, encoding="utf-8")
    assert folders.choose(tmp_path, SPEC, None, date(2026, 11, 21)).name == "2026-11-21-cpu-smoke-2"
    with pytest.raises(UserError, match=r"no session of this version.*--out"):
        session(folder)
    assert (folder / "session.jsonl").read_text(encoding="utf-8") == line


def test_training_records_reach_the_file(tmp_path: Path) -> None:
    _, run = one(tmp_path, "build", kind="train")
    assert [epoch.epoch for epoch in run.of(Epoch)] == [1]


def test_the_terminal_says_what_is_left_and_what_the_worker_does() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=180, color_system=None)
    with Terminal(console) as terminal:
        terminal.starts(1, 3, Task("train", "native-fp16", seed=2))
        terminal.remaining(754.0)
        terminal.progress(10, 40, "epoch 2 of [b]30[/b]")
        terminal._bars.refresh()
    shown = out.getvalue()
    assert "about 12 min 34 s left" in shown and "epoch 2 of [b]30[/b]" in shown and "10/40" in shown
