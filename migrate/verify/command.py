"""``apex2native verify``: the user's own script, before and after."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import config, harmless
from ..arguments import Once, Parser, by
from ..errors import UserError
from . import telling, trees
from .migrating import Migrated, migrate
from .running import Bounds, Run
from .verdict import Plan, Verdict, judge

EQUAL, PARTED = 0, 1
_GIB = 1 << 30
_NO_OVERFLOW = -1
_DEFAULTS = {
    "steps": 50,
    "timeout": 600.0,
    "memory": 16.0,
    "copy_limit": 2.0,
    "seed": 0,
    "overflow": 2,
    "device": "auto",
}

_DESCRIPTION = """\
Run a training command before and after the migration and compare every step: losses, gradient norms, loss scale,
weights, and what runs under casts. The old code runs twice, to know its noise. With one TREE (the current folder where
none is named) a scratch copy of it is migrated; with two, OLD and NEW are compared. The command runs in the root of a
scratch copy of each tree.

With a GPU and an Apex that is built for it both are used. Otherwise everything runs on the CPU, in float32: CUDA calls
go to the CPU, and a double of Apex's loss scaling takes Apex's place. The network, and files outside of the copies,
are not guarded.
"""
_EPILOG = """\
exit codes:
  0  equal to the last bit, or within the noise
  1  the new code does something else: the first step that differs, the quantity and the likely cause are named
  2  one of the runs was not possible, and what it lacks
"""


def run(words: Sequence[str]) -> int:
    """The command; returns its exit code."""
    words = list(words)
    if "--" not in words and not {"-h", "--help"} & set(words):
        raise UserError("name the training command behind --, such as: apex2native verify . -- python train.py")
    at = words.index("--") if "--" in words else len(words)
    options = _parser().parse_args(words[:at])
    for name, value in _DEFAULTS.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    command = tuple(words[at + 1 :])
    if not command:
        raise UserError("there is no command behind --: name the one that trains.")
    if len(options.trees) > 2:
        raise UserError("name one TREE, or two: OLD and NEW.")
    places = [_folder(name) for name in options.trees or ["."]]
    stubs = _folder(options.stub) if options.stub is not None else None
    scratch = _scratch(options.keep)
    try:
        verdict, migrated = _verify(options, places, command, stubs, scratch)
    finally:
        if options.keep is None:
            shutil.rmtree(scratch, ignore_errors=True)
    if options.json:
        sys.stdout.write(json.dumps(telling.as_json(verdict, migrated), indent=2) + "\n")
    else:
        sys.stdout.write(telling.words(verdict, migrated))
    sys.stdout.flush()
    return PARTED if verdict.parted is not None else EQUAL


def _verify(
    options: Any, places: Sequence[Path], command: tuple[str, ...], stubs: Path | None, scratch: Path
) -> tuple[Verdict, Migrated | None]:
    limit = trees.Limit(int(options.copy_limit * _GIB))
    copies = 0

    def fresh(place: Path, to: Path | None = None) -> Path:
        # All copies have paths of the same length: what a script prints of its path is as long.
        nonlocal copies
        copies += 1
        to = to or scratch / f"tree{copies}"
        trees.copy(place, to, options.link, limit, scratch)
        if stubs is not None:
            trees.lay_over(stubs, to)
        return to

    old = fresh(places[0])
    new = scratch / f"tree{copies + 1}"
    copies += 1
    trees.copy(places[-1], new, options.link, limit, scratch)
    migrated = None
    if len(places) == 1:
        _tell("migrating a scratch copy")
        migrated = migrate(new, places[0], vars(options))
        if not migrated.changed:
            raise UserError(_nothing(migrated))
    if stubs is not None:
        trees.lay_over(stubs, new)
    plan = Plan(
        command,
        old,
        new,
        places[0],
        places[-1],
        scratch / "records",
        Bounds(options.steps, options.timeout, int(options.memory * _GIB)),
        stubs,
        None if options.device == "auto" else options.device,
        None if options.overflow == _NO_OVERFLOW else options.overflow,
        options.seed,
        fresh=lambda: fresh(places[0]),
    )
    return judge(plan, _told), migrated


def _nothing(migrated: Migrated) -> str:
    if not migrated.manual:
        return "the migration changes nothing in this tree: there is nothing to compare."
    path, finding = migrated.manual[0]
    return (
        f"the migration leaves all of this tree by hand ({path}:{finding.line}: {finding.message}): "
        "migrate a copy yourself and name both trees."
    )


def _told(name: str, run: Run) -> None:
    how = f"exit code {run.code}" if run.ended == "itself" else f"ended, too much {run.ended}"
    _tell(f"{name}: {run.seconds:.1f} s, {how}")


def _tell(sentence: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"apex2native verify: {harmless.line(sentence)}\n")
        sys.stderr.flush()


def _folder(name: str) -> Path:
    path = Path(name)
    if not path.is_dir():
        raise UserError(f"{name} is no folder: name the tree that the command runs in.")
    return Path(os.path.realpath(path))


def _scratch(keep: str | None) -> Path:
    if keep is None:
        return Path(os.path.realpath(tempfile.mkdtemp(prefix="apex2native-verify-")))
    path = Path(keep)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"--keep {keep}: it is there already and not an empty folder.")
    path.mkdir(parents=True, exist_ok=True)
    return Path(os.path.realpath(path))


# ---------------------------------------------------------------- arguments


def _parser() -> Parser:
    import argparse

    parser = Parser(
        prog="apex2native verify",
        usage="apex2native verify [OLD [NEW]] [options] -- COMMAND...",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add: Callable[..., Any] = parser.add_argument
    once: dict[str, Any] = {"action": Once}
    add("trees", metavar="TREE", nargs="*", help="the tree, or the old and the new one (the current folder)")
    add("--steps", **once, type=by(_count), metavar="N", help="optimizer steps to compare, 0 for all (50)")
    add("--timeout", **once, type=by(_seconds), metavar="TIME", help="for each run: 90, 10m, 1h (10m)")
    add("--memory", **once, type=by(_positive), metavar="GIB", help="for each run (16; Linux)")
    add("--copy-limit", **once, type=by(_positive), metavar="GIB", help="of what is copied (2)")
    add("--seed", **once, type=by(_count), metavar="N", help="of Python's, numpy's and torch's numbers (0)")
    add(
        "--overflow",
        **once,
        type=by(_overflow),
        metavar="N",
        help="the scaled backward whose gradients become infinite, as the first ones do on a GPU (2); none for none",
    )
    add("--device", **once, choices=("auto", "cpu", "cuda"), help="where to run (auto)")
    add("--stub", **once, metavar="DIR", help="lay stand-ins over the trees: modules, data, files")
    add("--link", action="append", default=[], metavar="PATH", help="in the tree: use the original, do not copy it")
    add("--keep", **once, metavar="DIR", help="keep copies, records and what was printed there")
    add("--json", action="store_true", help="print the verdict as JSON")
    migration = parser.add_argument_group("of the migration, where one tree is named")
    more: Callable[..., Any] = migration.add_argument
    more("--safe-only", action="store_true", default=None)
    more("--keep-fused", action="store_true", default=None)
    more("--dtype", **once, type=by(config.dtype), metavar="|".join(config.DTYPES))
    more("--target-torch", **once, type=by(config.target_torch), metavar="X.Y")
    more("--eval", **once, type=by(config.evaluation), metavar="|".join(config.EVALS))
    more("--exclude", action="append", metavar="GLOB")
    return parser


def _count(value: str) -> int:
    if not value.isdecimal():
        raise ValueError(f"a whole number from 0 up is wanted, not {value!r}")
    return int(value)


def _overflow(value: str) -> int:
    return _NO_OVERFLOW if value == "none" else _count(value)


def _positive(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise ValueError(f"a number above 0 is wanted, not {value!r}")
    return number


def _seconds(value: str) -> float:
    factor = {"s": 1, "m": 60, "h": 3600}.get(value[-1:], 0)
    return _positive(value[:-1]) * factor if factor else _positive(value)
