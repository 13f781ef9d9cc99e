"""The verdict in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from .. import __version__, harmless
from .comparing import Difference
from .history import History, Place
from .migrating import Migrated
from .verdict import Verdict

SCHEMA_VERSION = 1
_SHOWN = 8  # findings of the migration


def words(verdict: Verdict, migrated: Migrated | None) -> str:
    """What is printed."""
    lines = [*_migration(migrated), _headline(verdict), *_compared(verdict)]
    if verdict.parted is not None:
        lines += _parting(verdict, migrated)
    lines += [f"note: {note}" for note in verdict.notes]
    lines += ["", f"This proves: {proves(verdict)}", f"It does not prove: {'; '.join(does_not_prove(verdict))}."]
    return harmless.paragraphs("\n".join(lines)) + "\n"


def as_json(verdict: Verdict, migrated: Migrated | None) -> dict[str, Any]:
    """The same as data; its keys are a contract."""
    first = verdict.old[0].begin
    return {
        "schema": SCHEMA_VERSION,
        "tool": {"name": "apex2native verify", "version": __version__},
        "verdict": verdict.outcome,
        "device": first["device"],
        "apex": first["apex"],
        "torch": first["torch"],
        "python": first["python"],
        "steps": _steps(verdict.old),
        "skipped": _skipped(verdict.old),
        "repeats": verdict.repeats,
        "compared": dict(sorted(verdict.seen.counts.items())),
        "largest_differences": dict(sorted(verdict.seen.largest.items())),
        "parted": _parted(verdict),
        "named_by_migration": _expected(verdict, migrated),
        "migration": None
        if migrated is None
        else {"files_changed": migrated.changed, "units": dict(migrated.units), "review": len(migrated.named)},
        "notes": list(verdict.notes),
        "proves": proves(verdict),
        "does_not_prove": list(does_not_prove(verdict)),
        "runs": [
            {"name": run.records.name, "seconds": round(run.seconds, 1), "ended": run.ended, "exit_code": run.code}
            for run in verdict.runs
        ],
    }


# ---------------------------------------------------------------- parts


def _migration(migrated: Migrated | None) -> Iterator[str]:
    if migrated is None:
        return
    units = ", ".join(f"{number} {name}" for name, number in migrated.units.items() if number)
    yield f"The scratch copy was migrated: {_number(migrated.changed, 'file')} changed; units: {units or 'none'}."
    for path, finding in migrated.named[:_SHOWN]:
        yield f"  review  {finding.rule}  {path}:{finding.line}: {finding.message}"
    if len(migrated.named) > _SHOWN:
        yield f"  … and {len(migrated.named) - _SHOWN} more review findings: apex2native shows them."
    yield ""


def _headline(verdict: Verdict) -> str:
    steps, skipped = _steps(verdict.old), _skipped(verdict.old)
    made = _number(steps, "step") + (f", {skipped} of them skipped on an overflow" if skipped else "")
    if verdict.outcome == "equal":
        return f"Equal to the last bit: {made}."
    if verdict.outcome == "within noise":
        largest = max(verdict.seen.largest.values(), default=0.0)
        return f"Equal within the noise: {made}; the largest relative difference is {largest:.1e}."
    parted = verdict.parted
    assert parted is not None
    first = parted.differences[0]
    return f"Parts at step {parted.window}: {_said(first)}{_places(first)}."


def _compared(verdict: Verdict) -> Iterator[str]:
    counts = verdict.seen.counts
    order = ("forwards", "losses", "backwards", "clips", "gradient norm", "weights", "learning rate", "evaluation")
    shown = [f"{counts[name]} {_PLURALS.get(name, name)}" for name in order if counts.get(name)]
    if shown:
        yield f"Compared: {', '.join(shown)}; each forward and loss with or without casts, each loss scale."
    if not verdict.repeats:
        spread = max(size for sizes in verdict.noise.spread.values() for size in sizes)
        yield (
            f"The old code does not repeat itself: two runs of it differ by up to {spread:.1e}. "
            "Differences up to four times that pass as noise; seeded, it would prove more."
        )


_PLURALS = {
    "gradient norm": "gradient norms",
    "weights": "states of the weights",
    "learning rate": "learning rates",
    "evaluation": "results without gradients",
}


def _parting(verdict: Verdict, migrated: Migrated | None) -> Iterator[str]:
    parted = verdict.parted
    assert parted is not None
    if parted.process:
        yield f"  in process {parted.process} of those that the command started"
    for other in parted.differences[1:5]:
        yield f"  also: {_said(other)}{_places(other)}"
    expected = _expected(verdict, migrated)
    if expected is not None:
        yield f"The migration named this: {expected}"
    elif verdict.cause is not None:
        at = f" ({verdict.cause.at})" if verdict.cause.at is not None else ""
        yield f"Likely cause{at}: {verdict.cause.text}."
    else:
        yield "None of the known mistakes looks like this: compare both trees around the lines named above."


def _expected(verdict: Verdict, migrated: Migrated | None) -> str | None:
    """The review finding at the place of the first difference, if there is one."""
    if verdict.parted is None or migrated is None:
        return None
    for one in verdict.parted.differences:
        place = one.was.at if one.was is not None else None
        for path, finding in migrated.named if place is not None else ():
            lines = {*range(finding.line, finding.end_line + 1), *finding.lines}
            if place is not None and path.endswith(place.file) and any(abs(place.line - line) <= 2 for line in lines):
                return f"{finding.rule}  {path}:{finding.line}: {finding.message}"
    if verdict.cause is not None and verdict.cause.name == "several loss scales":  # named where they are made
        for path, finding in migrated.named:
            if "num_losses" in finding.message:
                return f"{finding.rule}  {path}:{finding.line}: {finding.message}"
    return None


def _said(one: Difference) -> str:
    ratio = f" ({_times(one.ratio)})" if one.ratio is not None and not 0.5 < one.ratio < 2 else ""
    if one.quantity == "exception":
        return (
            f"the new code raises: {str(one.new).strip().splitlines()[0] if str(one.new).strip() else 'an exception'}"
        )
    if one.quantity in ("forwards", "losses", "backwards", "clips", "steps", "processes"):
        if one.old == one.new:
            return f"other {one.quantity}"
        return f"{one.quantity}: {_shown(one.old)} became {_shown(one.new)}"
    return f"{one.quantity} {_shown(one.old)} became {_shown(one.new)}{ratio}"


def _times(ratio: float) -> str:
    if abs(ratio) >= 1:
        return f"{ratio:,.6g} times"
    return f"1/{1 / ratio:,.6g} of it" if ratio else "nothing of it"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.9g}" if math.isfinite(value) else str(value)
    return "none" if value is None else str(value)


def _places(one: Difference) -> str:
    was = str(one.was.at) if one.was is not None and one.was.at is not None else ""
    now = str(one.now.at) if one.now is not None and one.now.at is not None else ""
    if not was and not now:
        return ""
    return f" ({was or 'nowhere'} before, {now or 'nowhere'} now)"


def _parted(verdict: Verdict) -> dict[str, Any] | None:
    parted = verdict.parted
    if parted is None:
        return None
    return {
        "process": parted.process,
        "step": parted.window,
        "differences": [
            {
                "quantity": one.quantity,
                "old": _plain(one.old),
                "new": _plain(one.new),
                "ratio": one.ratio,
                "before": _at(one.was.at if one.was else None),
                "now": _at(one.now.at if one.now else None),
            }
            for one in parted.differences
        ],
        "cause": None
        if verdict.cause is None
        else {"name": verdict.cause.name, "text": verdict.cause.text, "at": _at(verdict.cause.at)},
    }


def _plain(value: Any) -> Any:
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _at(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"file": place.file, "line": place.line}


# ---------------------------------------------------------------- what it proves


def proves(verdict: Verdict) -> str:
    """What holds after this run."""
    first = verdict.old[0].begin
    where = (
        "on the CPU in float32, with a double of Apex's loss scaling that is not Apex"
        if first["apex"] == "double"
        else "on this GPU, with Apex itself"
    )
    what = {
        "equal": "the same steps, losses, gradients, weights and loss scales, and the same under casts",
        "within noise": "the same steps and casts, and numbers as near as the old code is to itself",
        "parted": "that the new code does something else",
    }[verdict.outcome]
    return f"{what}, {where}, in {_number(_steps(verdict.old), 'step')} of this command."


def does_not_prove(verdict: Verdict) -> tuple[str, ...]:
    """What this run says nothing about."""
    first = verdict.old[0].begin
    found = []
    if first["device"] == "cpu":
        found += ["the rounding of half precision", "speed and memory", "batch statistics across processes"]
    if any(one.cut for one in verdict.old):
        found.append(f"what follows step {max(one.steps for one in verdict.old)} (--steps looks further)")
    if any(run.ended != "itself" for run in verdict.runs[:2]):
        found.append(f"what follows step {_steps(verdict.old)}, as the old code was ended there")
    if not _skipped(verdict.old):
        found.append("what an overflow does, as none happened")
    return (*found, "other options of the script")


def _steps(histories: Sequence[History]) -> int:
    return max((one.steps for one in histories), default=0)


def _skipped(histories: Sequence[History]) -> int:
    return max((sum(not event["taken"] for event in one.of("step")) for one in histories), default=0)


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
