"""The likely cause of a parting: one function a mistake, the first that knows it is taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .comparing import Parted
from .history import Event, History, Place, Window

_WINDOW = 2000  # backwards without an overflow until Apex doubles a loss scale


@dataclass(frozen=True)
class Cause:
    """What is probably wrong, and where in the new code (None: where it is missing cannot be said)."""

    name: str
    text: str
    at: Place | None


@dataclass(frozen=True)
class _Case:
    parted: Parted
    old: History
    new: History
    ending: str  # how the command ended with the new code, where that is another end than the old one's

    @property
    def now(self) -> Window:
        return self.parted.new


def cause(parted: Parted, old: Sequence[History], new: Sequence[History], ending: str = "") -> Cause | None:
    """What one would look at first; None where none of the known mistakes looks like this."""
    if parted.process >= min(len(old), len(new)):
        return None
    case = _Case(parted, old[parted.process], new[parted.process], ending)
    return next((found for look in _LOOKS if (found := look(case)) is not None), None)


def _place(event: Event | None) -> Place | None:
    return event.at if event is not None else None


# ---------------------------------------------------------------- exceptions

_PROTOCOL = (
    (
        "unscale_() has already been called",
        "unscaled twice",
        "`unscale_` is called a second time before `update()`: once for each step is enough, and every way out "
        "between it and the next step needs an `update()`",
    ),
    (
        "_scale is None",
        "not scaled",
        "no loss was scaled before this: `scaler.scale(loss).backward()`",
    ),
    (
        "step() has already been called since the last update()",
        "no update",
        "`scaler.update()` is missing behind `scaler.step`",
    ),
    (
        "No inf checks were recorded for this optimizer",
        "no gradients",
        "at this step the optimizer has no gradients of a scaled loss: they were zeroed behind the backward, or belong "
        "to another optimizer",
    ),
    (
        "No inf checks were recorded",
        "one update too many",
        "`scaler.update()` or `scaler.step` is called where no step was unscaled since the last one: an `update()` "
        "too many, or a step whose optimizer got no gradients from a scaled loss",
    ),
    (
        "Attempting to unscale FP16 gradients",
        "half weights",
        "the weights are in half precision (`.half()`): under autocast they stay in float32",
    ),
    (
        "unsafe to autocast",
        "binary cross entropy",
        "binary cross entropy on probabilities may not run under autocast: use the version with logits, or an "
        "autocast region that is switched off",
    ),
)


def _exception(case: _Case) -> Cause | None:
    raised = case.new.raised or case.new.refused
    if raised is None or case.old.raised is not None:
        return None
    text, kind = str(raised["text"]), str(raised["kind"])
    if "unscale_() is being called after step()" in text:
        if not case.new.of("update"):
            return Cause("no update", "`scaler.update()` is missing behind `scaler.step`", raised.at)
        return Cause("unscaled late", "`unscale_` has to stand before `scaler.step`", raised.at)
    if "No inf checks were recorded prior to update" in text and _may_lack_its_step(case):
        return Cause("step lost", "`scaler.step(optimizer)` is missing before this: its gradients are there", raised.at)
    for words, name, said in _PROTOCOL:
        if words in text:
            return Cause(name, said, raised.at)
    if kind in ("ModuleNotFoundError", "ImportError") and "apex" in text:
        return Cause("apex left", f"the new code still imports Apex: {text}", raised.at)
    if kind == "KeyError" and "scale" in text:
        return Cause(
            "old checkpoint",
            "a checkpoint with Apex's state is loaded into a GradScaler: `apex2native convert-checkpoint` converts it",
            raised.at,
        )
    return Cause("exception", f"{kind}: {text.strip().splitlines()[0] if text.strip() else 'no message'}", raised.at)


def _may_lack_its_step(case: _Case) -> bool:
    """Whether all backwards of this step have run: then what is missing is the step."""
    return case.parted.old.step is not None and 0 < len(case.parted.old.of("backward")) <= len(case.now.of("backward"))


def _half(case: _Case) -> Cause | None:
    found = case.parted.first("half weights")
    if found is None or found.now is None or found.old >= found.new:
        return None
    said = next(said for _, name, said in _PROTOCOL if name == "half weights")
    return Cause("half weights", said, found.now.at)


# ---------------------------------------------------------------- casts


def _forward(case: _Case) -> Cause | None:
    found = case.parted.first("casts of forwards")
    if found is None or found.now is None:
        return None
    what = f"the forward of {found.now['name']}" + ("" if found.now["grad"] else " in evaluation")
    if found.old:
        return Cause("forward outside autocast", f"{what} ran under casts and runs in float32 now", found.now.at)
    return Cause("forward inside autocast", f"{what} ran in float32 and runs under autocast now", found.now.at)


def _loss(case: _Case) -> Cause | None:
    found = case.parted.first("casts of losses")
    if found is None or found.now is None:
        return None
    if found.old:
        return Cause("loss outside autocast", f"{found.now['name']} is computed outside of autocast", found.now.at)
    return Cause(
        "loss inside autocast", f"{found.now['name']} ran outside of casts and is under autocast", found.now.at
    )


def _backward_under_autocast(case: _Case) -> Cause | None:
    found = case.parted.first("casts of backwards")
    if found is None or found.now is None or not found.new:
        return None
    return Cause(
        "backward inside autocast", "the backward runs under autocast: it belongs behind the region", found.now.at
    )


# ---------------------------------------------------------------- scaling


def _not_scaled(case: _Case) -> Cause | None:
    found = case.parted.first("scaling")
    if found is None or found.now is None:
        return None
    if not found.old:
        return Cause("scaled", "this loss was not scaled before, and is now", found.now.at)
    off = [event for event in case.new.of("scaler") if not event["enabled"]]
    if off and not any(event["enabled"] for event in case.new.of("scaler")):
        return Cause("scaler off", "the GradScaler is switched off: its `enabled` is false", off[-1].at)
    return Cause(
        "not scaled", "`backward()` is called on the loss itself: `scaler.scale(loss).backward()`", found.now.at
    )


def _scale(case: _Case) -> Cause | None:
    found = case.parted.first("loss scale")
    if found is None or found.now is None:
        return None
    window = case.parted.window
    if _several_scales(case):
        return Cause(
            "several loss scales",
            "Apex kept a loss scale for each loss (`num_losses`), of which an overflow halves one, "
            "and a GradScaler has one for all",
            found.now.at,
        )
    made = [event for event in case.now.of("scaler") if event["enabled"]]
    said = f"the loss scale was {found.old:g} and is {found.new:g}"
    first = not any(one.of("backward") for one in case.new.windows[:window])
    if first:
        return Cause(
            "initial scale", f"{said} from the start: `init_scale` says another", made[-1].at if made else None
        )
    if made or _made_before(case):
        again = made or _made_before(case)
        return Cause("scaler made anew", f"{said}: a new GradScaler is made during training", again[-1].at)
    updates = _updates(case)
    if not updates:
        return Cause("no update", f"{said}: `scaler.update()` is never called", _last_step(case))
    return Cause(
        "update",
        f"{said}: `scaler.update()` has to be called once behind each step, taken or skipped",
        updates[-1].at,
    )


def _several_scales(case: _Case) -> bool:
    """Whether the old loss scale goes up again sooner than one that was halved can."""
    scales = [float(event["scale"]) for event in case.old.of("backward") if event["scale"] not in (None, 1.0)]
    steps = list(pairwise(scales))
    return len(scales) < _WINDOW and any(b < a for a, b in steps) and any(b > a for a, b in steps)


def _made_before(case: _Case) -> list[Event]:
    """GradScalers made after the first backward."""
    later = []
    trained = False
    for event in case.new.events:
        trained = trained or event.kind == "backward"
        if trained and event.kind == "scaler" and event["enabled"]:
            later.append(event)
    return later


def _updates(case: _Case) -> list[Event]:
    return [event for window in case.new.windows[: case.parted.window + 1] for event in window.of("update")]


def _last_step(case: _Case) -> Place | None:
    steps = [window.step for window in case.new.windows[: case.parted.window] if window.step is not None]
    return steps[-1].at if steps else None


# ---------------------------------------------------------------- gradients


def _loss_value(case: _Case) -> Cause | None:
    found = case.parted.first("loss")
    if found is None or found.now is None or found.ratio is None:
        return None
    number = _whole(found.ratio)
    if number is None:
        return None
    times = f"{number} times" if found.ratio > 1 else f"1/{number} of"
    return Cause(
        "loss divided otherwise",
        f"the loss is {times} what it was: a division by the number of micro-batches was lost, added or doubled",
        found.now.at,
    )


def _whole(ratio: float) -> int | None:
    """The whole number from 2 up that a ratio, or its inverse, is."""
    large = ratio if abs(ratio) > 1 else 1 / ratio if ratio else math.inf
    near = round(large) if math.isfinite(large) else 0
    return near if near >= 2 and abs(large - near) < 1e-4 * near else None


def _clip(case: _Case) -> Cause | None:
    found = case.parted.first("clips", "clipped norm", "clipping limit")
    if found is None:
        return None
    scale = _scale_in(case.now)
    if found.quantity == "clips":
        return _clip_elsewhere(case)
    if found.now is None or found.was is None:
        return None
    if found.quantity == "clipping limit":
        return Cause("clipping limit", f"gradients were clipped to {found.old:g}, now to {found.new:g}", found.now.at)
    if _is_scaled(found.ratio, scale):
        return Cause(
            "clipped while scaled",
            "gradients are clipped while they are still scaled: `scaler.unscale_(optimizer)`, "
            "for the optimizer that owns them, has to stand before it",
            found.now.at,
        )
    if _is_scaled(found.ratio and 1 / found.ratio, scale):
        return Cause(
            "not scaled", "the clipped gradients are too small by the loss scale: the loss was not scaled", found.now.at
        )
    if found.was["count"] != found.now["count"]:
        return Cause(
            "other parameters clipped",
            f"{found.was['count']} gradients were clipped, now {found.now['count']}: these are other parameters",
            found.now.at,
        )
    return _not_zeroed(case)


def _clip_elsewhere(case: _Case) -> Cause | None:
    old, new = case.parted.old.of("clip"), case.now.of("clip")
    if len(new) < len(old):
        at = case.parted.window + 1
        after = case.new.windows[at].of("clip") if at < len(case.new.windows) else ()
        if len(new) + len(after) >= len(old) and after and case.now.step is not None:
            return Cause(
                "clipped after the step", "gradients are clipped behind the step, where it changes nothing", after[0].at
            )
        return Cause("not clipped", "gradients were clipped here, and are not any more", _place(case.now.step))
    return Cause(
        "clipped more often", f"gradients were clipped {len(old)} times before this step, now {len(new)}", new[-1].at
    )


def _scale_in(window: Window) -> float | None:
    scales = [float(event["scale"]) for event in window.of("backward") if event["scale"] not in (None, 1.0)]
    return scales[-1] if scales else None


def _is_scaled(ratio: float | None, scale: float | None) -> bool:
    return ratio is not None and scale is not None and scale > 1 and abs(ratio / scale - 1) < 0.01


def _step(case: _Case) -> Cause | None:
    """The step itself: taken by whom, with which gradients."""
    step, was = case.now.step, case.parted.old.step
    if step is None or was is None:
        return None
    scale = _scale_in(case.now)
    norm = case.parted.first("gradient norm")
    taken = case.parted.first("step taken")
    if taken is not None:
        if taken.old:
            return Cause(
                "skipped",
                "this step was taken and is skipped now: its gradients are not finite, "
                "or the scaler saw an overflow of another backward",
                step.at,
            )
        return Cause("not skipped", "Apex skipped this step on an overflow, and it is taken now", step.at)
    if norm is None:
        return None
    if _is_scaled(norm.ratio, scale):
        return Cause("not unscaled", "the step sees gradients that are still scaled", step.at)
    if _is_scaled(norm.ratio and 1 / norm.ratio, scale):
        return Cause(
            "not scaled",
            "the step sees gradients that are too small by the loss scale: they were unscaled twice, "
            "or the loss was not scaled",
            step.at,
        )
    return _not_zeroed(case)


def _not_zeroed(case: _Case) -> Cause | None:
    window = case.parted.window

    def zeroed(windows: Sequence[Window]) -> int:
        return sum(len(one.of("zero")) for one in windows[: window + 1])

    old, new = zeroed(case.old.windows), zeroed(case.new.windows)
    step = case.now.step
    if not case.old.of("zero"):  # at O2 Apex puts a function of its own in its place, which is not heard
        return None
    if new < old:
        return Cause(
            "not zeroed",
            "gradients of the step before are still there: `zero_grad()` is called less often",
            _place(step),
        )
    if new > old:
        return Cause(
            "zeroed too often", "`zero_grad()` is called more often: gradients are lost before the step", _place(step)
        )
    return None


# ---------------------------------------------------------------- the loop


def _stopped(case: _Case) -> Cause | None:
    """The new code ends where the old one goes on, without an exception that was heard of."""
    fewer = len(case.now.of("backward")) <= len(case.parted.old.of("backward"))
    if case.now.step is not None or not fewer or not (case.ending or case.parted.old.step is not None):
        return None
    if not case.parted.first("steps", "forwards", "losses", "backwards", "exit code"):
        return None
    made = f"{case.old.steps} steps were made, now {case.new.steps}" if case.old.steps != case.new.steps else ""
    return Cause("stopped", ": ".join(filter(None, (made, case.ending or "the new code ends here"))), _last_step(case))


def _stepped_twice(case: _Case) -> Cause | None:
    step, before = case.now.step, case.new.windows[case.parted.window - 1].step if case.parted.window else None
    found = case.parted.first("backwards")
    if found is None or found.new or step is None or before is None or step["opt"] != before["opt"]:
        return None
    return Cause(
        "stepped twice",
        "the optimizer steps once more on the gradients of the step before: "
        "`scaler.step(optimizer)` takes the place of `optimizer.step()`",
        step.at,
    )


def _evaluation(case: _Case) -> Cause | None:
    found = case.parted.first("evaluation")
    if found is None or found.now is None:
        return None
    return Cause(
        "evaluation",
        "without gradients the model computes something else, though the steps were the same: other data, or what no "
        "optimizer has (averaged weights, running statistics, a copy of the model)",
        found.now.at,
    )


def _moved(case: _Case) -> Cause | None:
    """What explains more than numbers do."""
    return _loop(case) if case.parted.first("backwards", "optimizer") else None


def _loop(case: _Case) -> Cause | None:
    """Something happens more or less often."""
    step = case.now.step
    found = case.parted.first("optimizer")
    if found is not None:
        return Cause(
            "another optimizer",
            f"optimizer {found.old} stepped here and optimizer {found.new} does now: a step is missing or has moved",
            _place(step),
        )
    found = next(filter(None, map(case.parted.first, ("backwards", "forwards", "losses"))), None)
    if found is not None:
        what = {"backwards": "backward", "forwards": "forward", "losses": "loss"}[found.quantity]
        at = found.now.at if found.now is not None else _place(step)
        if found.old == found.new:
            return Cause("other calls", f"another {what} runs here than before", at)
        return Cause(
            f"{what}s",
            f"{found.old} {what}s ran before this step, now {found.new}"
            + (": the step has moved to another place of the accumulation window" if what == "backward" else ""),
            at,
        )
    found = case.parted.first("steps")
    if found is not None and case.new.raised is None:
        return Cause("steps", f"{case.old.steps} steps were made, now {case.new.steps}", _last_step(case))
    return None


def _rate(case: _Case) -> Cause | None:
    found = case.parted.first("learning rate")
    if found is None or found.now is None:
        return None
    return Cause(
        "learning rate",
        f"the learning rate was {found.old:g} and is {found.new:g}: the scheduler steps at another time",
        found.now.at,
    )


def _formula(case: _Case) -> Cause | None:
    if {one.quantity for one in case.parted.differences} != {"weights"}:
        return None
    names = [[event["name"] for event in side.of("optimizer")] for side in (case.old, case.new)]
    step = case.now.step
    if names[0] != names[1]:
        return Cause("optimizer", f"the optimizers were {', '.join(names[0])} and are {', '.join(names[1])}: "
                     "another formula or other defaults", _place(step))  # fmt: skip
    return Cause("optimizer", "the same gradients give other weights: an option of the optimizer differs", _place(step))


def _begin(case: _Case) -> Cause | None:
    found = case.parted.first("loss")
    if found is None or found.now is None:
        return None
    if case.parted.window == 0:
        return Cause(
            "first loss",
            "the very first loss differs: other weights, data or random numbers, or another loss",
            found.now.at,
        )
    return None


def _ended(case: _Case) -> Cause | None:
    """Where the new code raised before it came to this step."""
    return _exception(case) if case.now.step is None else None


def _direct(case: _Case) -> Cause | None:
    """A step that the scaler knows nothing of, and that does something else."""
    step = case.now.step
    if step is None or not step["taken"] or step["by"] != "optimizer.step" or _scale_in(case.now) is None:
        return None
    if not case.parted.first("gradient norm", "step taken"):
        return None
    return Cause(
        "step past the scaler",
        "`optimizer.step()` is called directly: `scaler.step(optimizer)` unscales, and skips on an overflow",
        step.at,
    )


_LOOKS: tuple[Callable[[_Case], Cause | None], ...] = (
    _half,
    _ended,
    _forward,
    _loss,
    _backward_under_autocast,
    _not_scaled,
    _scale,
    _stopped,
    _stepped_twice,
    _moved,
    _direct,
    _loss_value,
    _clip,
    _step,
    _exception,
    _loop,
    _rate,
    _formula,
    _evaluation,
    _begin,
)
