"""The record of one process: events as JSON lines, and where in the user's code each came from."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from typing import Any

MARK = "apex2native_loss_scale"  # on the node of the graph that multiplied a loss by its scale


class PerThread(threading.local):
    """Regions and calls are nested per thread, as in torch."""

    def __init__(self) -> None:
        self.regions: list[str] = []  # the type of each autocast region, "" where it is switched off
        self.in_module = False
        self.in_loss = False
        self.in_backward = False
        self.in_scaler = 0


class Recorder:
    """Writes events; knows the optimizers by number; ends the process after so many steps."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.here = PerThread()
        self.optimizers: list[Any] = []
        self.steps = 0
        self.backwards = 0
        self.scale = 1.0  # the loss scale that was last seen
        self.apex_casts: Any = lambda module: False
        self.loss_casts: Any = lambda: False
        self.dynamic = True  # whether the loss scale that was last seen moves
        self.overflowed = False
        self.disturbed: set[int] = set()
        self._root = os.path.realpath(settings["tree"]) + os.sep
        self._pid = 0
        self._stream: Any = None

    # -- writing

    def tell(self, event: str, **data: Any) -> None:
        """One line of the record."""
        if self._pid != os.getpid():  # the first event of this process, which may be a fork
            self._pid = os.getpid()
            name = f"{self._pid}-{os.urandom(3).hex()}.jsonl"
            self._stream = open(os.path.join(self.settings["out"], name), "w", encoding="utf-8")  # noqa: SIM115
        self._stream.write(json.dumps({"e": event, **data}) + "\n")

    def problem(self, sentence: str, trace: str) -> None:
        """Why nothing can be recorded."""
        self.tell("problem", text=sentence, trace=trace)
        self.flush()

    def flush(self) -> None:
        if self._stream is not None and self._pid == os.getpid():
            self._stream.flush()

    def end(self, why: str) -> None:
        """The last event: why, and what was imported from the user's own tree instead of the copy."""
        origin = os.path.realpath(self.settings["origin"]) + os.sep
        files = {name: getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items())}
        foreign = sorted(
            name
            for name, file in files.items()
            if os.path.realpath(file).startswith(origin) and self.inside(file) is None and not _installed(file)
        )
        if foreign:
            self.tell("foreign", modules=foreign[:50])
        self.tell("end", why=why)
        self.flush()

    # -- where

    def where(self) -> list[Any] | None:
        """File, line and function of the user's code that we are in: of the innermost frame in the tree."""
        frame = sys._getframe(1)
        while frame is not None:
            name = self.inside(frame.f_code.co_filename)
            if name is not None:
                return [name, frame.f_lineno, frame.f_code.co_name]
            frame = frame.f_back  # type: ignore[assignment]
        return None

    def inside(self, file: str) -> str | None:
        """The file's path within the tree, None outside of it."""
        path = os.path.realpath(file) if not file.startswith("<") else file
        return path[len(self._root) :] if path.startswith(self._root) else None

    # -- optimizers and casts

    def number(self, optimizer: Any) -> int:
        """Which optimizer this is, also through wrappers; -1 for one that nobody made."""
        for name in ("optim", "optimizer", "_optimizer"):
            if not any(known is optimizer for known in self.optimizers):
                optimizer = getattr(optimizer, name, optimizer)
        for index, known in enumerate(self.optimizers):
            if known is optimizer:
                return index
        return -1

    def region(self) -> str:
        """The type of the innermost autocast region, "" outside."""
        return self.here.regions[-1] if self.here.regions else ""

    # -- scaling

    def mark(self, tensor: Any, scale: float) -> None:
        """Remember in the graph that this tensor is a loss times ``scale``."""
        self.scale = scale
        node = getattr(tensor, "grad_fn", None)
        if node is not None:
            node.metadata[MARK] = scale

    def scale_below(self, roots: Any) -> float | None:
        """The scale that was multiplied into what is differentiated now, if any."""
        todo = [root.grad_fn for root in roots if getattr(root, "grad_fn", None) is not None]
        seen = set(todo)
        # The mark lies at the end of the graph: whoever looks further goes through the whole network.
        for _ in range(200):
            if not todo:
                break
            node = todo.pop(0)
            if MARK in node.metadata:
                return float(node.metadata[MARK])
            for below, _unused in node.next_functions:
                if below is not None and below not in seen:
                    seen.add(below)
                    todo.append(below)
        return None

    # -- steps

    def stepped(self, **data: Any) -> None:
        """One step, taken or skipped; the last one that was asked for ends the process."""
        self.tell("step", n=self.steps, **data)
        self.flush()
        self.steps += 1
        if self.settings["steps"] and self.steps >= self.settings["steps"]:
            self.end("steps")
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(0)


def _installed(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file


def plain(value: Any) -> Any:
    """A number as JSON can say it."""
    try:
        number = float(value)
    except Exception:
        return None
    return number if math.isfinite(number) else repr(number)
