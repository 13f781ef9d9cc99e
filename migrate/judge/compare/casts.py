"""Models and losses: called under casts in both programs, or in neither; and the exceptions that their calls raise."""

from __future__ import annotations

from ..run.contexts import apex_casts
from ..run.event import Event
from ..run.exits import caught, unwind
from ..state import LegacyRaises, State
from .pair import Both, Differs, Pair
from .telling import Teller


class Casts:
    """Compares what models and losses run in."""

    def __init__(self, both: Both, teller: Teller) -> None:
        self.old, self.teller = both.old, teller

    def compute(self, pair: Pair, old: Event) -> list[Pair] | None:
        """A model is called or a loss computed."""
        if pair.old.casts and not pair.new.casts and self.old.training.left_over(pair.old):
            raise LegacyRaises  # an earlier run in the same process left Apex's casts on: nobody means that
        if pair.old.casts != pair.new.casts and pair.new.stopped and pair.old.started == pair.new.started:
            raise LegacyRaises  # so it did here
        if pair.old.casts != pair.new.casts:
            what = "the model is called" if old.kind == "forward" else "the loss is computed"
            native = _natively(pair.old)
            under = "under autocast" if native else "under Apex's casts"
            how = f"{under}, now without autocast" if pair.old.casts else "without casts, now under autocast"
            program = self.old.program
            trains = self._training(pair.old) and not program.objects.beside(program.v, old.node)
            kind = "loss-casts" if old.kind == "loss" else "casts" if trains else "eval-casts"
            if native or (kind == "casts" and not pair.old.initialized):
                kind = "native-casts"  # not what Apex did: a native side of the old program's own, or none
            self.teller.go_on_if_announced(pair, Differs(kind, old.node, f"{what} {how}"))
        return self.perhaps_failing(pair, old) if old.kind == "forward" else None

    def perhaps_failing(self, pair: Pair, old: Event) -> list[Pair] | None:
        """Where an exception would be caught, one may be raised here."""
        return self.failing(pair, old, "?") if caught(pair.old) and caught(pair.new) else None

    def failing(self, pair: Pair, old: Event, raised: str) -> list[Pair]:
        """Both go on, and both with an exception."""
        failed = pair.copy()
        for state in (failed.old, failed.new):
            state.raising = raised
            state.frames[-1].pc -= 1
            unwind(state)
        failed.trail = self.teller.happens(pair, old.node, "raises an exception")
        return [pair, failed]

    def _training(self, state: State) -> bool:
        """Whether what runs now may be differentiated: a backward stands in a function that is being run, and no
        ``no_grad`` in between."""
        program = self.old.program
        for frame in reversed(state.frames):
            op = frame.code.ops[min(frame.pc, len(frame.code.ops) - 1)]
            if program.evaluation.without_gradients(op.node):
                return False
            if program.callees.runs_backward(frame.code.node):
                return True
        return False


def _natively(before: State) -> bool:
    """Whether the old program's casts are those of an autocast of its own, and none of Apex's."""
    return before.casts and not apex_casts(before)
