"""Both programs stand at something of note: what only one has to do is passed over, the rest is compared."""

from __future__ import annotations

import ast

from ..program.syntax import divides, factors, names_in
from ..run.event import Event
from ..state import State
from .casts import Casts
from .flow import Flow
from .forgetting import Forgetting
from .gradients import Gradients
from .pair import Both, Differs, Pair
from .telling import Teller

_GENERAL = {"zero": "clear", "scale": "state"}
_SAID = {
    "forward": "calls a model", "loss": "computes a loss", "backward": "runs a backward",
    "read": "reads gradients", "clear": "clears gradients", "zero": "clears gradients", "step": "steps an optimizer",
    "scale": "reads the loss scale", "state": "saves or loads the scaler's state", "round": "goes round a loop",
    "head": "goes round a loop", "enter": "calls a function", "choose": "waits for a call", "end": "ends",
}  # fmt: skip


class Joint:
    """What both programs have to do. ``moved`` are readers that a rule moved, and said so; ``rescaled`` clips and norms
    that a rule made up for the scale instead; ``dropped`` what saved or loaded Apex's state, and is gone."""

    def __init__(
        self,
        both: Both,
        forgetting: Forgetting,
        teller: Teller,
        moved: frozenset[ast.stmt],
        rescaled: frozenset[ast.AST],
        dropped: frozenset[ast.AST],
    ) -> None:
        self.both, self.old, self.new = both, both.old, both.new
        self.forgetting, self.teller = forgetting, teller
        self.flow = Flow(both, forgetting, rescaled)
        self.casts = Casts(both, teller)
        self.gradients = Gradients(both, teller)
        self.moved, self.rescaled, self.dropped = moved, rescaled, dropped

    def together(self, pair: Pair) -> list[Pair] | None:
        """Compare and carry out what both are at. A list of pairs where the ways part, None where they go on."""
        old, new = pair.event_old, pair.event_new
        assert old is not None and new is not None
        if "fails" in (old.kind, new.kind):
            return self._may_fail(pair, old, new)
        if self._moved_away(pair, old) or (old.kind == "state" and old.node in self.dropped):
            pair.event_old = None
            return None
        if self._moved_here(pair, old, new) or self._reads_scale_alone(pair, old, new):
            pair.event_new = None
            return None
        if old.kind != new.kind:
            if _sees_nothing(pair.old, old):
                pair.event_old = None
                return None
            if _sees_nothing(pair.new, new):
                pair.event_new = None
                return None
        if self.flow.property_alone(pair, old, new) or self.flow.constructor_alone(pair, old, new):
            return None
        if _general(old) != _general(new):
            raise self._out_of_step(old, new)
        pair.event_old = pair.event_new = None
        return self._carried_out(pair, old, new)

    def _may_fail(self, pair: Pair, old: Event, new: Event) -> list[Pair] | None:
        """Something may raise in both, or in one alone: then that one goes on."""
        here, there = (side.program.naming.place(one.node) for side, one in ((self.old, old), (self.new, new)))
        both = old.kind == new.kind
        if both and (here, old.about) == (there, new.about):
            pair.event_old = pair.event_new = None
            return self.casts.failing(pair, old, old.about[1]) if self.gradients.unlike(pair) else None
        if old.kind == "fails" and not (both and 0 <= there < here):
            pair.event_old = None
        else:
            pair.event_new = None
        return None

    # ------------------------------------------------------------ what only one has to do

    def _moved_away(self, pair: Pair, old: Event) -> bool:
        """Whether a reader stood here in the old program that a rule moved: it is passed over."""
        if old.kind == "read" and old.node in self.moved:
            return True
        if old.kind == "enter" and self.old.m.statement(old.node) in self.moved:  # a clip of the file's own
            self.old.calls.pass_by(pair.old, old.node)
            return True
        return False

    def _moved_here(self, pair: Pair, old: Event, new: Event) -> bool:
        """Whether a reader stands here in the new program that a rule moved: it sees unscaled gradients."""
        if not self.moved or new.kind not in ("enter", "read"):
            return False
        apart = old.kind != new.kind or self.both.stands(old.node)
        written = apart and not self.both.line(new.node)  # where the moved one stands now
        if new.kind == "read":
            if self.both.source(new.node) not in self.moved and not written:
                return False
            self.gradients.unscaled(pair, new)
            return True
        moved = self._was_moved(new.node)
        if not moved and not written:
            return False
        self.gradients.unscaled(pair, Event("read", new.node, self.new.program.objects.optimizers))
        if moved:
            self.new.calls.pass_by(pair.new, new.node)
        else:
            pair.new.frames[-1].pc += 1
        return True

    def _was_moved(self, node: ast.AST) -> bool:
        """Whether a call of the new program stands where a rule moved it."""
        stmt = self.new.m.statement(node)
        source = self.both.source(stmt)
        return source in self.moved or (source is None and not self.both.line(stmt))

    def _reads_scale_alone(self, pair: Pair, old: Event, new: Event) -> bool:
        """Whether the new program reads the loss scale as a rule wrote it, to divide by it, or as the native side does
        that serves in Apex's place, to see whether a step was taken."""
        if new.kind != "scale" or old.kind in ("scale", "state"):
            return False
        return not self.both.line(new.node) or (self.old.evaluator.sides is not None and pair.old.initialized)

    # ------------------------------------------------------------ what both have to do

    def _carried_out(self, pair: Pair, old: Event, new: Event) -> list[Pair] | None:
        match _general(old):
            case "end":
                if (old.about is None) != (new.about is None):
                    ends = f"the old program ends with {old.about}, the new one with {new.about}"
                    raise Differs("raises", None, ends)
                return []
            case "round":
                return self.flow.round(pair, old, new)
            case "aside":
                return self.flow.aside(pair, old, new)
            case "head":
                self.forgetting.begin_round(pair, old.node)
                for state, event, side in ((pair.old, old, self.old), (pair.new, new, self.new)):
                    if isinstance(event.node, ast.While):
                        side.loops.begin_round(state, event.node, pair.facts)
            case "choose":
                return self.flow.choose(pair, old, new)
            case "enter":
                self.flow.enter(pair, old, new)
            case "forward" | "loss":
                return self.casts.compute(pair, old)
            case "foreign":
                return self.casts.perhaps_failing(pair, old)
            case "backward":
                return self.gradients.backward(pair, old, new)
            case "read":
                if divides(new.node):
                    self.gradients.read_divided(pair, old)
                elif old.node not in self.rescaled or self._takes_as_unscaled(pair, old.node, new.node):
                    self.gradients.read(pair, old)
                    self.gradients.put(pair, old)
            case "clear":
                self.gradients.clear(pair, old, new)
            case "step":
                self.gradients.step(pair, old, new)
            case "state" if new.kind == "scale":
                self._read_scale(pair, old)
            case _:
                pass
        return None

    def _takes_as_unscaled(self, pair: Pair, before: ast.AST, reader: ast.AST) -> bool:
        """Whether a reader that makes up for the loss scale takes it to be 1 here, and gradients to be unscaled."""
        own = names_in(before)
        made_up = [factor for factor in factors(reader) if factor.id not in own]
        held = [self.new.evaluator.value(pair.new, factor, pair.facts) for factor in made_up]
        if any(term != ("k", 1.0) and term[-1] != "the loss scale" for term in held):
            raise Differs("read-scaled", before, "it is not known here whether gradients are scaled")
        return any(term == ("k", 1.0) for term in held)

    def _read_scale(self, pair: Pair, old: Event) -> None:
        if pair.old.halved != pair.new.halved:
            message = (
                "the loss scale is read here after an overflow: Apex had halved it already, a GradScaler does "
                "so at update()"
            )
            self.teller.go_on_if_announced(pair, Differs("scale-time", old.node, message))

    def _out_of_step(self, old: Event, new: Event) -> Differs:
        here, there = _SAID.get(old.kind, old.kind), _SAID.get(new.kind, new.kind)
        if old.kind == "end":
            line = self.teller.new_line(new)
            return Differs("order", new.node, f"the old program is done, the new one {there} (line {line})")
        if new.kind == "end":
            return Differs("order", old.node, f"the old program {here} here, the new one is done")
        if old.kind in ("round", "head"):  # what is one too many stands at the end of a round
            return Differs("order", new.node, f"the new program {there} here, the old one {here} instead")
        return Differs("order", old.node, f"the old program {here} here, the new one {there} instead")


def _general(event: Event) -> str:
    return _GENERAL.get(event.kind, event.kind)


def _sees_nothing(state: State, event: Event) -> bool:
    """Whether a reader looks at gradients where there are none, and leaves none."""
    return event.kind == "read" and not event.puts and not any(state.seen(one) for one in event.about)
