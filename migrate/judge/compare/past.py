"""Backwards whose gradients are the same in both programs: which one they came from does not matter any more.

What a reader or a step sees of an optimizer's gradients is compared by the backward that they come from. Where those of
several have the same factor in both programs, and no scaler has to do with them any more, nothing that follows tells
them apart: so they go by one name. Else, of a hundred functions one behind the other, each would be met with the
gradients of every earlier one.
"""

from __future__ import annotations

from ..state import Contribution, State, together
from .pair import Pair

_Contributions = frozenset[Contribution]
_NONE: _Contributions = frozenset()


class Past:
    """The names of backwards that are over: a negative number for each factor."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._known: dict[tuple[_Contributions, _Contributions, _Contributions], dict[int, int]] = {}

    def forget(self, pair: Pair) -> None:
        """Give the backwards of both programs such names, and forget by which scaler their losses were scaled. Of what
        did not change since it was last done, all that could have such a name has it."""
        old, new = pair.old, pair.new
        for one in {**old.grads.changed, **new.grads.changed, **old.stash.changed}:
            had = old.grads.get(one, _NONE)
            names = self._renamed(had, new.grads.get(one, _NONE), old.stash.get(one, _NONE)) if had else {}
            for state in (old, new) if names else ():
                found = frozenset((names.get(b, b), f, inf) for b, f, inf in state.grads[one])
                state.grads[one] = together(found)
        for changed in (old.grads.changed, new.grads.changed, old.stash.changed):
            changed.clear()
        for state in (old, new):
            _forget_scalers(state)

    def _renamed(self, before: _Contributions, after: _Contributions, aside: _Contributions) -> dict[int, int]:
        """New names of backwards, by what an optimizer has of each in the old program, in the new one, and put aside in
        a block of Apex's."""
        known = (before, after, aside)
        if known not in self._known:
            self._known[known] = self._found(before, after, aside)
        return self._known[known]

    def _found(self, before: _Contributions, after: _Contributions, aside: _Contributions) -> dict[int, int]:
        factors: dict[int, list[str]] = {}
        for backward, factor, _ in before:
            factors.setdefault(backward, []).append(factor)
        unlike = {b for b, _, _ in (before ^ after) | aside}
        over = {b: of[0] for b, of in factors.items() if b and b not in unlike and len(of) == 1 and of[0] != "S"}
        names = {b: self._names.setdefault(factor, -1 - len(self._names)) for b, factor in sorted(over.items())}
        # One program may have something of such a name that the other has not: that is told apart from this.
        return {b: name for b, name in names.items() if b != name and name not in unlike}


def _forget_scalers(state: State) -> None:
    """By which scaler a loss was scaled matters as long as its gradients are."""
    if state.scaled_by:
        held = {*state.grads.values(), *state.stash.values()}
        scaled = {b for had in held for b, f, _ in had if f == "S"}
        if not scaled.issuperset(state.scaled_by):
            state.scaled_by = {b: key for b, key in state.scaled_by.items() if b in scaled}
