"""Checkpoints on the disk: read without running what is in them, written as a whole or not at all."""

from __future__ import annotations

import argparse
import collections
import datetime
import importlib
import os
import pathlib
import re
import shutil
import stat
import types
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import UserError, reason

# What torch.load says of a class that it does not know: two spellings, of its versions.
_CLASS = re.compile(
    r"(?:GLOBAL|Unsupported (?:global|class):? (?:GLOBAL )?|Can only build .*but got <class ')\s*([\w.]+)"
)
_FILLED = re.compile(r"Can only (?:SETITEMS?|append|extend) .*but got <class '([\w.]+)'")
_WHY = re.compile(r"WeightsUnpickler error:\s*(.+)")
_HOLDERS = (
    argparse.Namespace,
    types.SimpleNamespace,
    collections.defaultdict,
    pathlib.PosixPath,
    pathlib.PurePosixPath,
    *(list, dict, set, frozenset, tuple, bool, int, float, complex, str, bytearray),  # what a defaultdict is made of
    *(datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone),
)
_ACTING = frozenset(
    "os posix nt sys subprocess builtins shutil importlib runpy socket ctypes multiprocessing code pty webbrowser "
    "pickle marshal types operator functools inspect gc tempfile".split()
)
_APEX = (
    "apex.amp.scaler.LossScaler",
    "apex.fp16_utils.loss_scaler.LossScaler",
    "apex.fp16_utils.loss_scaler.DynamicLossScaler",
    "apex.fp16_utils.fp16util.LossScaler",
)


def require() -> None:
    """Raise UserError where torch is missing."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise UserError(
            "convert-checkpoint needs torch, which comes with the extra torch: pip install '.[torch]' in a clone."
        ) from None


def check(source: Path, to: Path, force: bool) -> None:
    """Refuse what cannot be read, and places that must not be written, before any work is done."""
    try:
        mode = source.stat().st_mode
    except OSError as error:
        raise UserError(f"{source} cannot be read: {reason(error)}.") from error
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        raise UserError(f"{source} is {what}: name a file that torch.save has written.")
    _refuse_what_is_none(source)
    if not to.parent.is_dir():
        raise UserError(f"{to} cannot be written: there is no directory {to.parent}.")
    if to.is_symlink() and not to.exists() and not force:
        raise UserError(f"{to} is there already, a link that leads nowhere: --force replaces it.")
    if to.exists():
        if os.path.samefile(source, to):
            raise UserError(f"{to} is the input itself: name another file, the old checkpoint stays as it is.")
        if not to.is_file():
            raise UserError(f"{to} cannot be written: it is no regular file.")
        if not force:
            raise UserError(f"{to} is there already: --force replaces it.")


def _refuse_what_is_none(source: Path) -> None:
    try:
        with open(source, "rb") as stream:
            begin = stream.read(40)
    except OSError as error:
        raise UserError(f"{source} cannot be read: {reason(error)}.") from error
    if not begin:
        raise UserError(f"{source} is empty.")
    if begin.startswith(b"version https://git-lfs"):
        raise UserError(f"{source} only points to the checkpoint, which git lfs pull fetches.")


def load(source: Path, allow: Sequence[str], trust: bool) -> Any:
    """The checkpoint, on the CPU. Nothing of it is run, unless ``trust`` says so."""
    import torch

    if trust:
        return _loaded(source, weights_only=False)
    known: list[Any] = [*_HOLDERS, *_stand_ins(), *_numpy(), *map(_named, allow)]
    before = torch.serialization.get_safe_globals()
    torch.serialization.add_safe_globals(known)
    try:
        return _loaded(source, weights_only=True)
    finally:
        torch.serialization.clear_safe_globals()
        torch.serialization.add_safe_globals(before)


def _loaded(source: Path, weights_only: bool) -> Any:
    import pickle

    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what torch thinks of old formats
            return torch.load(source, map_location="cpu", weights_only=weights_only, mmap=_is_zip(source) or None)
    except pickle.UnpicklingError as error:
        found = _CLASS.search(str(error))
        if weights_only and found and _acts(found[1]):
            raise UserError(
                f"{source} wants to call {found[1]} while it is read, as a hostile file would: it is not read."
            ) from None
        if weights_only and found:
            raise UserError(
                f"{source} holds objects of {found[1]}: --allow {found[1]} reads them (which imports that module), "
                "--trust reads anything, and runs what the file says: only for files of your own."
            ) from None
        filled = _FILLED.search(str(error))
        if weights_only and filled:
            raise UserError(
                f"{source} holds a filled {filled[1]}, which torch reads only with --trust: "
                "that runs what the file says, and is only for files of your own."
            ) from None
        raise UserError(f"{source} is no checkpoint that torch can read: {_first(error)}.") from None
    except PermissionError as error:
        raise UserError(f"{source} cannot be read: {reason(error)}.") from error
    except MemoryError:
        raise UserError(f"{source} does not fit into memory.") from None
    except Exception as error:  # a broken file may fail anywhere in torch
        raise UserError(f"{source} is no checkpoint that torch can read: {_first(error)}.") from None


def _acts(name: str) -> bool:
    """Whether a name is of the parts of Python that do something to the machine. Functions of its own have no dot."""
    return "." not in name or name.partition(".")[0] in _ACTING


def _first(error: BaseException) -> str:
    why = _WHY.search(str(error))
    lines = [line.strip() for line in (why[1] if why else str(error)).splitlines() if line.strip()]
    return (lines[0].rstrip(".") if lines else type(error).__name__)[:200]


def _is_zip(source: Path) -> bool:
    return zipfile.is_zipfile(source)


class StandIn:
    """An object of Apex's, without Apex: what it held is in ``__dict__``."""


def _stand_ins() -> Iterator[type]:
    for name in _APEX:
        module, _, short = name.rpartition(".")
        yield type(short, (StandIn,), {"__module__": module, "__qualname__": short})


def _numpy() -> Iterator[Any]:
    """Numbers of numpy's, which many save among their metrics."""
    with suppress(ImportError, AttributeError):
        numpy = importlib.import_module("numpy")
        yield numpy.dtype
        yield numpy.ndarray
        scalars = importlib.import_module(
            "numpy._core.multiarray" if hasattr(numpy, "_core") else "numpy.core.multiarray"
        )
        yield scalars.scalar
        yield scalars._reconstruct
        for name in sorted(vars(numpy.dtypes)):
            if name.endswith("DType") and name != "ObjectDType":
                yield getattr(numpy.dtypes, name)


def _named(name: str) -> Any:
    module, _, short = name.rpartition(".")
    if _acts(name):
        raise UserError(f"--allow {name}: that is no class of data.")
    try:
        found = getattr(importlib.import_module(module), short)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"--allow {name}: there is no such class here ({error}).") from None
    if not isinstance(found, type):
        raise UserError(f"--allow {name}: that is no class.")
    return found


def stand_ins_left(value: Any, path: str = "ckpt", depth: int = 0) -> str | None:
    """Where an object of Apex's is still there: it could not be written without Apex."""
    if isinstance(value, StandIn):
        return path
    if depth < 50 and isinstance(value, dict):
        return next(
            (at for key, one in value.items() if (at := stand_ins_left(one, f"{path}[{key!r}]", depth + 1))), None
        )
    if depth < 50 and isinstance(value, (list, tuple)):
        return next(
            (at for key, one in enumerate(value) if (at := stand_ins_left(one, f"{path}[{key}]", depth + 1))), None
        )
    return None


def save(checkpoint: Any, to: Path, like: Path) -> None:
    """Write beside ``to`` and put it in its place; in the format and with the permissions of ``like``."""
    import torch

    temporary = to.with_name(f".{to.name}.apex2native.tmp")  # a run that was killed leaves it, the next takes it
    try:
        with suppress(FileNotFoundError):
            temporary.unlink()
        with open(temporary, "xb") as stream:
            torch.save(checkpoint, stream, _use_new_zipfile_serialization=_is_zip(like))
            stream.flush()
            os.fsync(stream.fileno())
        shutil.copymode(like, temporary)
        os.replace(temporary, to)
    except OSError as error:
        raise UserError(f"{to} cannot be written: {reason(error)}.") from error
    except RuntimeError as error:  # torch's own writer, on a full disk
        raise UserError(f"{to} cannot be written: {_first(error)}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink()
