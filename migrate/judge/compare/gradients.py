"""Backwards, readers of gradients and steps: both programs do the same to the same gradients."""

from __future__ import annotations

import ast
from functools import cached_property

from .. import machines
from ..program.syntax import shows
from ..rows import Rows
from ..run.event import Event
from ..same_loss import given_anew
from ..state import CastsBlock, Crash, Key, ScaledBlock, State, in_order
from .pair import Both, Differs, Pair
from .telling import Teller


class Gradients:
    """Compares what becomes of gradients, and carries it out in both programs."""

    def __init__(self, both: Both, teller: Teller) -> None:
        self.both, self.old, self.teller = both, both.old, teller
        self.rows = Rows(both.old.owners)
        self._put: dict[int, ast.AST] = {}  # where gradients were put, by place

    def backward(self, pair: Pair, old: Event, new: Event) -> list[Pair]:
        """A backward: under the same scale in both, which may overflow."""
        own = old.about[1] if old.about[0] == "scaled" and old.about[1] in pair.old.scalers else None  # its GradScaler
        scaled_before = old.about[0] == "scaled" and (pair.old.active or own is not None)
        scaled_after = new.about[0] == "scaled"
        self._compare_scaling(pair, old.node, scaled_before, scaled_after)
        place = self.old.program.naming.place(old.node)
        affected = self.old.program.objects.optimizers
        if not scaled_before:
            affected = self.old.owners.of_other_arm(old.node) or affected
        elif own is None:
            self.both.followed.add("scaled")
            affected = self._affected(pair.old, old.about[1])
            affected |= frozenset(map(_beside, self._leaks(pair.old, old.about[1])))
            self._compare_age(pair, old.node)
            self._compare_shown(pair, old.node)
            self._compare_loss(old, new)
        found: list[Pair] = []
        for overflow in (False, True) if scaled_before else (False,):
            one = pair.copy()
            if own is not None:
                one.old.scaled_by[place] = own
            one.old.add(affected, (place, "S" if scaled_before else "1", overflow))
            if scaled_after:
                machines.torch_backward(one.new, place, new.about[1])
            one.new.add(affected, (place, "S" if scaled_after else "1", overflow))
            if overflow:
                one.trail = self.teller.happens(pair, old.node, "overflows")
            found.append(one)
        return found

    def _compare_scaling(self, pair: Pair, node: ast.AST, before: bool, after: bool) -> None:
        """Whether a loss is scaled before and after; a backward never runs under autocast, Apex's own casts apart."""
        if pair.new.casts and any(isinstance(context, CastsBlock) for context in pair.new.contexts):
            raise Differs("backward-casts", node, "this backward would run under autocast")
        if before and not after:
            raise Differs("scale-lost", node, "this loss was scaled and is not any more")
        if after and not before:
            gained = Differs("scale-gained", node, "this loss was not scaled and now is")
            if not pair.old.active or self.old.program.marks.asked:  # an input's gradient stays scaled
                raise gained
            self.teller.go_on_if_announced(pair, gained)

    def _affected(self, before: State, place: int) -> frozenset[Key]:
        """The optimizers that get gradients of a loss that a block of Apex's scaled: those it was handed, and those of
        all models that the loss came from."""
        block = _block(before, place)
        if block is None:
            return self.old.program.objects.optimizers
        return block.optimizers | (self.old.owners.reached_from(block.place, block.row, block.by) & before.made)

    def _leaks(self, before: State, place: int) -> frozenset[Key]:
        """The optimizers made in one place of which others than the one that a block of Apex's was handed get gradients
        as well."""
        block = _block(before, place)
        return frozenset() if block is None else self.rows.leaks(block.place, block.row, block.optimizers)

    def _compare_age(self, pair: Pair, node: ast.AST) -> None:
        """The loss scale is new in both programs, or in neither."""
        before, after = pair.old, pair.new
        if before.fresh != after.fresh:
            message = "the loss scale begins anew here" if after.fresh else "Apex began with a new loss scale here"
            raise Differs("fresh-scale", node, message)
        before.fresh = after.fresh = False

    def _compare_shown(self, pair: Pair, node: ast.AST) -> None:
        """A scaled loss whose value is looked at has the same scale in both programs."""
        if pair.old.halved != pair.new.halved and (shown := self._shown(node)) is not None:
            message = (
                "the scaled loss is looked at here: after an overflow Apex halved the scale for the next backward, a "
                "GradScaler does so at update()"
            )
            self.teller.go_on_if_announced(pair, Differs("scaled-shown", shown, message))

    def _compare_loss(self, old: Event, new: Event) -> None:
        """The loss is scaled while it is what it was as Apex scaled it."""
        scaled = self._scaled_at.get(old.about[1])
        changed = given_anew(self.old.m, scaled, old.node, new.node) if scaled is not None else None
        if changed is not None:
            raise Differs("loss-other", changed, "Apex had scaled the loss before it is given another value")

    @cached_property
    def _scaled_at(self) -> dict[int, ast.Call]:
        """The calls of ``scale_loss`` by their places."""
        return {self.old.program.naming.place(call): call for call in self.old.program.objects.scales}

    def _shown(self, backward: ast.AST) -> ast.AST | None:
        """Where the value of a loss that runs a backward is looked at, by its name."""
        func = backward.func if isinstance(backward, ast.Call) else None
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        m, name = self.old.m, func.value.id
        named = (n for n in m.own(m.function(backward), ast.Name) if n.id == name and isinstance(n.ctx, ast.Load))
        return next((n for n in named if shows(m.parent[n])), None)

    def read(self, pair: Pair, old: Event) -> None:
        """A reader sees the same backwards, by the same factor."""
        for one in in_order(self.old.owners.read_by(old.node) or old.about):
            before, after = pair.old.seen(one), pair.new.seen(one)
            if before and pair.old.stash.get(one) and _is_open(pair.old, one):  # by one place they look the same
                message = "gradients are read inside the scale_loss block, where Apex had put earlier ones aside"
                raise Differs("read-other", old.node, message)
            if before == after or before == _before_update(pair, after):
                continue
            if any("S" in f for _, f in after):
                self._tell_left(pair, one, "read-scaled", None)
                message = "gradients are read or changed here while they are still scaled"
                raise Differs("read-scaled", old.node, message)
            raise Differs("read-other", old.node, "gradients are read here that are not the same as before")

    def put(self, pair: Pair, old: Event) -> None:
        """Gradients that come from elsewhere, which no loss scale has multiplied. Beside scaled ones they are taken to
        be made of those."""
        place = self.old.program.naming.place(old.node)
        self._put[place] = old.node
        for one in in_order(old.puts):
            if all(factor == "1" for state in (pair.old, pair.new) for _, factor in state.seen(one)):
                for state in (pair.old, pair.new):
                    state.add([one], (place, "1", False))

    def unlike(self, pair: Pair) -> bool:
        """Whether a reader would see other gradients in the new program here."""
        each = ((pair.old.seen(one), pair.new.seen(one)) for one in self.old.program.objects.optimizers)
        return any(before != after and before != _before_update(pair, after) for before, after in each)

    def read_divided(self, pair: Pair, old: Event) -> None:
        """A reader that divides what it sees by the loss scale, as a rule wrote it: gradients have to be scaled by it,
        or by no scaler at all."""
        if not any(scaler.enabled for scaler in pair.new.scalers.values()):
            return self.read(pair, old)
        for one in in_order(old.about):
            after = frozenset((b, "1" if f == "S" else f"{f} / S") for b, f in pair.new.seen(one))
            if pair.old.seen(one) != after:
                message = "gradients are divided by the loss scale here, and may be unscaled already"
                raise Differs("read-scaled", old.node, message)
        return None

    def unscaled(self, pair: Pair, new: Event) -> None:
        """A reader that a rule moved: it sees none that are scaled."""
        if any("S" in f for one in new.about for _, f in pair.new.seen(one)):
            source = self.both.source(new.node) or new.node
            raise Differs("read-scaled", source, "gradients are clipped while they are still scaled")

    def clear(self, pair: Pair, old: Event, new: Event) -> None:
        for state, event in ((pair.old, old), (pair.new, new)):
            optimizers, to_none = event.about if event.kind == "zero" else (event.about, True)
            state.clear(optimizers, to_none)
            for one in map(_beside, optimizers) if self.rows.clears_each(old.node) else ():
                if one in state.grads:
                    state.grads.drop(one)

    def step(self, pair: Pair, old: Event, new: Event) -> None:
        """A step: taken with the same gradients, or left out in both."""
        own, stepped = old.about
        key, optimizers = new.about
        if key is not None and own is None and (old.closure or new.closure):
            raise Differs("closure", old.node, "this step is handed a closure, which a GradScaler does not run")
        if any(pair.old.seen(_beside(one)) for one in stepped) and not self.rows.cleared_in_its_round(old.node):
            message = "the loss of another optimizer may have left gradients in the networks of this one: Apex left"
            message += " them scaled, and nobody clears them"
            raise Differs("step-scaled", old.node, message)
        before = _stepped(pair.old, own, stepped)
        try:
            after = _stepped(pair.new, key, optimizers)
        except Crash as crash:
            raise Differs(crash.kind, new.node, crash.message) from crash
        for one in sorted(before, key=str):
            if one in after:
                if before[one] != after[one] and "S" in after[one].partition(" ")[2]:
                    self._tell_left(pair, one, "step-scaled", old.node)
                self._compare_step(pair, old.node, before[one], after[one])
            elif not any(known in after for known in before):  # else the same optimizer by another name
                raise Differs("order", old.node, "another optimizer is stepped here")

    def _tell_left(self, pair: Pair, optimizer: Key, kind: str, step: ast.AST | None) -> None:
        """Gradients that are scaled where they should not be: because some were left where others were cleared."""
        left = pair.old.left.get(optimizer)
        if left is None:
            return
        m = self.old.m
        above = m.parent[left.site]
        what = f"`{m.src(above)}()`" if isinstance(above, ast.Attribute) else f"a loop over `{m.src(left.site)}`"
        kept = ", ".join(left.kept) or "others"
        named = isinstance(step, ast.Call) and isinstance(step.func, ast.Attribute)
        clear = f"`{m.src(step.func.value)}.zero_grad()`" if named else "its own `zero_grad()`"  # type: ignore[union-attr]
        message = (
            f"{what} clears only some gradients of this optimizer: {kept} stay, unscaled by the step before, and the "
            f"next backward adds scaled ones to them; {clear} clears all. Write that"
        )
        raise Differs(kind, left.site, message)

    def _tell_put(self, after: str) -> None:
        """Gradients that were put there are divided by a loss scale that never multiplied them; where all are divided,
        they were unscaled twice."""
        parts = after.split()
        for place, node in self._put.items():
            if f"{place}:1/S" in parts and any(part.endswith(":1") for part in parts):
                message = (
                    "the step would divide by the loss scale also those gradients that no backward left, but which are "
                    "put there"
                )
                raise Differs("step-scaled", node, message)

    def _compare_step(self, pair: Pair, node: ast.AST, before: str, after: str) -> None:
        if before == after or (before, after) == ("skipped late", "skipped"):
            return  # a GradScaler remembers what it found as it unscaled, be it thrown away since
        if before == "skipped late":
            kind, message = (
                "skip-late",
                (
                    "the gradients of an overflow are thrown away before this step: Apex left it out all the same, a "
                    "GradScaler takes it"
                ),
            )
        elif before == "skipped":
            kind, message = "skip", "after an overflow Apex left this step out, now it is taken"
        elif after == "skipped":
            kind, message = "skip", "after an overflow this step was taken, now it is left out"
        elif "S" in after.partition(" ")[2]:
            self._tell_put(after)
            raise Differs("step-scaled", node, "this step would use gradients that are not unscaled rightly")
        else:
            raise Differs("step-other", node, "this step would use other gradients than before")
        self.teller.go_on_if_announced(pair, Differs(kind, node, message))


def _block(before: State, place: int) -> ScaledBlock | None:
    """The block of Apex's in which the loss of a place is scaled, or another one that is open."""
    blocks = [c for c in reversed(before.contexts) if isinstance(c, ScaledBlock)]
    return next((c for c in blocks if c.place == place), blocks[0] if blocks else None)


def _is_open(before: State, optimizer: Key) -> bool:
    """Whether a block of Apex's is open in which a loss is scaled for an optimizer."""
    return any(isinstance(c, ScaledBlock) and optimizer in c.optimizers for c in before.contexts)


def _beside(optimizer: Key) -> Key:
    """What stands for the others of several optimizers that are made in one place."""
    return ("beside", optimizer)


def _before_update(pair: Pair, after: frozenset[tuple[int, str]]) -> frozenset[tuple[int, str]]:
    """What the old program's reader sees where the new one sees ``after``, if only Apex has halved the loss scale since
    then: at the end of its block, a GradScaler does so at `update()`. What neither of them unscaled is the same yet."""
    if pair.old.halved != pair.new.halved + 1 or any(factor.startswith("old") for _, factor in after):
        return after
    return frozenset((place, "old S" if factor == "S" else factor) for place, factor in after)


def _stepped(state: State, scaler: Key | None, optimizers: frozenset[Key]) -> dict[Key, str]:
    if scaler is None:
        return machines.apex_step(state, optimizers)
    return machines.torch_step(state, scaler, optimizers)
