"""Backwards, readers of gradients and steps: both programs do the same to the same gradients."""

from __future__ import annotations

from migrate.judge import machines
from migrate.judge.compare.pair import Both, Differs, Pair
from migrate.judge.compare.telling import Teller
from migrate.judge.run.event import Event
from migrate.judge.state import Crash


class Gradients:
    """Compares what becomes of gradients, and carries it out in both programs."""

    def __init__(self, both: Both, teller: Teller) -> None:
        self.both, self.old, self.teller = both, both.old, teller

    def backward(self, pair: Pair, old: Event, new: Event) -> list[Pair]:
        before, after = pair.old, pair.new
        native = old.about[0] == "scaled" and old.about[1] in before.scalers  # the old program's own GradScaler
        scaled_before = old.about[0] == "scaled" and (before.active or native)
        scaled_after = new.about[0] == "scaled"
        if after.casts and any(context[0] == "casts" for context in after.contexts):  # autocast's, not Apex's own
            raise Differs("backward-casts", old.node, "this backward would run under autocast")
        if scaled_before and not scaled_after:
            raise Differs("scale-lost", old.node, "this loss was scaled and is not any more")
        if scaled_after and not scaled_before:
            gained = Differs("scale-gained", old.node, "this loss was not scaled and now is")
            if not before.active:
                raise gained
            self.teller.go_on_if_announced(pair, gained)
        place = self.old.program.naming.place(old.node)
        affected = self.old.program.objects.optimizers
        if scaled_before and not native:
            block = next((c for c in reversed(before.contexts) if c[0] == "scale"), None)
            if block is not None:
                reached = self.old.owners.reached_from(block[1], block[5])
                affected = block[2] | (reached & before.made)
            if before.fresh != after.fresh:
                raise Differs(
                    "fresh-scale",
                    old.node,
                    "the loss scale begins anew here" if after.fresh else "Apex began with a new loss scale here",
                )
            before.fresh = after.fresh = False
        found: list[Pair] = []
        for overflow in (False, True) if scaled_before else (False,):
            one = pair.copy()
            if native:
                one.old.scaled_by[place] = old.about[1]
            one.old.add(affected, (place, "S" if scaled_before else "1", overflow))
            if scaled_after:
                one.new.scaled_by[place] = new.about[1]
            one.new.add(affected, (place, "S" if scaled_after else "1", overflow))
            if overflow:
                one.trail = self.teller.happens(pair, old.node, "overflows")
            found.append(one)
        return found

    def read(self, pair: Pair, old: Event) -> None:
        for one in sorted(old.about, key=str):
            before, after = pair.old.seen(one), pair.new.seen(one)
            if before == after:
                continue
            if any("S" in f for _, f in after):
                message = "gradients are read or changed here while they are still scaled"
                raise Differs("read-scaled", old.node, message)
            raise Differs("read-other", old.node, "gradients are read here that are not the same as before")

    def unscaled(self, pair: Pair, new: Event) -> None:
        if any("S" in f for one in new.about for _, f in pair.new.seen(one)):
            source = self.both.source(new.node) or new.node
            raise Differs("read-scaled", source, "gradients are clipped while they are still scaled")

    def clear(self, pair: Pair, old: Event, new: Event) -> None:
        for state, event in ((pair.old, old), (pair.new, new)):
            optimizers, to_none = event.about if event.kind == "zero" else (event.about, True)
            state.clear(optimizers, to_none)

    def step(self, pair: Pair, old: Event, new: Event) -> None:
        key, optimizers = new.about
        own, stepped = old.about
        if key is not None and own is None and (old.closure or new.closure):
            raise Differs("closure", old.node, "this step is handed a closure, which a GradScaler does not run")
        before = machines.torch_step(pair.old, own, stepped) if own else machines.apex_step(pair.old, stepped)
        try:
            after = (
                machines.apex_step(pair.new, optimizers)
                if key is None
                else machines.torch_step(pair.new, key, optimizers)
            )
        except Crash as crash:
            raise Differs(crash.kind, new.node, crash.message) from crash
        for one in sorted(before, key=str):
            mine, theirs = before[one], after.get(one)
            if mine == theirs:
                continue
            if theirs is None:
                if any(known in after for known in before):
                    continue  # the same optimizer by another name
                raise Differs("order", old.node, "another optimizer is stepped here")
            if mine == "skipped late":
                message = (
                    "the gradients of an overflow are thrown away before this step: Apex left it out all the same, a "
                    "GradScaler takes it"
                )
                self.teller.go_on_if_announced(pair, Differs("skip-late", old.node, message))
                continue
            if "skipped" in (mine, theirs):
                message = (
                    "after an overflow Apex left this step out, now it is taken"
                    if mine == "skipped"
                    else "after an overflow this step was taken, now it is left out"
                )
                self.teller.go_on_if_announced(pair, Differs("skip", old.node, message))
                continue
            if "S" in theirs.partition(" ")[2]:
                raise Differs("step-scaled", old.node, "this step would use gradients that are not unscaled rightly")
            raise Differs("step-other", old.node, "this step would use other gradients than before")
