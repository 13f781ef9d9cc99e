"""Long diffs go through the user's pager, as git's do; only where standard output is a terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

_NONE = ("", "cat")
_FOR_A_SHELL = frozenset("|&;<>()$`*?[#~=")  # as git decides it


@contextmanager
def paged(wanted: bool) -> Iterator[IO[str]]:
    """A stream for what is to be paged: the pager's, or standard output where there is none.

    ``PAGER`` says which (less), empty or ``cat`` for none. less gets ``FRX`` as git gives it: it ends by itself where
    all fits on the screen, and shows colours. Who leaves the pager has seen enough: nothing is raised."""
    process = _start() if wanted and sys.stdout.isatty() else None
    if process is None or process.stdin is None:
        yield sys.stdout
        return
    try:
        with suppress(BrokenPipeError):
            yield process.stdin
    finally:
        with suppress(OSError):
            process.stdin.close()
        _wait(process)


def _start() -> subprocess.Popen[str] | None:
    command = os.environ.get("PAGER", "less")
    if command.strip() in _NONE or os.environ.get("TERM") == "dumb":
        return None
    sys.stdout.flush()
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    try:
        words = ["sh", "-c", command] if _FOR_A_SHELL & set(command) else shlex.split(command)
        return subprocess.Popen(
            words, stdin=subprocess.PIPE, env=environment, text=True, errors="backslashreplace"
        )
    except (OSError, ValueError):  # no such program, or no command at all: what it would show is shown without it
        return None


def _wait(process: subprocess.Popen[str]) -> None:
    """Ctrl-C is the pager's own while it runs."""
    while True:
        try:
            process.wait()
            return
        except KeyboardInterrupt:
            continue
