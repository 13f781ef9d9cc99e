"""A session's tasks as jobs of a Slurm cluster, through submitit. The session's folder has to lie where all nodes see
it.

What runs on a node is `process.run_task`, so that time limits, samples of the machine and records are those of any
session. submitit's local executor runs the same jobs on this machine, to try it.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .errors import UserError
from .process import Nodes, Progress, agent, run_task
from .records import Ended, Planned, Writer, read
from .worker import Request

Cluster = Literal["slurm", "local"]
POLL = 2.0
"""Seconds between two looks at a job."""
SPARE_MIN = 10
"""Minutes that a job may take beyond its task's limit: to start, and to write down that it was ended."""
PORT = 29_400


@dataclass(frozen=True)
class Jobs:
    """A cluster; `side_by_side` trainings are queued at a time."""

    cluster: Cluster
    folder: Path
    """Of submitit's own files, one set a job."""
    side_by_side: int = 8
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Slurm's, such as partition and account."""

    def run(
        self, request: Request, progress: Progress, timeout: float | None, slot: int, stop: threading.Event
    ) -> Ended:
        """As `engine.Engine.run`: a job that is lost gets its end written here."""
        begun = time.monotonic()
        alone = {"exclusive": True} if request.task.kind == "speed" else {}
        job = self._submit(request, timeout, alone, on_node, request.to_json(), timeout)
        self._wait(job, progress, stop)
        found = [record for record in read(request.records)[0] if isinstance(record, Ended)]
        if found:
            return found[-1]
        ended = Ended("failed", f"Job {job.job_id} was lost. {_why(job)}".strip(), time.monotonic() - begun)
        with Writer(request.records) as writer:
            if not read(request.records)[0]:
                writer.write(Planned(request.to_json()["task"]))
            writer.write(ended)
        return ended

    def call(self, function: Callable[[], Any]) -> Any:
        """The function's result on a node: what there is, is found out where it will be used. Raises UserError."""
        job = self._submit(None, 600.0, {}, function)
        self._wait(job, lambda *_: None, threading.Event())
        try:
            return job.result()
        except Exception as error:
            raise UserError(f"The look at a node failed: {_why(job)} ({error})".replace("\n", " ")[:600]) from error

    def _submit(
        self, request: Request | None, timeout: float | None, more: Mapping[str, Any], function: Any, *arguments: Any
    ) -> Any:
        submitit = _submitit()
        try:
            executor = submitit.AutoExecutor(folder=self.folder / "%j", cluster=self.cluster)
            spec = request.spec if request else None
            executor.update_parameters(
                name="amp-compare",
                timeout_min=math.ceil((timeout or 3600.0) / 60) + SPARE_MIN,
                nodes=spec.nodes if spec else 1,
                gpus_per_node=spec.processes if spec and spec.device == "cuda" else 0 if self.cluster == "local" else 1,
                tasks_per_node=1,
            )
            if self.cluster == "slurm":
                executor.update_parameters(**{f"slurm_{key}": value for key, value in {**self.parameters,
                **more}.items()})
            return executor.submit(function, *arguments)
        except Exception as error:  # submitit raises of many kinds: no sbatch, a parameter it does not know, a refusal
            raise UserError(f"No job could be handed to {self.cluster}: {error}".replace("\n", " ")[:600]) from error

    def _wait(self, job: Any, progress: Progress, stop: threading.Event) -> None:
        while not job.done():
            progress(0, 0, f"job {job.job_id}: {str(job.state).lower()}")
            if stop.wait(POLL if self.cluster == "slurm" else 0.1):
                with suppress(Exception):  # a cluster that does not answer: the job ends by its own limit
                    job.cancel()
                raise KeyboardInterrupt


def interruptible() -> None:
    """For jobs of this machine, which are ended by SIGINT: a process that was started in the background ignores it, and
    so would all that it starts. From here on it does nothing to this process, and others begin with the default."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)


def on_node(asked: dict[str, Any], timeout: float | None) -> str:
    """On a node: run the task; on the further nodes of a task that has several, the processes it has there."""
    request = Request.from_json(asked)
    here = _submitit().JobEnvironment()
    nodes = None
    if request.spec.nodes > 1:
        nodes = Nodes(request.spec.nodes, f"{here.hostnames[0]}:{PORT + int(here.job_id) % 1000}", str(here.job_id))
        if here.node > 0:
            return f"node {here.node} ended with status {agent(request, nodes, timeout)}"
    ended = run_task(request, lambda *_: None, timeout, where=f"job {here.job_id}", nodes=nodes)
    return ended.status


def machine() -> Any:
    """On a node: `env.inspect_machine()`."""
    from .env import inspect_machine

    return inspect_machine()


def parameters(words: str | None) -> dict[str, str]:
    """Slurm's parameters from `partition=gpu,account=x`. Raises UserError."""
    found = {}
    for word in words.split(",") if words else ():
        key, equals, value = word.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise UserError(f"--slurm takes parameters such as partition=gpu,account=mine, not {words!r}.")
        found[key.strip().replace("-", "_")] = value.strip()
    return found


def _why(job: Any) -> str:
    """The last line that the job printed, or its state."""
    try:
        said = (job.stderr() or "").strip().splitlines()
    except Exception:
        said = []
    return f"{job.state}: {said[-1]}" if said else str(job.state)


def _submitit() -> Any:
    try:
        import submitit
    except ImportError:
        raise UserError("submitit cannot be imported: install the extra with pip install '.[cluster]'.") from None
    return submitit
