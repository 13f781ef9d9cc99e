"""Run a legacy script and its migrated twin, and say in what they differ.

`ForkServer` keeps a process that has imported torch and forks it for every run, so that a run costs
milliseconds and still has a process of its own. `compare` works on the two `Trace`s alone.
"""

from __future__ import annotations

import atexit
import functools
import io
import itertools
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from migrate.model import Applicability, Settings

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
RUNNER = HERE / "runner.py"
TIMEOUT_S = 60

#: With real casts, types are compared exactly and numbers like this: the two differ in the order of roundings.
TOLERANCE = 2e-2

Mode = Literal["legacy", "native", "partly"]


class Forward(NamedTuple):
    """One outermost call of a module with parameters."""

    module: str
    autocast: bool
    grad: bool


class Loss(NamedTuple):
    """One call of a loss of ``torch.nn.functional`` (also through its module). None: not decidable."""

    name: str
    autocast: bool | None
    grad: bool


class Backward(NamedTuple):
    """``scale`` is what was multiplied into the loss; None where nothing was."""

    autocast: bool
    scale: float | None


class Step(NamedTuple):
    """A call of an optimizer's step: ``step`` or ``skip``. Optimizers count in order of creation."""

    optimizer: int
    what: str


@dataclass(frozen=True)
class Trace:
    """What one run computed and how."""

    error: str | None = None
    exit: int | str = 0
    stdout: tuple[str, ...] = ()
    weights: tuple[tuple[tuple[str, str], ...], ...] = ()
    values: tuple[tuple[tuple[float, ...], ...], ...] = field(default=(), compare=False)
    forwards: tuple[Forward, ...] = ()
    losses: tuple[Loss, ...] = ()
    backwards: tuple[Backward, ...] = ()
    steps: tuple[Step, ...] = ()
    scalers: tuple[dict[str, Any], ...] = field(default=(), compare=False)
    regions: dict[str, int] = field(default_factory=dict, compare=False)
    messages: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trace:
        return cls(
            error=data["error"],
            exit=data.get("exit", 0),
            stdout=tuple(data.get("stdout", ())),
            weights=tuple(
                tuple((one["sha256"], f"{one['shape']} {', '.join(one['head'])}") for one in params)
                for params in data.get("weights", ())
            ),
            values=tuple(tuple(tuple(one) for one in params) for params in data.get("values", ())),
            forwards=tuple(Forward(*one) for one in data.get("forwards", ())),
            losses=tuple(Loss(*one) for one in data.get("losses", ())),
            backwards=tuple(Backward(*one) for one in data.get("backwards", ())),
            steps=tuple(Step(*one) for one in data.get("steps", ())),
            scalers=tuple(data.get("scalers", ())),
            regions=data.get("regions", {}),
            messages=tuple(data.get("messages", ())),
        )


# ---------------------------------------------------------------- running


class ForkServer:
    """A process with torch imported; each run is a fork of it."""

    def __init__(self) -> None:
        environment = dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1")
        self._process = subprocess.Popen(
            [sys.executable, str(RUNNER), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(
        self,
        mode: Mode,
        script: Path,
        argv: Sequence[str] = (),
        leaves: Sequence[str] = (),
        timeout: int = TIMEOUT_S,
        casts: bool = False,
        overflow: Sequence[int] = (),
    ) -> Trace:
        """Run one script file in a fresh working directory; runner.py says what can be asked for."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "trace.json"
            work = Path(place) / "work"
            work.mkdir()
            request = {
                "mode": mode,
                "script": str(script.resolve()),
                "argv": list(argv),
                "leaves": list(leaves),
                "casts": casts,
                "overflow": list(overflow),
                "cwd": str(work),
                "out": str(out),
                "timeout": timeout,
            }
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            status = self._process.stdout.readline().strip()
            if not out.exists():
                return Trace(error=f"the run died (wait status {status or 'unknown: the server died'})")
            return Trace.from_json(json.loads(out.read_text(encoding="utf-8")))

    def run_text(
        self,
        mode: Mode,
        text: str,
        argv: Sequence[str] = (),
        leaves: Sequence[str] = (),
        timeout: int = TIMEOUT_S,
        casts: bool = False,
        overflow: Sequence[int] = (),
    ) -> Trace:
        """As `run`, for a script that is no file yet."""
        with tempfile.TemporaryDirectory() as place:
            script = Path(place) / "script.py"
            script.write_bytes(text.encode(declared_encoding(text.encode("utf-8"))))
            return self.run(mode, script, argv, leaves, timeout, casts, overflow)

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@functools.cache
def server() -> ForkServer:
    """The one of this process (with pytest-xdist, one a worker)."""
    made = ForkServer()
    atexit.register(made.close)
    return made


@functools.lru_cache(4096)
def legacy_run(text: str, argv: tuple[str, ...], casts: bool = False) -> Trace:
    """Of a script as it is, which more than one test looks at: once in a process."""
    return server().run_text("legacy", text, argv, casts=casts)


# ---------------------------------------------------------------- comparing


def compare(legacy: Trace, native: Trace, settings: Settings | None = None, tolerance: float = 0.0) -> list[str]:
    """The differences, each as ``category: what``. The categories:

    weights   parameters of the optimizers at exit, bit by bit
    stdout    printed lines
    steps     the sequence of steps taken and skipped
    forwards  which modules ran, and whether under autocast
    losses    which losses ran, and whether under autocast
    backward  number of backwards; any of them under autocast
    scaling   a backward without scaling that had it, another initial scale, a constant scale that moves
    error     one of the runs failed, or exited with another status

    With a tolerance (for runs with real casts) weights and printed numbers may differ by as much.
    """
    settings = settings or Settings()
    found: list[str] = []
    for name, trace in (("legacy", legacy), ("native", native)):
        if trace.error:
            found.append(f"error: the {name} run failed: {_short(trace.error)}")
    if found:
        return found
    if legacy.exit != native.exit:
        found.append(f"error: exit status {legacy.exit!r} became {native.exit!r}")
    if tolerance:
        found += _values(legacy, native, tolerance)
        found += _printed(legacy.stdout, native.stdout, tolerance)
    else:
        found += _weights(legacy, native)
        found += _sequence("stdout", legacy.stdout, native.stdout)
    found += _sequence("steps", legacy.steps, native.steps)
    found += _forwards(legacy, native, settings)
    found += _losses(legacy, native, settings)
    found += _backwards(legacy, native, settings)
    return found


def _short(error: str) -> str:
    """The exception, and the lines of the script that lead to it."""
    lines = error.strip().splitlines()
    frames = [
        f"line {line.partition(', line ')[2]}: {source.strip()}"
        for line, source in itertools.pairwise(lines)
        if "script.py" in line
    ]
    raised = re.compile(r"[\w.]+(?:Error|Exception|Interrupt|Exit|Warning|Stop\w+)\b")
    start = next((line for line in reversed(lines) if raised.match(line)), lines[-1])
    return "; ".join([start, *frames])


def categories(differences: Sequence[str]) -> frozenset[str]:
    """What kinds of difference there are."""
    return frozenset(one.partition(":")[0] for one in differences)


def _weights(legacy: Trace, native: Trace) -> list[str]:
    if len(legacy.weights) != len(native.weights):
        return [f"weights: {len(legacy.weights)} optimizers became {len(native.weights)}"]
    found = []
    for index, (before, after) in enumerate(zip(legacy.weights, native.weights, strict=True)):
        if len(before) != len(after):
            found.append(f"weights: optimizer {index} had {len(before)} parameters, has {len(after)}")
            continue
        for at, (old, new) in enumerate(zip(before, after, strict=True)):
            if old[0] != new[0]:
                found.append(f"weights: optimizer {index}, parameter {at}: {old[1]} became {new[1]}")
    return found


def _near(old: float, new: float, tolerance: float) -> bool:
    if old == new or (math.isnan(old) and math.isnan(new)):
        return True
    return abs(old - new) <= 0.1 * tolerance + tolerance * abs(old)


def _values(legacy: Trace, native: Trace, tolerance: float) -> list[str]:
    def shapes(trace: Trace) -> list[list[int]]:
        return [[len(param) for param in params] for params in trace.values]

    if shapes(legacy) != shapes(native):
        return ["weights: other optimizers or parameters"]
    return [
        f"weights: optimizer {index}, parameter {at}: {list(old[:4])} became {list(new[:4])}"
        for index, (before, after) in enumerate(zip(legacy.values, native.values, strict=True))
        for at, (old, new) in enumerate(zip(before, after, strict=True))
        if not all(_near(one, other, tolerance) for one, other in zip(old, new, strict=True))
    ]


_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d+(?:e[-+]?\d+)?|inf\b|nan\b)")


def _printed(before: Sequence[str], after: Sequence[str], tolerance: float) -> list[str]:
    """Fractions are compared as numbers, everything else as text."""
    if len(before) == len(after):
        after = [old if _same_line(old, new, tolerance) else new for old, new in zip(before, after, strict=True)]
    return _sequence("stdout", before, after)


def _same_line(old: str, new: str, tolerance: float) -> bool:
    before, after = _NUMBER.findall(old), _NUMBER.findall(new)
    return (
        _NUMBER.sub("#", old) == _NUMBER.sub("#", new)
        and len(before) == len(after)
        and all(_near(float(one), float(other), tolerance) for one, other in zip(before, after, strict=True))
    )


def _sequence(category: str, before: Sequence[object], after: Sequence[object]) -> list[str]:
    """The first place where two sequences part, and their lengths."""
    if tuple(before) == tuple(after):
        return []
    at = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), None)
    if at is None:
        longer = before if len(before) > len(after) else after
        at = min(len(before), len(after))
        return [f"{category}: {len(before)} became {len(after)}; only one run has #{at}: {longer[at]}"]
    return [f"{category}: #{at} of {len(before)} (now {len(after)}): {before[at]} became {after[at]}"]


def _forwards(legacy: Trace, native: Trace, settings: Settings) -> list[str]:
    def shown(one: Forward) -> Forward:
        free = settings.eval == "fp32" and not one.grad
        return one._replace(autocast=False) if free else one

    return _sequence("forwards", [shown(one) for one in legacy.forwards], [shown(one) for one in native.forwards])


def _losses(legacy: Trace, native: Trace, settings: Settings) -> list[str]:
    """Apex casts binary cross entropy nowhere: it has to be outside of autocast, wherever it was."""
    if len(legacy.losses) != len(native.losses):
        return _sequence("losses", [one.name for one in legacy.losses], [one.name for one in native.losses])
    before = []
    for old, new in zip(legacy.losses, native.losses, strict=True):
        free = old.autocast is None or old.name == "binary_cross_entropy" or (settings.eval == "fp32" and not old.grad)
        before.append(old._replace(autocast=new.autocast) if free else old)
    return _sequence("losses", before, native.losses)


def _backwards(legacy: Trace, native: Trace, settings: Settings) -> list[str]:
    found = []
    if len(legacy.backwards) != len(native.backwards):
        found.append(f"backward: {len(legacy.backwards)} became {len(native.backwards)}")
    for at, one in enumerate(native.backwards):
        if one.autocast:
            found.append(f"backward: #{at} runs under autocast")
            break
    if settings.dtype == "bfloat16":
        return found
    pairs = list(zip(legacy.backwards, native.backwards, strict=False))
    for at, (old, new) in enumerate(pairs):
        if old.scale not in (None, 1.0) and new.scale in (None, 1.0):
            found.append(f"scaling: backward #{at} was scaled by {old.scale}, now it is not")
            return found
        if old.scale is None and new.scale is not None:
            found.append(f"scaling: backward #{at} was not scaled, now it is by {new.scale}")
            return found
    before = [old.scale for old, _ in pairs if old.scale is not None]
    after = [new.scale for _, new in pairs if new.scale is not None]
    if before and before[0] != after[0]:
        found.append(f"scaling: the first scale was {before[0]}, now it is {after[0]}")
    elif len(set(before)) == 1 and set(after) != set(before) and all(step.what != "skip" for step in legacy.steps):
        found.append(f"scaling: the scale was always {before[0]}, now it moves to {sorted(set(after) - set(before))}")
    return found


# ---------------------------------------------------------------- scripts


def declared_encoding(source: bytes) -> str:
    """As Python finds it: a byte order mark, a coding line, or UTF-8."""
    return tokenize.detect_encoding(io.BytesIO(source).readline)[0]


def read_script(script: Path) -> str:
    """The text as the engine gets it: decoded, without a byte order mark, with its own line ends."""
    source = script.read_bytes()
    return source.decode(declared_encoding(source))


@dataclass(frozen=True)
class Header:
    """What a script says about itself in its first comment lines.

    ``differs`` names what of the comparison differs: exactly that, or with ``exact=False`` at most that.
    ``casts`` (``# casts: real``): both also run with real casts, where numbers are compared with a tolerance.
    """

    expect: Applicability
    note: str = ""
    runs: tuple[tuple[str, ...], ...] = ((),)
    differs: frozenset[str] = frozenset()
    leaves: tuple[str, ...] = ()
    settings: Settings = Settings()
    exact: bool = True
    casts: bool = False


def read_header(text: str) -> Header:
    """Parse the comment lines at the top. A run without arguments is always among the runs."""
    expect: Applicability | None = None
    note = ""
    runs: list[tuple[str, ...]] = [()]
    differs: set[str] = set()
    leaves: list[str] = []
    options: dict[str, Any] = {}
    casts = False
    for line in text.lstrip("\ufeff").splitlines():
        if not line.startswith("#"):
            break
        key, found, value = line.lstrip("# ").partition(":")
        value = value.strip()
        if not found:
            continue
        if key == "expect":
            word, _, note = value.partition(":")
            expect = Applicability(word.strip())
            note = note.strip()
        elif key == "argv":
            runs.append(tuple(shlex.split(value)))
        elif key == "differs":
            differs.update(value.replace("|", " ").replace(",", " ").split())
        elif key == "leaves":
            leaves += value.replace(",", " ").split()
        elif key == "casts":
            if value != "real":
                raise ValueError("`# casts:` can only be `real`")
            casts = True
        elif key == "settings":
            options.update(_option(one) for one in value.split())
    if expect is None:
        raise ValueError("the script has no line `# expect: safe|review|manual`")
    return Header(
        expect,
        note,
        tuple(dict.fromkeys(runs)),
        frozenset(differs),
        tuple(leaves),
        Settings(**options),
        casts=casts,
    )


def _option(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    name = name.replace("-", "_")
    if name == "target_torch":
        major, _, minor = value.partition(".")
        return name, (int(major), int(minor))
    if name == "safe_only":
        return name, value.lower() in ("1", "true", "yes")
    return name, value
