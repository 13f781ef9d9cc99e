"""What this package is called and where it lies, for the processes that it starts of itself.

It is ``compare`` in a clone and ``apex2native.compare`` where the project is installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

PACKAGE = __name__.rpartition(".")[0]
FOLDER = Path(__file__).resolve().parents[PACKAGE.count(".") + 1]
"""What has to be on ``sys.path`` for the package to be found (an editable install finds it by itself)."""


def module(name: str) -> list[str]:
    """The words behind the interpreter that run this package's module ``name``."""
    return ["-m", f"{PACKAGE}.{name}"]


def process(name: str) -> list[str]:
    """The command line that runs this package's module ``name`` in a process of its own."""
    return [sys.executable, *module(name)]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's variables, ``more`` of them, and this package on ``PYTHONPATH``."""
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, **(more or {})}

SCRATCH = "AMP_COMPARE_SCRATCH"
"""Variable of a task's environment that names a folder for temporary files, which is removed when the task has ended,
in whatever way: what is killed cannot tidy up behind it."""
