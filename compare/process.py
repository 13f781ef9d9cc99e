"""One task's process, from its start to a recorded end, whatever becomes of it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from . import home, nvidia
from .errors import UserError
from .records import Ended, Planned, Writer, read
from .sampling import Sampler
from .worker import CANNOT_WRITE, REQUEST, Request

Progress = Callable[[int, int, str], None]

STOPS_WITHIN = 0.5
"""Seconds after which a task that is to stop is ended."""
GRACE = 5.0
"""Seconds between asking a process to end and killing it."""
TAIL = 400
"""Characters of a process's last words that are kept as the reason of its failure."""


@dataclass(frozen=True)
class Nodes:
    """Where the machines of one task meet: torchrun's own rendezvous."""

    count: int
    endpoint: str
    """HOST:PORT of one of them."""
    name: str
    """The same on all of them, and no other task's."""


def run_task(
    request: Request,
    progress: Progress,
    timeout: float | None = None,
    gpu: str | None = None,
    stop: threading.Event | None = None,
    where: str | None = None,
    nodes: Nodes | None = None,
) -> Ended:
    """Run the task in a fresh process (several under torchrun) and return its end.

    A process that crashes, is killed or takes longer than `timeout` seconds gets its end written here.
    What it printed is kept as `<task>.log` unless it ended well. It sees the one GPU that is named, if one is; `where`
    is said of it in the records. Raises UserError where records cannot be written, KeyboardInterrupt once `stop` is
    set.
    """
    stop = stop or threading.Event()
    records, log = request.records, request.records.with_suffix(".log")
    begun = time.monotonic()
    try:
        with Writer(records) as writer:
            writer.write(Planned(_task(request), where=where or (f"GPU {gpu}" if gpu else None)))
        status = _run(request, log, progress, timeout, gpu, stop, nodes)
        ended = next((record for record in reversed(read(records)[0]) if isinstance(record, Ended)), None)
        if status == CANNOT_WRITE:
            raise UserError(_cannot_write(records, _last_words(log)))
        if ended is None:
            ended = _end_of(status, timeout, _last_words(log), time.monotonic() - begun)
            with Writer(records) as writer:
                writer.write(ended)
    except OSError as error:
        raise UserError(_cannot_write(records, error.strerror or str(error))) from error
    if ended.status == "ok":
        log.unlink(missing_ok=True)
    if ended.status in ("ok", "nan", "oom"):
        # What ended otherwise may be run again, and then goes on from it.
        request.checkpoint.unlink(missing_ok=True)
    return ended


def agent(request: Request, nodes: Nodes, timeout: float | None = None) -> int | None:
    """The task's processes on a further machine; the first one's `run_task` tells how it ended. Their exit status, 0
    where the task is recorded as ended well: torchrun fails here where the first machine's, at which all meet, is gone
    before this one has looked after its own processes (RendezvousConnectionError)."""
    log = request.records.with_suffix(f".{os.getpid()}.log")
    log.parent.mkdir(parents=True, exist_ok=True)  # the first machine may come later
    status = _run(request, log, lambda *_: None, timeout, None, threading.Event(), nodes, watched=False)
    if status and _ended_well(request.records):
        status = 0
    if status == 0:
        log.unlink(missing_ok=True)
    return status


def _ended_well(records: Path) -> bool:
    return records.exists() and any(isinstance(one, Ended) and one.status == "ok" for one in read(records)[0])


def _run(
    request: Request,
    log: Path,
    progress: Progress,
    timeout: float | None,
    gpu: str | None,
    stop: threading.Event,
    nodes: Nodes | None,
    watched: bool = True,
) -> int | None:
    """The process's exit status, None if it was ended for its time."""
    with _scratch() as scratch, log.open("wb") as errors:
        process = subprocess.Popen(
            command(request, nodes),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env={**_environment(request, gpu), home.SCRATCH: scratch},
        )
        reader = threading.Thread(target=_follow, args=(process, errors, progress), daemon=True)
        reader.start()
        try:
            with _watched(request, process.pid, gpu) if watched else nullcontext():
                return _wait(process, timeout, stop)
        finally:
            # Also on the way out of an interrupt: nothing of a task is left behind, its grandchildren neither.
            _end(process)
            reader.join(timeout=GRACE)


def _wait(process: subprocess.Popen[bytes], timeout: float | None, stop: threading.Event) -> int | None:
    """The exit status, None once it took too long. Raises KeyboardInterrupt when it is to stop."""
    until = math.inf if timeout is None else time.monotonic() + timeout
    while time.monotonic() < until:
        try:
            return process.wait(timeout=min(STOPS_WITHIN, max(0.0, until - time.monotonic())))
        except subprocess.TimeoutExpired:
            if stop.is_set():
                raise KeyboardInterrupt from None
    return None


@contextmanager
def _watched(request: Request, session: int, gpu: str | None) -> Iterator[None]:
    """Sample the machine while the task runs, into the session's folder `machine/`."""
    path = request.records.parent.parent / "machine" / request.records.name
    path.unlink(missing_ok=True)  # of an attempt that was interrupted
    watched = nvidia.stream(visible=gpu) if request.spec.device == "cuda" else None
    with Writer(path) as writer, Sampler(session, writer.write, watched):
        yield


def _scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for what the task's processes would leave behind where they are killed."""
    return tempfile.TemporaryDirectory(prefix="amp-compare-", ignore_cleanup_errors=True)


def _environment(request: Request, gpu: str | None) -> dict[str, str]:
    """The process's environment variables: as they are, but for what the measurement needs."""
    # What it is asked to do stands there as well: a file would outlive a runner that is killed.
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", REQUEST: json.dumps(request.to_json())}
    if gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = gpu
    if request.spec.device == "cpu":
        # Threads that spin at each barrier make a step eight times as long once another process takes a core.
        environment.setdefault("OMP_WAIT_POLICY", "passive")
    return environment


def command(request: Request, nodes: Nodes | None = None) -> list[str]:
    """The command line of a task's process."""
    worker = home.module("worker")
    if request.spec.world == 1:
        return [sys.executable, *worker]
    torchrun = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={request.spec.processes}"]
    if nodes is None:
        return [*torchrun, "--standalone", *worker]
    meeting = ["--rdzv-backend=c10d", f"--rdzv-endpoint={nodes.endpoint}", f"--rdzv-id={nodes.name}"]
    return [*torchrun, f"--nnodes={nodes.count}", *meeting, *worker]


def _follow(process: subprocess.Popen[bytes], log: object, progress: Progress) -> None:
    """Pass on what the process says of its progress; anything else it prints goes to its log."""
    assert process.stdout is not None
    for line in process.stdout:
        try:
            said = json.loads(line)
            progress(int(said["done"]), int(said["total"]), str(said["note"]))
        except (ValueError, KeyError, TypeError):
            log.write(line)  # type: ignore[attr-defined]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all it started, by force where asking is not enough."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        if process.poll() is None:
            try:
                process.wait(timeout=GRACE)
            except subprocess.TimeoutExpired:
                continue
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def _end_of(status: int | None, timeout: float | None, words: str, seconds: float) -> Ended:
    """The end of a process that did not write its own."""
    if status is None:
        return Ended("timeout", f"It took longer than {timeout or seconds:.0f} s and was ended.", seconds)
    if status < 0:
        name = signal.Signals(-status).name
        hint = " (the system may have run out of memory)" if name == "SIGKILL" else ""
        return Ended("failed", f"It was ended by {name}{hint}.", seconds)
    return Ended("failed", f"It ended with status {status}. {words}".strip(), seconds)


def _last_words(log: Path) -> str:
    """The end of what the process printed, on one line."""
    text = log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""
    return " / ".join(text.splitlines()[-3:])[-TAIL:]


def _cannot_write(path: Path, why: str) -> str:
    return (
        f"The records of the comparison cannot be written to {path} ({why}): make room, then start it again; "
        "it goes on where it stopped."
    )


def _task(request: Request) -> dict[str, object]:
    task: dict[str, object] = request.to_json()["task"]
    return task
