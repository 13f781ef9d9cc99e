"""Runs scripts under the recorder in forks of one process that has imported torch: a second each becomes a tenth.

    python play.py          requests as JSON lines on stdin: cwd, settings, argv; answers with the exit code

What the fork does is what sitecustomize does in a process of its own; test_command.py runs those.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from migrate.verify.running import RECORDER, Bounds, Run, Settings, Side


def settings(side: Side, tree: Path, **more: Any) -> Settings:
    """Settings for a tree, with its records beside it."""
    asked: dict[str, Any] = {
        "seed": 0, "steps": 50, "device": "cpu", "overflow": 2, "chooses": False, "origin": "/nowhere", **more
    }  # fmt: skip
    return Settings(side=side, tree=str(tree), out=f"{tree}-{side}", **asked)


class Player:
    """The process, and runs in it that look like those of `migrate.verify.running.run`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.verify.play"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    def run(self, command: Sequence[str], settings: Settings, bounds: Bounds, stubs: Path | None = None) -> Run:
        """`command` is ``python SCRIPT ARGUMENTS…``."""
        out = Path(settings.out)
        out.mkdir(parents=True)
        (out / "settings.json").write_text(json.dumps(asdict(settings)))
        request = {"cwd": settings.tree, "out": settings.out, "argv": list(command[1:])}
        with self._lock:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            status = int(self._process.stdout.readline())
        return Run(settings, os.waitstatus_to_exitcode(status), "itself", 0.0)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _child(request: dict[str, Any]) -> None:
    code = 0
    try:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(os.path.join(request["out"], f"{name}.log"), os.O_CREAT | os.O_WRONLY), number)
        os.chdir(request["cwd"])
        sys.argv = request["argv"]
        sys.path.insert(0, request["cwd"])
        import apex2native_recorder

        apex2native_recorder.start(os.path.join(request["out"], "settings.json"))
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        except BaseException as error:
            code = 1
            sys.excepthook(type(error), error, error.__traceback__)
        import atexit

        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(99)
    os._exit(code)


def main() -> None:
    sys.path.insert(0, str(RECORDER))
    import torch
    import torch._dynamo
    import torch.distributed
    import torch.utils.checkpoint
    import torch.utils.data

    torch.set_num_threads(1)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _child(request)
        _, status = os.waitpid(child, 0)
        print(status, flush=True)


if __name__ == "__main__":
    main()
