"""``apex2native convert-checkpoint``: arguments, and what is printed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import harmless
from ..arguments import Once, Parser, by
from ..errors import UserError
from . import files
from .convert import convert
from .steps import Options, Step

DONE = 0

_DESCRIPTION = """\
Convert what Apex saved in a checkpoint into what the migrated code loads: amp's state, FP16_Optimizer, the states of
fused optimizers. Everything else stays as it is. IN is never written; OUT is written as a whole or not at all.
"""
_EPILOG = """\
What the file does not say: whether the loss scale was static (--static), and how many backwards went into a step
(--accumulate). exit codes: 0 done, or nothing to convert; 2 wrong usage or a refusal.
"""


def run(words: Sequence[str]) -> int:
    """The command; returns its exit code."""
    asked = _parser().parse_args(list(words))
    if asked.output is None and not asked.dry_run:
        raise UserError("name IN and OUT (or --dry-run to see what would be converted).")
    if asked.to_apex and (asked.float32 or asked.static):
        raise UserError("--to-apex goes with neither --float32 nor --static: Apex's state says neither.")
    files.require()
    source = Path(asked.input)
    to = Path(asked.output) if asked.output is not None else source.with_name(source.name + ".converted")
    files.check(source, to, asked.force or asked.dry_run)
    options = Options(
        static=asked.static,
        accumulate=asked.accumulate or 1,
        to_apex=asked.to_apex,
        float32=asked.float32,
        scaler_key=asked.scaler_key or "scaler",
        strip=asked.strip_prefix and asked.strip_prefix.rstrip(".") + ".",
        losses=asked.losses or 1,
    )
    checkpoint, steps = convert(files.load(source, asked.allow, asked.trust), options)
    written = any(step.converted for step in steps) and not asked.dry_run
    if written:
        left = files.stand_ins_left(checkpoint)
        if left is not None:
            raise UserError(f"{left} is an object of Apex's that has no counterpart: take it out where it is saved.")
        files.save(checkpoint, to, source)
    _tell(steps, to if written else None, asked.json)
    return DONE


def _tell(steps: Sequence[Step], written: Path | None, as_json: bool) -> None:
    if as_json:
        rows = [{"path": step.path, "what": step.what, "converted": step.converted} for step in steps]
        said: dict[str, Any] = {"schema": 1, "written": None if written is None else str(written), "entries": rows}
        sys.stdout.write(json.dumps(said, indent=2) + "\n")
        return
    for step in steps:
        mark = "converted" if step.converted else "left     "
        print(f"{mark}  {harmless.line(step.path)}: {harmless.line(step.what)}")
    if written is not None:
        print(f"Written: {harmless.line(str(written))}")
    elif any(step.converted for step in steps):
        print("Nothing was written: run again with OUT and without --dry-run.")
    else:
        print("There is nothing of Apex's to convert; nothing was written.")


def _parser() -> Parser:
    parser = Parser(
        prog="apex2native convert-checkpoint",
        usage="apex2native convert-checkpoint IN OUT [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add: Callable[..., Any] = parser.add_argument
    once: dict[str, Any] = {"action": Once}
    add("input", metavar="IN", help="a file that torch.save has written")
    add("output", metavar="OUT", nargs="?", help="the file to write")
    add("--to-apex", action="store_true", help="the other way: GradScaler and torch's Adam to Apex's")
    add("--static", action="store_true", help="the loss scale was a constant: it stays one")
    add("--accumulate", **once, type=by(_number), metavar="K", help="backwards to a step (1)")
    add("--losses", **once, type=by(_number), metavar="N", help="with --to-apex: num_losses of initialize (1)")
    add("--float32", action="store_true", help="half weights become float32, FP16_Optimizer the optimizer inside")
    add("--scaler-key", **once, metavar="NAME", help="with --float32: where the GradScaler's state goes (scaler)")
    add("--strip-prefix", **once, metavar="PREFIX", help="of the names of a model's weights, such as module.")
    add("--allow", action="append", default=[], metavar="CLASS", help="read objects of this class too (imports it)")
    add("--trust", action="store_true", help="read anything: this RUNS what the file says")
    add("--force", action="store_true", help="replace OUT")
    add("--dry-run", action="store_true", help="say what would be converted, write nothing")
    add("--json", action="store_true", help="say it as JSON")
    return parser


def _number(value: str) -> int:
    if not value.isdecimal() or not int(value):
        raise ValueError(f"a whole number from 1 up is wanted, not {value!r}")
    return int(value)
