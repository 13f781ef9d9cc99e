"""A session's tasks as jobs: submitit's local executor runs them for real, Slurm is a double that keeps what it is
given."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("submitit", reason="submitit is not installed")

from compare import cluster, runner
from compare.analyse import analyse_folder
from compare.cluster import Jobs, parameters
from compare.errors import UserError
from compare.process import Nodes, agent, command, run_task
from compare.records import Ended, Epoch, Planned, Started, Status, Writer, read, read_session
from compare.spec import Task
from compare.worker import Request
from tests.compare.doubles import fake_slurm
from tests.compare.test_engine import Spans, overlapping
from tests.compare.test_runner import AROUND, PROJECT, SPEC, WORK, Listener, processes_with
from tests.effort import long


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job finds this package where it is run from, as in a clone."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))


# ------------------------------------------------------------------ jobs that run


def test_a_session_of_jobs_has_the_records_of_any_other_and_is_gone_on_with(tmp_path: Path) -> None:
    spec, engine, listener = replace(SPEC, seeds=2, repeated=()), Jobs("local", tmp_path / "jobs", 2), Spans()
    around = replace(AROUND, engine=engine, begun=time.monotonic())
    runner.run(spec, tmp_path, around, "", listener)
    assert listener.statuses == ["ok"] * 3
    assert all(one.startswith("train-") for one, _ in overlapping(listener.spans))
    session = read_session(tmp_path)
    places = [planned.where for run in session.runs if (planned := run.last(Planned))]
    assert len(set(places)) == 3 and all(place and place.startswith("job ") for place in places)
    assert session.samples.keys() == {run.task.name for run in session.runs}, "the node was watched as well"
    again = Listener()
    runner.run(spec, tmp_path, replace(around, begun=time.monotonic()), "", again)
    assert again.started == []
    assert analyse_folder(tmp_path).complete


def test_a_job_that_is_lost_is_a_recorded_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "on_node", _exits)
    task = Task("speed", "fp32", workload=WORK + "build", batch=8)
    request = Request(SPEC, task, tmp_path / "runs" / "one.jsonl")
    ended = Jobs("local", tmp_path / "jobs").run(request, lambda *_: None, 600.0, 0, threading.Event())
    assert ended.status == "failed" and ended.reason is not None and "was lost" in ended.reason
    records, _ = read(request.records)
    assert isinstance(records[0], Planned) and records[-1] == ended


def _exits(*_: object) -> None:
    os._exit(3)


def test_an_interrupt_takes_the_job_back(tmp_path: Path) -> None:
    task = Task("speed", "fp32", workload=WORK + "hangs", batch=8)
    request, stop = Request(SPEC, task, tmp_path / "runs" / "one.jsonl"), threading.Event()

    def stops_once_begun(done: int, total: int, note: str) -> None:
        if request.records.exists() and '"started"' in request.records.read_text():
            assert processes_with(request.records)
            stop.set()

    cluster.interruptible()  # the tests may have been started in the background
    with pytest.raises(KeyboardInterrupt):
        Jobs("local", tmp_path / "jobs").run(request, stops_once_begun, 3600.0, 0, stop)
    deadline = time.monotonic() + 300
    while processes_with(request.records):
        assert time.monotonic() < deadline, "the task outlived its job"
        time.sleep(0.2)
    assert not [record for record in read(request.records)[0] if isinstance(record, Ended)]


@long
def test_a_session_that_was_started_in_the_background_takes_its_jobs_back(tmp_path: Path) -> None:
    """A shell lets what it starts with `&` ignore Ctrl-C, and a job of this machine would go on for ever."""
    words = ["--profile", "smoke", "--arms", "fp32", "--workload", "tests.compare.tiny:hangs", "--batch", "8"]
    command = [sys.executable, "-m", "compare", "run", *words, "--engine", "local", "--out", str(tmp_path / "session")]
    ignoring = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    ignoring += "os.execv(sys.argv[1], sys.argv[1:])"
    without_gpu = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    process = subprocess.Popen([sys.executable, "-c", ignoring, *command], cwd=PROJECT, env=without_gpu)
    runs = tmp_path / "session" / "runs"
    while not (begun := [path for path in runs.glob("*.jsonl") if '"started"' in path.read_text()]):
        assert process.poll() is None
        time.sleep(0.1)
    assert processes_with(begun[0])
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None, "it ignores Ctrl-C as it was told to"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) == 130
    deadline = time.monotonic() + 300
    while processes_with(begun[0]):
        assert time.monotonic() < deadline, "the task outlived its job"
        time.sleep(0.2)


def test_the_machine_is_looked_at_where_tasks_will_run(tmp_path: Path) -> None:
    device, environment = Jobs("local", tmp_path / "jobs").call(cluster.machine)
    assert device == "cpu" and environment["python"]


def test_the_whole_command_with_jobs(tmp_path: Path) -> None:
    words = ["--profile", "smoke", "--arms", "fp32", "--workload", "tests.compare.tiny:build", "--batch", "8"]
    done = subprocess.run(
        [sys.executable, "-m", "compare", "run", *words, "--engine", "local", "--out", str(tmp_path / "session")],
        cwd=PROJECT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "session" / "results.json").read_text())["complete"] is True


# ------------------------------------------------------------------ what Slurm is asked for


def test_slurm_is_asked_for_what_a_task_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "submission.sh"
    monkeypatch.setenv("PATH", f"{fake_slurm(tmp_path / 'bin', kept)}{os.pathsep}{os.environ['PATH']}")
    jobs = Jobs("slurm", tmp_path / "jobs", parameters={"partition": "gpu", "account": "mine"})
    request = Request(replace(SPEC, device="cuda", processes=4, nodes=2), Task("speed", "fp32"), tmp_path / "one.jsonl")
    stop = threading.Event()
    stop.set()
    monkeypatch.setattr(cluster, "POLL", 0.01)
    with pytest.raises(KeyboardInterrupt):
        jobs.run(request, lambda *_: None, 1000.0, 0, stop)
    asked = kept.read_text()
    for line in ("--partition=gpu", "--account=mine", "--nodes=2", "--gpus-per-node=4", "--exclusive", "--time=27"):
        assert f"#SBATCH {line}" in asked, line


def test_without_slurm_it_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    request = Request(SPEC, Task("speed", "fp32"), tmp_path / "one.jsonl")
    with pytest.raises(UserError, match="No job could be handed to slurm"):
        Jobs("slurm", tmp_path / "jobs").run(request, lambda *_: None, 10.0, 0, threading.Event())


def test_parameters() -> None:
    assert parameters("partition=gpu, gpus-per-node=2") == {"partition": "gpu", "gpus_per_node": "2"}
    assert parameters(None) == {}
    with pytest.raises(UserError, match="--slurm takes parameters such as"):
        parameters("gpu")


# ------------------------------------------------------------------ a task on two machines


def test_two_agents_meet_and_train_one_model(tmp_path: Path) -> None:
    """Both on this machine, over the loopback and gloo: what two machines do, but for the wire."""
    port = free_port()
    spec = replace(SPEC, nodes=2, epochs=2)
    task = Task("train", "native-fp16", workload=WORK + "build", batch=8)
    request = Request(spec, task, tmp_path / "runs" / f"{task.name}.jsonl")
    nodes = Nodes(2, f"127.0.0.1:{port}", "two")
    second: list[int | None] = []
    other = threading.Thread(target=lambda: second.append(agent(request, nodes, 600.0)))
    other.start()
    ended = run_task(request, lambda *_: None, 600.0, nodes=nodes)
    other.join()
    assert ended.status == "ok" and second == [0]
    records, _ = read(request.records)
    assert [record.world for record in records if isinstance(record, Started)] == [2]
    assert [record.steps for record in records if isinstance(record, Epoch)] == [4, 4]


@pytest.mark.parametrize(("recorded", "status"), [("ok", 0), ("failed", 1), (None, 1)])
def test_a_further_machine_that_lost_the_first_goes_by_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: Status | None, status: int
) -> None:
    """torchrun ends with 1 where the one at which all meet has left before."""
    monkeypatch.setattr("compare.process.command", lambda request, nodes: [sys.executable, "-c", "raise SystemExit(1)"])
    request = Request(replace(SPEC, nodes=2), Task("speed", "fp32"), tmp_path / "runs" / "one.jsonl")
    if recorded is not None:
        with Writer(request.records) as writer:
            writer.write(Ended(recorded, "", 1.0))
    assert agent(request, Nodes(2, "127.0.0.1:1", "two"), 60.0) == status
    assert bool(list((tmp_path / "runs").glob("*.log"))) is bool(status)


def free_port() -> int:
    """One that nobody listens on, below those that connections are given by chance: another process of the tests would
    else be given it before the agents are there."""
    for port in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def test_several_machines_meet_by_torchruns_own_rendezvous() -> None:
    request = Request(replace(SPEC, processes=4, nodes=2), Task("speed", "fp32"), Path("one.jsonl"))
    words = command(request, Nodes(2, "node1:29400", "job7"))
    assert {"--nnodes=2", "--nproc-per-node=4", "--rdzv-endpoint=node1:29400", "--rdzv-id=job7"} <= set(words)
    assert "--standalone" in command(replace(request, spec=replace(SPEC, processes=2)))
