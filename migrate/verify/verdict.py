"""The runs of one comparison, and what they say together."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..errors import UserError
from . import causes, comparing, running
from .causes import Cause
from .comparing import Difference, Noise, Parted, Seen
from .history import History, read
from .lacking import lacks, last_line
from .running import Bounds, Run, Settings

_ROUNDING = {"cpu": 1e-6, "cuda": 2e-3}
_DISTURB = {"cpu": 2.0**-23, "cuda": 2.0**-11}
"""One rounding: of float32 where everything is computed in it, of half precision on a GPU."""

REFUSED = ("apex.amp", "apex.parallel", "apex.fp16_utils")
"""What current Apex has no more: in the new tree it cannot be imported."""

_APEX = re.compile(r"Gradient overflow|Selected optimization level|Defaults for this optimization level").match
"""What only Apex prints, or says in other words."""

Outcome = Literal["equal", "within noise", "parted"]


@dataclass(frozen=True)
class Plan:
    """What is run, and where."""

    command: tuple[str, ...]
    old: Path
    new: Path
    origin_old: Path
    origin_new: Path
    records: Path
    bounds: Bounds
    stubs: Path | None = None
    device: Literal["cpu", "cuda"] | None = None
    overflow: int | None = 2
    seed: int = 0
    fresh: Callable[[], Path] | None = None  # another copy of the old tree: a run may leave files behind


@dataclass(frozen=True)
class Verdict:
    """What the comparison says."""

    outcome: Outcome
    parted: Parted | None
    cause: Cause | None
    seen: Seen
    noise: Noise
    repeats: bool  # the old code gives the same bits twice
    old: tuple[History, ...]
    new: tuple[History, ...]
    runs: tuple[Run, ...]
    notes: tuple[str, ...]


def judge(plan: Plan, tell: Callable[[str, Run], None]) -> Verdict:
    """Run the old code, the old code again, and the new; compare. Raises UserError where something cannot run."""
    first = _run(plan, "old", Settings(
        "old", str(plan.old), str(plan.origin_old), str(plan.records / "old"), plan.seed, plan.bounds.steps,
        plan.device, plan.overflow, chooses=True,
    ))  # fmt: skip
    tell("old", first)
    lacking = lacks(first, f"{plan.bounds.seconds:g} s")
    if lacking:
        raise UserError(f"the old code cannot run here: {lacking}")
    old = read(first.records)
    device: Literal["cpu", "cuda"] = "cuda" if old[0].begin["device"] == "cuda" else "cpu"
    overflow = next((one.overflow for one in old if one.overflow is not None), None)
    settled = replace(first.settings, device=device, overflow=overflow, chooses=False)

    again = _run(plan, "old again", _another(plan, settled, "again"))
    tell("old again", again)
    new_settings = replace(
        settled, side="new", tree=str(plan.new), origin=str(plan.origin_new), out=str(plan.records / "new"),
        refused=REFUSED, keeps_apex=True,
    )  # fmt: skip
    ran = _run(plan, "new", new_settings)
    tell("new", ran)
    new, twice = read(ran.records), read(again.records)
    if {first.ended, again.ended} != {"itself"}:
        # Each was ended at another place: as far as both came. The new code may be slower, if it is not stuck.
        old, twice = _until(old, twice), _until(twice, old)
        if ran.ended != "itself" and all(2 * a.steps >= b.steps for a, b in zip(new, old, strict=False)):
            old, twice = _until(old, new), _until(twice, new)
        new = _until(new, old)

    spread = comparing.spread(old, twice)
    if spread is None:
        raise UserError(
            "the old code does not do the same twice (another number of steps, forwards or losses): "
            "seed it, or let it train on data that is not shuffled."
        )
    repeats = not any(size for sizes in spread.values() for size in sizes)
    noise, seen = Noise(_ROUNDING[device], spread), Seen()
    parted = comparing.compare(old, new, noise, seen)
    runs = [first, again, ran]
    if parted is not None and parted.window > 0:
        # Perhaps only rounding that grew: how far does the old code get from itself by one rounding?
        disturbed = _run(plan, "old, rounded", replace(_another(plan, settled, "rounded"), disturb=_DISTURB[device]))
        tell("old, rounded", disturbed)
        runs.append(disturbed)
        shaken = _until(read(disturbed.records), old)
        noise = Noise(noise.rounding, _larger(spread, comparing.spread(_until(old, shaken), shaken) or {}))
        seen = Seen()
        parted = comparing.compare(old, new, noise, seen)
    if parted is None and _ends_otherwise(first, again, ran) and not any(one.cut for one in (*old, *new)):
        last = old[0].windows[-1]
        parted = Parted(0, old[0].steps, last, last, (Difference("exit code", first.code, ran.code),))
    outcome: Outcome = "parted" if parted else "equal" if seen.exact else "within noise"
    return Verdict(
        outcome,
        parted,
        causes.cause(parted, old, new, _ending(first, ran)) if parted else None,
        seen,
        noise,
        repeats,
        old,
        new,
        tuple(runs),
        tuple(_notes(old, new, runs)),
    )


def _run(plan: Plan, name: str, settings: Settings) -> Run:
    return running.run(plan.command, settings, plan.bounds, plan.stubs)


def _until(histories: Sequence[History], other: Sequence[History]) -> tuple[History, ...]:
    """Each process as far as its counterpart came."""
    return tuple(one.until(other[at].steps) if at < len(other) else one for at, one in enumerate(histories))


def _ends_otherwise(first: Run, again: Run, ran: Run) -> bool:
    return {first.ended, again.ended, ran.ended} == {"itself"} and first.code == again.code != ran.code


def _ending(first: Run, ran: Run) -> str:
    if ran.ended != "itself":
        return f"the new code was ended there, as it took too much {ran.ended}"
    if ran.code is None or ran.code == first.code:
        return ""
    if ran.code < 0:
        return f"the new code is killed there by signal {-ran.code}"
    return f"the new code ends there with exit code {ran.code}, and says last: {last_line(ran).rstrip('.')}"


def _another(plan: Plan, settings: Settings, name: str) -> Settings:
    tree = plan.fresh() if plan.fresh is not None else plan.old
    return replace(settings, tree=str(tree), out=str(plan.records / name))


def _larger(one: dict[str, list[float]], other: dict[str, list[float]]) -> dict[str, list[float]]:
    merged = {name: list(sizes) for name, sizes in one.items()}
    for name, sizes in other.items():
        into = merged.setdefault(name, [])
        into.extend([0.0] * (len(sizes) - len(into)))
        for at, size in enumerate(sizes):
            into[at] = max(into[at], size)
    return merged


def _notes(old: Sequence[History], new: Sequence[History], runs: Sequence[Run]) -> list[str]:
    """What is worth knowing and decides nothing."""
    found = []
    for run, side in zip(runs[:3], ("the old code", "the old code", "the new code"), strict=True):
        if run.ended != "itself":
            found.append(f"{side} was ended: it took too much {run.ended}; what it did until then was compared.")
            break
    raised = next((one.raised for one in old if one.raised is not None), None)
    if raised is not None:
        found.append(
            f"the old code itself ends with an exception at {raised.at}: {raised['kind']}: {str(raised['text'])[:200]}"
        )
    for side, histories in (("old", old), ("new", new)):
        foreign = sorted({name for one in histories for event in one.of("foreign") for name in event["modules"]})
        if foreign:
            found.append(
                f"the {side} run imported {', '.join(foreign[:5])} from your own tree and not from the copy "
                "(an editable install?): run with PYTHONPATH=. so that the copy comes first."
            )
    found += _printed(runs)
    return found


def _printed(runs: Sequence[Run]) -> list[str]:
    first, again, new = (
        [line for line in run.printed("stdout").replace(run.settings.tree, "<tree>").splitlines() if not _APEX(line)]
        for run in runs[:3]
    )
    if first != again or len(first) != len(new):
        return []
    at = next((at for at, (a, b) in enumerate(zip(first, new, strict=True)) if a != b), None)
    if at is None:
        return []
    return [f"printed line {at + 1} was {first[at][:120]!r} and is {new[at][:120]!r}."]
