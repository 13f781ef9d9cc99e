"""What the user chose: ``[tool.apex2native]`` of the target's ``pyproject.toml``, then the command line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .errors import UserError, reason
from .model import Settings
from .reading import read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = "apex2native"
DTYPES = ("float16", "bfloat16")
EVALS = ("autocast", "fp32")
OLDEST_TORCH = (1, 6)  # the first with torch.cuda.amp
_GENERIC_AUTOCAST = (1, 10)  # the first with torch.autocast: other devices, and bfloat16

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d+)?")
_LIMIT = 1 << 20
_DEVICE = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Config:
    """Everything that can stand in the table, with the defaults of what does not."""

    settings: Settings = field(default_factory=Settings)
    exclude: tuple[str, ...] = ()
    jobs: int | None = None


def load(paths: Sequence[str]) -> Config:
    """The configuration for ``paths``: the nearest table at or above the folder that holds them all."""
    for folder in _folders(paths):
        table = _table(folder)
        if table is not None:
            file = folder / "pyproject.toml"
            return _checked(_from_table(table, file), file)
        if (folder / ".git").exists():
            break
    return Config()


def with_options(config: Config, options: Mapping[str, Any]) -> Config:
    """``config`` with the options of the command line that were given (are not None) on top."""
    names = {field.name for field in fields(Settings)}
    chosen = {key: value for key, value in options.items() if key in names and value is not None}
    merged = replace(config, settings=replace(config.settings, **chosen))
    if options.get("exclude"):
        merged = replace(merged, exclude=(*config.exclude, *options["exclude"]))
    if options.get("jobs") is not None:
        merged = replace(merged, jobs=options["jobs"])
    return _checked(merged, None)


def dtype(value: Any) -> str:
    if value not in DTYPES:
        raise ValueError(f"dtype is one of {', '.join(DTYPES)}, not {value!r}")
    return str(value)


def evaluation(value: Any) -> str:
    if value not in EVALS:
        raise ValueError(f"eval is one of {', '.join(EVALS)}, not {value!r}")
    return str(value)


def device_type(value: Any) -> str:
    if not isinstance(value, str) or not _DEVICE.fullmatch(value):
        raise ValueError(f"device-type is a word such as cuda, not {value!r}")
    return value


def target_torch(value: Any) -> tuple[int, int]:
    # A TOML number would turn 2.10 into 2.1, so only text is taken.
    match = _VERSION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f'target-torch is a version in quotes such as "2.4", not {value!r}')
    version = (int(match[1]), int(match[2]))
    if version < OLDEST_TORCH:
        raise ValueError(f"target-torch is 1.6 or newer (native AMP begins there), not {value}")
    return version


def jobs(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"jobs is a whole number from 1 up, not {value!r}")
    return value


def _boolean(name: str) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} is true or false, not {value!r}")
        return value

    return check


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("exclude is a list of patterns in quotes")
    return tuple(value)


_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "dtype": dtype,
    "device-type": device_type,
    "target-torch": target_torch,
    "eval": evaluation,
    "safe-only": _boolean("safe-only"),
    "keep-fused": _boolean("keep-fused"),
}
_OTHERS: dict[str, Callable[[Any], Any]] = {"exclude": _patterns, "jobs": jobs}


def _folders(paths: Sequence[str]) -> list[Path]:
    real = [os.path.realpath(path) for path in paths]
    common = Path(os.path.commonpath(real))
    return [common, *common.parents] if common.is_dir() else list(common.parents)


def _table(folder: Path) -> dict[str, Any] | None:
    file = Path(os.path.realpath(folder / "pyproject.toml"))
    if not file.is_file() or not file.is_relative_to(folder):  # a link out of the tree is not followed
        return None
    try:
        text = read(file, _LIMIT).decode()
        if TABLE not in text:
            return None  # whatever else is wrong with the file is not ours to say
        table = tomllib.loads(text).get("tool", {}).get(TABLE)
    except OSError as error:
        raise UserError(f"{file} cannot be read: {reason(error)}.") from error
    except (ValueError, AttributeError) as error:
        raise UserError(f"{file} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise UserError(f"{file} is nested too deeply to be read.") from error
    if table is not None and not isinstance(table, dict):
        raise UserError(f"tool.{TABLE} in {file} has to be a table.")
    return table


def _from_table(table: dict[str, Any], file: Path) -> Config:
    chosen: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for raw, value in table.items():
        key = raw.replace("_", "-")
        check = _SETTINGS.get(key) or _OTHERS.get(key)
        if check is None:
            known = ", ".join(sorted([*_SETTINGS, *_OTHERS]))
            raise UserError(f"{file} sets {raw!r} in [tool.{TABLE}], which is none of: {known}.")
        try:
            (chosen if key in _SETTINGS else others)[key.replace("-", "_")] = check(value)
        except ValueError as error:
            raise UserError(f"in [tool.{TABLE}] of {file}, {error}.") from error
    return Config(settings=Settings(**chosen), **others)


def _checked(config: Config, file: Path | None) -> Config:
    settings = config.settings
    newer = settings.dtype == "bfloat16" or settings.device_type != "cuda"
    if newer and settings.target_torch < _GENERIC_AUTOCAST:
        place = f" ({file})" if file else ""
        raise UserError(
            f"dtype bfloat16 and device types other than cuda need target-torch 1.10 or newer{place}."
        )
    return config
