"""One task in its own process: `python -m compare.worker`, started by the runner with its request in the environment.

Records go to the task's file, messages of progress to standard output as JSON, everything else to standard
error. Under torchrun every process runs this, and the first one writes. The process ends when the runner's end
of its standard input closes, so that none outlives a runner that was killed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
import traceback
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import UserError
from .home import SCRATCH
from .records import Ended, Record, Status, Writer
from .spec import Spec, Task

REQUEST = "AMP_COMPARE_REQUEST"
"""Variable of the environment that holds the request."""
_GONE = threading.Event()
"""Set once the runner is gone."""
CANNOT_WRITE = 73  # EX_CANTCREAT: the records cannot be written, which no later task would fare better with


@dataclass(frozen=True)
class Request:
    """What a process is asked to do."""

    spec: Spec
    task: Task
    records: Path
    cache: Path | None = None

    @property
    def checkpoint(self) -> Path:
        """Where a training keeps what it needs to go on."""
        return self.records.parent.parent / "checkpoints" / f"{self.records.stem}.pt"

    @property
    def weights(self) -> Path:
        """Where the weights that a training ended with are kept for `after`."""
        return self.records.parent.parent / "checkpoints" / f"weights-s{self.task.seed}.pt"

    def to_json(self) -> dict[str, Any]:
        return {
            "spec": self.spec.to_json(),
            "task": asdict(self.task),
            "records": str(self.records),
            "cache": str(self.cache) if self.cache else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Request:
        cache = data["cache"]
        return cls(
            Spec.from_json(data["spec"]),
            Task.from_json(data["task"]),
            Path(data["records"]),
            Path(cache) if cache else None,
        )


def main() -> int:
    """Run the task; 0 when its end is recorded, whatever it was."""
    threading.Thread(target=_end_with_the_runner, daemon=True).start()
    request = Request.from_json(json.loads(os.environ.pop(REQUEST)))
    if int(os.environ.get("RANK", "0")) == 0:
        try:
            with Writer(request.records) as writer:
                status = _recorded(request, writer)
            if request.spec.world == 1:  # else others may still need it
                _clear_up()
            return status
        except OSError as error:
            print(f"{request.records} cannot be written: {error.strerror}.", file=sys.stderr)
            return CANNOT_WRITE
    # The first process tells how it ended; the others fail for torchrun to see.
    _run(request, lambda record: None, lambda done, total, note: None)
    return 0


def _recorded(request: Request, writer: Writer) -> int:
    begun = time.monotonic()
    status, reason = _outcome(request, writer)
    if _GONE.is_set():
        # What failed now failed because the runner's end takes everything down.
        _leave()
    from . import env

    writer.write(Ended(status, reason, time.monotonic() - begun, env.gpu_state()))
    return 0


def _outcome(request: Request, writer: Writer) -> tuple[Status, str | None]:
    """Run the task and say how it ended. Raises OSError where a record cannot be written."""
    from .measure.memory import out_of_memory
    from .tasks.prepared import NotFinite

    try:
        _run(request, _guarded(writer), _tell)
    except _CannotWrite as error:
        raise error.error from error
    except NotFinite as error:
        return "nan", str(error)
    except UserError as error:
        return "failed", str(error)
    except Exception as error:
        if out_of_memory(error):
            return "oom", _first_line(error)
        traceback.print_exc()
        return "failed", f"{type(error).__name__}: {_first_line(error)}"
    return "ok", None


def _run(request: Request, emit: Any, tell: Any) -> None:
    import torch
    import torch.distributed as dist

    from .tasks import after, capacity, speed, train
    from .tasks.checkpoint import Checkpoint
    from .tasks.prepared import Place, prepare

    place = Place.of_environment(request.spec)
    if request.task.kind == "capacity":
        capacity.run(request.spec, request.task, place, request.cache, emit, tell)
        return
    if place.world > 1:
        if place.device.type == "cuda":
            torch.cuda.set_device(place.device)
        dist.init_process_group("nccl" if place.device.type == "cuda" else "gloo")
    try:
        weights = request.weights if request.task.kind == "after" else None
        prepared = prepare(request.spec, request.task, place, request.cache, weights)
        with closing(prepared.job):
            emit(prepared.started)
            if request.task.kind == "speed":
                speed.run(prepared, emit, tell)
            elif request.task.kind == "after":
                after.run(prepared, emit, tell)
            else:
                train.run(prepared, emit, tell, Checkpoint(request.checkpoint))
                after.keep_weights(prepared, request.weights)
        prepared.enforce_switches()
    finally:
        if place.world > 1:
            dist.destroy_process_group()


class _CannotWrite(Exception):
    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


def _guarded(writer: Writer) -> Any:
    """Writing records, its failures told apart from the task's own."""

    def emit(record: Record) -> None:
        try:
            writer.write(record)
        except OSError as error:
            raise _CannotWrite(error) from error

    return emit


def _tell(done: int, total: int, note: str) -> None:
    try:
        print(json.dumps({"done": done, "total": total, "note": note}), flush=True)
    except OSError:
        # Nobody reads: the runner is gone, which is no fault of the task.
        _leave()


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _end_with_the_runner() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    _leave()


def _leave() -> None:
    """End at once, as a task that was interrupted: without a recorded end it runs again."""
    _GONE.set()
    _clear_up()
    os._exit(70)


def _clear_up() -> None:
    """Remove the task's scratch folder: a runner that was killed cannot."""
    shutil.rmtree(os.environ.get(SCRATCH, ""), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
