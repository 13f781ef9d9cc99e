"""The exceptions that end a run, or the work on one file, on purpose."""

from __future__ import annotations


class UserError(Exception):
    """A wrong call or a refusal: its text is the one sentence the user reads, the exit code is 2."""


class Tangled(Exception):
    """A file would take more time or memory than one is worth; its text is what there is too much of."""


def reason(error: OSError) -> str:
    """What the operating system said, without the error number and the path."""
    return (error.strerror or type(error).__name__).lower()
