"""What whoever calls the tool sees of it: its standard streams, which may be closed or break, and its exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from . import harmless

PROGRAM = "apex2native"
DONE, PENDING, FAILED = 0, 1, 2


def open_streams() -> None:
    """Where the caller closed a standard stream nothing is printed, and no file takes its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # open as long as the program runs


def complain(sentence: str) -> None:
    """Say on standard error what went wrong."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        print_error(f"{PROGRAM}: {harmless.line(sentence)}\n")


def print_error(text: str) -> None:
    """Write to standard error at once."""
    sys.stderr.write(text)
    sys.stderr.flush()


def close_output() -> None:
    """Nothing may be flushed into the broken pipe when the interpreter ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
