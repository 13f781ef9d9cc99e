"""The loss scale: torch's GradScaler, and Apex (the double on a CPU, itself on a GPU)."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from .importing import after
from .record import Recorder, plain


def record(torch: Any, recorder: Recorder) -> None:
    """Listen to every GradScaler; on a CPU it is the real one too, made for that device."""
    try:
        scaler = torch.amp.grad_scaler.GradScaler
    except AttributeError:  # torch before 2.3
        scaler = torch.cuda.amp.grad_scaler.GradScaler
    init, scale, unscale = scaler.__init__, scaler.scale, scaler.unscale_
    step, update = scaler.step, scaler.update
    here = recorder.here

    @functools.wraps(init)
    def make(self: Any, device: Any = "cuda", *args: Any, **kwargs: Any) -> None:
        if recorder.settings["device"] == "cpu" and str(device) == "cuda":
            device = "cpu"
        init(self, device, *args, **kwargs)
        recorder.tell(
            "scaler",
            enabled=bool(self._enabled),
            scale=plain(self._init_scale) if self._enabled else None,
            at=recorder.where(),
        )

    @functools.wraps(scale)
    def scaled(self: Any, outputs: Any) -> Any:
        result = scale(self, outputs)
        if self._enabled:
            for one in result if isinstance(result, (list, tuple)) else [result]:
                recorder.mark(one, self.get_scale())
        return result

    @functools.wraps(unscale)
    def unscaled(self: Any, optimizer: Any) -> Any:
        if self._enabled and not here.in_scaler:
            recorder.tell("unscale", opt=recorder.number(optimizer), at=recorder.where())
        return unscale(self, optimizer)

    @functools.wraps(step)
    def stepped(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        before = recorder.steps
        here.in_scaler += 1
        try:
            result = step(self, optimizer, *args, **kwargs)
        finally:
            here.in_scaler -= 1
        if recorder.steps == before:
            skipped(recorder, optimizer, "scaler.step")
        return result

    @functools.wraps(update)
    def updated(self: Any, *args: Any, **kwargs: Any) -> None:
        update(self, *args, **kwargs)
        if self._enabled:
            recorder.scale = self.get_scale()
            recorder.tell("update", scale=plain(recorder.scale), at=recorder.where())

    scaler.__init__, scaler.scale, scaler.unscale_ = make, scaled, _refusing(recorder, unscaled)
    scaler.step, scaler.update = _refusing(recorder, stepped), _refusing(recorder, updated)


def _refusing(recorder: Recorder, function: Callable[..., Any]) -> Callable[..., Any]:
    """Tells what it raises: a script may catch that, and say something else or nothing."""

    @functools.wraps(function)
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except Exception as error:
            recorder.tell("refused", kind=type(error).__name__, text=str(error)[:2000], at=recorder.where())
            raise

    return told


def skipped(recorder: Recorder, optimizer: Any, by: str) -> None:
    """A step that an overflow left out."""
    recorder.stepped(opt=recorder.number(optimizer), taken=False, by=by, at=recorder.where())


def record_apex(recorder: Recorder, double: bool) -> None:
    """Listen to Apex as soon as it is imported."""
    if double:
        after("apex.observe", lambda observe: _listen_to_double(recorder, observe))
    else:
        after("apex.amp", lambda amp: _listen_to_apex(recorder, amp))


def _listen_to_double(recorder: Recorder, observe: Any) -> None:
    def listen(event: str, data: Any) -> None:
        if event == "message":
            print(data["text"])
        elif event == "scaled":
            recorder.mark(data["tensor"], data["scale"])
            recorder.dynamic = data.get("dynamic", True)
        elif event == "scale":
            recorder.scale = data["scale"]
        elif event == "skip":
            skipped(recorder, data["optimizer"], "apex")

    observe.listener = listen
    recorder.apex_casts = observe.casts
    # At O2 and O3 the types of what reaches a loss decide, and none is half here.
    recorder.loss_casts = lambda: True if observe.patched() else None if observe.cast_models else False


def _listen_to_apex(recorder: Recorder, amp: Any) -> None:
    state = amp._amp_state
    handle: Any = importlib.import_module("apex.amp.handle")
    real = amp.scale_loss

    @functools.wraps(real)
    @contextlib.contextmanager
    def scale_loss(loss: Any, optimizers: Any, loss_id: int = 0, *args: Any, **options: Any) -> Iterator[Any]:
        scalers = getattr(state, "loss_scalers", ())
        with real(loss, optimizers, loss_id, *args, **options) as scaled:
            if scalers and state.opt_properties.enabled:
                recorder.mark(scaled, scalers[loss_id].loss_scale())
                recorder.dynamic = scalers[loss_id].dynamic
            yield scaled
        if scalers and state.opt_properties.enabled:
            recorder.scale = scalers[loss_id].loss_scale()
        for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
            _tell_of_skip(recorder, optimizer)

    amp.scale_loss = handle.scale_loss = scale_loss

    def patched() -> bool:
        return hasattr(state, "handle") and bool(state.handle.is_active())

    def casts_models() -> bool:
        found = getattr(state, "opt_properties", None)
        return found is not None and bool(found.enabled) and found.options.get("cast_model_type") not in (None, False)

    recorder.apex_casts = lambda module: patched() or casts_models()
    recorder.loss_casts = lambda: True if patched() else None if casts_models() else False


def _tell_of_skip(recorder: Recorder, optimizer: Any) -> None:
    """An overflow has replaced ``optimizer.step`` by a function that skips once and puts the old one back."""
    stash = getattr(optimizer, "_amp_stash", None)
    if stash is None or not stash.already_patched or getattr(optimizer.step, "told_of", False):
        return
    skip = optimizer.step

    def told(*args: Any, **kwargs: Any) -> Any:
        skipped(recorder, optimizer, "apex")
        return skip(*args, **kwargs)

    told.told_of = True  # type: ignore[attr-defined]
    optimizer.step = told
