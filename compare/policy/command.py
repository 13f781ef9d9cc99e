"""The command `policy`: print the table, or record the Apex side again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Literal

from rich.console import Console

from ..errors import UserError

Format = Literal["text", "json", "markdown"]


def run(*, dtype: str, only_differences: bool, format: Format, live: bool, record: Path | None) -> int:
    """Print the table to standard output, or write a recording to `record`; 0 when done.

    Raises UserError (exit 2) for an unknown dtype, without torch, and where `live` or `record` finds no Apex.
    """
    if importlib.util.find_spec("torch") is None:
        raise UserError("the policy table needs torch: install the extra [compare]")
    from .table import DTYPES, policy_table

    if dtype not in DTYPES:
        raise UserError(f"--dtype is {dtype}; it can be {' or '.join(DTYPES)}")
    if record is not None:
        return _record(record)
    from . import render

    table = policy_table("live" if live else "recorded", dtype)
    if format == "json":
        sys.stdout.write(render.to_json(table, only_differences=only_differences))
    elif format == "markdown":
        sys.stdout.write(render.to_markdown(table, only_differences=only_differences))
    else:
        render.render_text(table, _console(), only_differences=only_differences)
    return 0


def _console() -> Console:
    console = Console(emoji=False)
    # In a pipe there is no width to keep to: a long row stays one line.
    return console if console.is_terminal else Console(emoji=False, width=240)


def _record(path: Path) -> int:
    if not path.parent.is_dir() or path.is_dir():
        raise UserError(f"--record {path} cannot be written: name a file in a folder that exists")
    from .apex_o1 import record

    side = record(path)
    print(f"{path}: {len(side.ops)} ops under Apex {side.apex} with torch {side.torch}")
    return 0
