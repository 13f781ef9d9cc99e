"""The two machines: what Apex and torch do to gradients, scale and casts.

Sources: apex/amp/handle.py, scaler.py, _process_optimizer.py at tag 25.05; torch/amp/grad_scaler.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from .state import Contribution, Crash, Key, LegacyRaises, Scaler, State, together

_UNSCALED = {"S": "1", "1": "1/S", "old S": "old S/S"}


def _factor(factor: str) -> str:
    return _UNSCALED.get(factor, factor)


# ---------------------------------------------------------------- Apex


def apex_initialize(state: State, casts: bool, active: bool) -> None:
    """``amp.initialize``: casts from now on, in the whole process; the scale starts anew."""
    state.initialized, state.casts, state.active, state.fresh = True, casts, active, True
    state.started += casts


def apex_enter(state: State, optimizers: frozenset[Key], delay: bool) -> None:
    """``with amp.scale_loss(…)``: earlier gradients are put aside, but for those that wait to be unscaled.

    An exception that leaves the block leaves them aside (there is no ``finally`` in Apex).
    """
    if not state.initialized:
        raise LegacyRaises
    if not state.active:
        return
    if delay:
        return
    for one in optimizers - state.delayed:
        state.stash[one] = state.grads.get(one, frozenset())
        state.grads[one] = frozenset()


def apex_leave(
    state: State, optimizers: frozenset[Key], delay: bool, apart: frozenset[Key] = frozenset()
) -> None:
    """The end of the block: new gradients are unscaled and added to the earlier ones; on overflow the next step
    is armed to be skipped. Those of ``apart`` have another loss scale, that of a block that is still open."""
    if not state.active:
        return
    if delay:
        state.delayed |= optimizers
        return
    state.delayed -= optimizers
    overflowed = False
    for one in optimizers:
        new = state.grads.get(one, frozenset())
        overflowed |= any(inf for _, _, inf in new)
        unscaled = frozenset((b, _factor(f) if b else f, inf) for b, f, inf in new)
        state.grads[one] = together(unscaled | state.stash.drop(one))
    if overflowed:
        state.armed |= optimizers
        state.halved += 1
        for one, had in ((one, had) for one, had in list(state.grads.items()) if one not in apart):
            state.grads[one] = frozenset((b, "old S" if f == "S" else f, inf) for b, f, inf in had)


def apex_step(state: State, optimizers: Iterable[Key]) -> dict[Key, str]:
    """``optimizer.step()``: taken, or left out once if it was armed (as it never is where Apex is gone)."""
    taken: dict[Key, str] = {}
    for one in optimizers:
        if one in state.armed:
            state.armed -= {one}
            there = any(inf for _, _, inf in state.grads.get(one, frozenset()))
            taken[one] = "skipped" if there else "skipped late"
        else:
            taken[one] = _applied(state, one)
    return taken


def _applied(state: State, optimizer: Key) -> str:
    seen = sorted(f"{b}:{f}" for b, f in state.seen(optimizer))
    return "applied " + " ".join(seen)


# ---------------------------------------------------------------- torch


def torch_begin(state: State, key: Key, enabled: bool) -> None:
    """``GradScaler(…)``: where one was made there before, its scale is not that of this one."""
    state.scalers[key] = Scaler(enabled)
    _outdate(state, frozenset(place for place, by in state.scaled_by.items() if by == key))


def torch_backward(state: State, place: int, key: Key) -> None:
    """A backward of a loss that a scaler multiplied; what another one's left there before is not of its scale."""
    if state.scaled_by.get(place, key) != key:
        _outdate(state, frozenset({place}))
    state.scaled_by[place] = key


def _outdate(state: State, places: frozenset[int]) -> None:
    """What backwards left scaled is scaled by a scale that nobody will divide by."""
    for grads in (state.grads, state.stash) if places else ():
        for one, had in list(grads.items()):
            if any(b in places and factor == "S" for b, factor, _ in had):
                grads[one] = frozenset((b, "old S" if b in places and f == "S" else f, inf) for b, f, inf in had)


def torch_scale(state: State, key: Key) -> bool:
    """``scaler.scale(loss)``; whether it multiplies anything."""
    scaler = state.scalers[key]
    if scaler.enabled:
        state.scalers[key] = Scaler(True, True, scaler.marks)
    return scaler.enabled


def torch_unscale(state: State, key: Key, optimizers: Iterable[Key]) -> None:
    """``scaler.unscale_(optimizer)``."""
    scaler = state.scalers[key]
    if not scaler.enabled:
        return
    if not scaler.used:
        raise Crash("unscale_() is called before any loss was scaled", "no-gradients")
    for one in optimizers:
        if (one, "stepped") in scaler.marks:
            raise Crash("unscale_() is called after the step, before update()")
        if (one, "unscaled") in scaler.marks:
            raise Crash("unscale_() is called twice before update()")
    _unscale(state, key, optimizers)


def _unscale(state: State, key: Key, optimizers: Iterable[Key]) -> None:
    scaler = state.scalers[key]
    marks = set(scaler.marks)
    for one in optimizers:
        had: frozenset[Contribution] = state.grads.get(one, frozenset())
        foreign = {b for b, _, _ in had if state.scaled_by.get(b, key) != key}  # scaled by another scaler
        state.grads[one] = frozenset(
            (b, _factor("old S" if b in foreign and f == "S" else f) if b else f, inf) for b, f, inf in had
        )
        marks.add((one, "unscaled"))
        if had:
            marks.add((one, "checked"))
        if any(inf for _, _, inf in had):
            marks.add((one, "found"))
    state.scalers[key] = Scaler(scaler.enabled, scaler.used, frozenset(marks))


def torch_step(state: State, key: Key, optimizers: Iterable[Key]) -> dict[Key, str]:
    """``scaler.step(optimizer)``: unscales where nobody did, and leaves the step out on overflow."""
    scaler = state.scalers[key]
    optimizers = list(optimizers)
    if not scaler.enabled:
        return {one: _applied(state, one) for one in optimizers}
    if not scaler.used:
        raise Crash("scaler.step() is called before any loss was scaled", "no-gradients")
    taken: dict[Key, str] = {}
    for one in optimizers:
        if (one, "stepped") in scaler.marks:
            raise Crash("scaler.step() is called twice before update()")
    fresh = [one for one in optimizers if (one, "unscaled") not in scaler.marks]
    _unscale(state, key, fresh)
    scaler = state.scalers[key]
    for one in optimizers:
        if (one, "checked") not in scaler.marks:
            raise Crash("scaler.step() finds no gradients: no backward since they were cleared", "no-gradients")
        taken[one] = "skipped" if (one, "found") in scaler.marks else _applied(state, one)
    state.scalers[key] = Scaler(scaler.enabled, scaler.used, scaler.marks | {(one, "stepped") for one in optimizers})
    return taken


def torch_update(state: State, key: Key) -> None:
    """``scaler.update()``: the scale moves, and every optimizer starts anew."""
    scaler = state.scalers[key]
    if not scaler.enabled:
        return
    if not any(mark == "checked" for _, mark in scaler.marks):
        raise Crash("update() is called with nothing recorded since the last one", "no-gradients")
    for one, had in list(state.grads.items()):
        state.grads[one] = frozenset(
            (b, "old S" if f == "S" and state.scaled_by.get(b, key) == key else f, inf) for b, f, inf in had
        )
    state.halved += any(mark == "found" for _, mark in scaler.marks)
    state.scalers[key] = Scaler(scaler.enabled, scaler.used)
