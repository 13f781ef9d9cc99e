"""How a process begins and ends."""

from __future__ import annotations

import atexit
import os
import platform
import sys
import time
from typing import Any

from .record import Recorder


def tell_the_start(torch: Any, recorder: Recorder, apex: str) -> None:
    """Who this process is."""
    recorder.tell(
        "start",
        argv=[recorder.inside(os.path.abspath(word)) or word for word in sys.argv[:1]] + sys.argv[1:],
        rank=int(os.environ.get("RANK", "0")),
        begun=time.time(),
        python=platform.python_version(),
        torch=torch.__version__,
        device=recorder.settings["device"],
        apex=apex,
    )
    recorder.flush()


def record(recorder: Recorder) -> None:
    """An exception that nobody catches, with its place in the user's code; and the end."""
    usual = sys.excepthook

    def told(kind: Any, error: Any, trace: Any) -> None:
        places, last = [], ""
        while trace is not None:
            last = trace.tb_frame.f_globals.get("__name__", "")
            name = recorder.inside(trace.tb_frame.f_code.co_filename)
            if name is not None:
                places.append([name, trace.tb_lineno, trace.tb_frame.f_code.co_name])
            trace = trace.tb_next
        recorder.tell("raised", kind=kind.__name__, text=str(error)[:2000], at=places[-1] if places else None,
                      name=getattr(error, "name", None), file=_file(error), starting=last == "subprocess")  # fmt: skip
        recorder.flush()
        usual(kind, error, error.__traceback__)

    sys.excepthook = told

    def ended() -> None:
        recorder.end("exit")

    atexit.register(ended)


def _file(error: Any) -> Any:
    name = getattr(error, "filename", None)
    return os.fspath(name) if isinstance(name, (str, os.PathLike)) else None
