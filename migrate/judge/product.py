"""Both programs side by side, on all paths that they can take.

They share one oracle: the same question gets the same answer in both. Each runs until it comes to
something that the other has to do as well; there they are compared. Pairs of states that were met
before end the search, so loops and helper functions are explored until nothing new comes.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from migrate.facts.module import Module
from migrate.judge import machines
from migrate.judge.run import Event, Runner
from migrate.judge.state import Crash, Frame, LegacyRaises, State, Unfollowed
from migrate.judge.terms import MEMORY, TRUE, Ask, Facts, Term, forget, leaves

MAX_PAIRS = 8_000
_MERGING = frozenset({"round", "head", "choose", "enter", "step"})


@dataclass(frozen=True)
class Note:
    """A question that was answered on the way: line and text of the old program, and the answer; or what happens."""

    line: int
    text: str
    answer: bool = True
    happens: bool = False


@dataclass(frozen=True)
class Difference:
    """What differs on one path. ``line`` is one of the old text."""

    kind: str
    line: int
    message: str
    path: tuple[Note, ...] = ()

    @property
    def said(self) -> str:
        """The path and what differs, as a reader of the old text follows it."""
        steps = [
            f"line {n.line} {n.text}" if n.happens else
            f"line {n.line} `{n.text}` {'holds' if n.answer else 'does not hold'}" for n in self.path
        ]
        where = f" at line {self.line}" if self.line else ""
        return f"{', '.join(steps)}: {self.message}{where}" if steps else f"{self.message}{where}"


@dataclass(frozen=True)
class Verdict:
    """``differences``: what was found, empty where both programs are equal on every path that was followed;
    ``unknown``: why not all could be followed."""

    differences: tuple[Difference, ...] = ()
    unknown: str | None = None
    pairs: int = 0


@dataclass(eq=False)
class _Trail:
    note: Note
    before: _Trail | None


@dataclass(eq=False)
class _Pair:
    old: State
    new: State
    facts: Facts
    event_old: Event | None = None
    event_new: Event | None = None
    trail: _Trail | None = None
    idle: bool = False  # a loop with a backward in it was left before its first round

    def copy(self) -> _Pair:
        return replace(self, old=self.old.copy(), new=self.new.copy())

    def key(self) -> object:
        lag = max(-2, min(2, self.old.halved - self.new.halved))
        return (self.old.frozen(), self.new.frozen(), frozenset(self.facts.items()), lag, self.idle)


class _Differs(Exception):
    def __init__(self, kind: str, node: ast.AST | None, message: str) -> None:
        super().__init__(message)
        self.kind, self.node, self.message = kind, node, message


@dataclass(eq=False)
class Search:
    """The exploration of one pair of programs."""

    old: Runner
    new: Runner
    moved: frozenset[ast.stmt]  # readers that a rule moved, and said so
    rescaled: frozenset[ast.AST]  # clips and norms that a rule made up for the scale instead
    allows: Callable[[Difference, ast.AST | None], bool]  # differences that the unit announces
    once: frozenset[str] = frozenset()  # names that one place of both programs asks about: nobody asks again
    kept: frozenset[str] | None = None  # answers about other names than these are forgotten; None: no answer is
    _spans: dict[ast.AST, tuple[int, int]] = field(default_factory=dict)
    _evaluated: set[object] = field(default_factory=set)
    _training_loops: dict[ast.AST, bool] = field(default_factory=dict)
    _touched: dict[ast.AST, list[ast.expr]] = field(default_factory=dict)

    def run(self) -> Verdict:
        """Follow all paths, or as many as the bound allows."""
        waiting = deque([_Pair(self.old.start(), self.new.start(), {})])
        met: set[object] = set()
        count = 0
        while waiting:
            pair = waiting.popleft()
            count += 1
            if count > MAX_PAIRS:
                return Verdict((), "it has more paths than can be followed", count)
            try:
                for following in self._advance(pair, met):
                    waiting.append(following)
            except LegacyRaises:
                continue
            except Unfollowed as reason:
                return Verdict((), str(reason), count)
            except (Crash, _Differs) as differs:
                node = differs.node if isinstance(differs, _Differs) else self._new_node(pair)
                found = Difference(differs.kind, self._line(node, pair), differs.message, self._path(pair))
                if self.allows(found, node) or (differs.kind == "no-gradients" and pair.idle):
                    continue
                return Verdict((found,), None, count)
        return Verdict(pairs=count)

    # ------------------------------------------------------------ one step of both

    def _advance(self, pair: _Pair, met: set[object]) -> Iterator[_Pair]:
        while True:
            try:
                if pair.event_old is None:
                    pair.event_old = self.old.run(pair.old, pair.facts)
                if pair.event_new is None:
                    pair.event_new = self.new.run(pair.new, pair.facts)
            except Ask as question:
                yield from self._fork(pair, question.term)
                return
            kind = pair.event_old.kind
            following = self._together(pair)
            if following is not None:
                for one in following:
                    self._collect(one)
                    key = one.key()
                    if key not in met:
                        met.add(key)
                        yield one
                return
            if kind in _MERGING and pair.event_old is None and pair.event_new is None:
                self._collect(pair)
                key = pair.key()
                if key in met:
                    return
                met.add(key)

    def _fork(self, pair: _Pair, term: Term) -> Iterator[_Pair]:
        for answer in (True, False):
            one = pair.copy()
            one.facts = {**pair.facts, term: answer}
            note = self._note(one)
            if note is not None:
                one.trail = _Trail(note, pair.trail)
            yield one

    def _together(self, pair: _Pair) -> list[_Pair] | None:
        """Compare and carry out what both are at. A list of pairs where the ways part, None where they go on."""
        old, new = pair.event_old, pair.event_new
        assert old is not None and new is not None
        if old.kind == "read" and old.node in self.moved:
            pair.event_old = None
            return None
        if old.kind == "enter" and self.old.m.statement(old.node) in self.moved:  # a clip of the file's own
            self.old.pass_by(pair.old, old.node)
            pair.event_old = None
            return None
        if new.kind == "enter" and self.moved and self._was_moved(new.node):
            self._unscaled(pair, Event("read", new.node, self.new.side.optimizers))
            self.new.pass_by(pair.new, new.node)
            pair.event_new = None
            return None
        if new.kind == "read" and self._source(new.node) in self.moved:
            self._unscaled(pair, new)
            pair.event_new = None
            return None
        if new.kind == "enter" and self.moved and old.kind != "enter" and not self.new.side.line(new.node):
            self._unscaled(pair, Event("read", new.node, self.new.side.optimizers))
            pair.new.frames[-1].pc += 1
            pair.event_new = None
            return None
        if new.kind == "read" and self.moved and old.kind != "read" and not self.new.side.line(new.node):
            self._unscaled(pair, new)  # where the moved one stands now
            pair.event_new = None
            return None
        if new.kind == "scale" and old.kind not in ("scale", "state") and not self.new.side.line(new.node):
            pair.event_new = None  # written by a rule that divides by it
            return None
        if old.kind != new.kind:
            if old.kind == "read" and not any(pair.old.seen(one) for one in old.about):
                pair.event_old = None  # nothing is there to be seen
                return None
            if new.kind == "read" and not any(pair.new.seen(one) for one in new.about):
                pair.event_new = None
                return None
        if self._property_alone(pair, old, new):
            return None
        old_kind, new_kind = (_GENERAL.get(e.kind, e.kind) for e in (old, new))
        if old_kind != new_kind:
            raise self._out_of_step(old, new)
        pair.event_old = pair.event_new = None
        match old_kind:
            case "end":
                if (old.about is None) != (new.about is None):
                    ends = f"the old program ends with {old.about}, the new one with {new.about}"
                    raise _Differs("raises", None, ends)
                return []
            case "round":
                return self._round(pair, old, new)
            case "aside":
                return self._aside(pair, old, new)
            case "head":
                self._forget(pair, old.node)
            case "choose":
                return self._choose(pair, old, new)
            case "enter":
                self._enter(pair, old, new)
            case "forward" | "loss":
                return self._compute(pair, old, new)
            case "foreign":
                return self._perhaps_failing(pair, old)
            case "backward":
                return self._backward(pair, old, new)
            case "read":
                if old.node not in self.rescaled:
                    self._read(pair, old)
            case "clear":
                self._clear(pair, old, new)
            case "step":
                self._step(pair, old, new)
            case "state" if new.kind == "scale":
                if pair.old.halved != pair.new.halved:
                    message = (
                        "the loss scale is read here after an overflow: Apex had halved it already, a GradScaler does "
                        "so at update()"
                    )
                    self._named(pair, _Differs("scale-time", old.node, message))
            case _:
                pass
        return None

    def _named(self, pair: _Pair, differs: _Differs) -> None:
        """A difference after which both go on, if it is one that the unit names."""
        found = Difference(differs.kind, self._line(differs.node, pair), differs.message, self._path(pair))
        if not self.allows(found, differs.node):
            raise differs

    def _was_moved(self, node: ast.AST) -> bool:
        """Whether a call of the new program stands where a rule moved it."""
        side = self.new.side
        stmt = side.m.statement(node)
        source = self._source(stmt)
        return source in self.moved or (source is None and not side.line(stmt))

    def _source(self, node: ast.AST) -> ast.AST | None:
        """The node of the old program that one of the new program was."""
        origin = self.new.side.origin
        assert origin is not None
        return origin.of(node)

    def _out_of_step(self, old: Event, new: Event) -> _Differs:
        here, there = _SAID.get(old.kind, old.kind), _SAID.get(new.kind, new.kind)
        if old.kind == "end":
            return _Differs("order", None, f"the old program is done, the new one {there} (line {self._new_line(new)})")
        if new.kind == "end":
            return _Differs("order", old.node, f"the old program {here} here, the new one is done")
        if old.kind in ("round", "head"):  # what is one too many stands at the end of a round
            return _Differs("order", new.node, f"the new program {there} here, the old one {here} instead")
        return _Differs("order", old.node, f"the old program {here} here, the new one {there} instead")

    # ------------------------------------------------------------ flow

    def _round(self, pair: _Pair, old: Event, new: Event) -> list[_Pair]:
        if self.old.side.place(old.node) != self.new.side.place(new.node):
            raise _Differs("order", old.node, "the two programs are in different loops here")
        self._forget(pair, old.node)
        more, done = pair, pair.copy()
        slot = ("rounds", self.old.side.place(old.node))
        if slot not in pair.old.frames[-1].env and self._trains(old.node):
            done.idle = True
        pair.old.frames[-1].env[slot] = TRUE
        done.old.frames[-1].env.pop(slot, None)
        for state, event in ((done.old, old), (done.new, new)):
            state.frames[-1].pc = event.about
        for state, event, runner in ((more.old, old, self.old), (more.new, new, self.new)):
            runner.begin_round(state, event.node, more.facts)
        return [more, done]

    def _trains(self, loop: ast.AST) -> bool:
        if loop not in self._training_loops:
            kinds = (self.old.side.kind.get(n) for n in ast.walk(loop))
            self._training_loops[loop] = any(kind in ("backward", "call") for kind in kinds)
        return self._training_loops[loop]

    def _choose(self, pair: _Pair, old: Event, new: Event) -> list[_Pair]:
        theirs = {self.new.side.place(n): n for n in new.about}
        found: list[_Pair] = []
        for which in [*old.about, None]:
            other = theirs.get(self.old.side.place(which)) if which is not None else None
            if which is not None and (other is None or self._ran(pair, which)):
                continue
            one = pair.copy()
            if which is not None:
                one.old.heap[(("v", self.old.side.place(which), "entry"), " ran")] = TRUE
                one.facts = self._without(one.facts, self._span(which))
            self.old.choose(one.old, which, one.facts)
            self.new.choose(one.new, other, one.facts)
            found.append(one)
        return found

    def _ran(self, pair: _Pair, which: ast.AST) -> bool:
        """Whether a function that initializes would do so again: that is another process, with other optimizers. An
        object is made once."""
        owner = self.old.m.class_of(self.old.m.scope_of[which])
        if getattr(which, "name", "") == "__init__" and owner is not None:
            key = ("instance", self.old.side.place(self.old.side.concrete(owner)))
            if (key, " made") in pair.old.heap:
                return True
        if not self.old.side.initializes(which):
            return False
        return pair.old.initialized or (("v", self.old.side.place(which), "entry"), " ran") in pair.old.heap

    def _enter(self, pair: _Pair, old: Event, new: Event) -> None:
        (callee, frame), (other, twin) = old.about, new.about
        if self.old.side.place(callee) != self.new.side.place(other):
            raise _Differs("order", old.node, "the two programs call different functions here")
        if old.node in self.rescaled or self._seen_before(pair, callee, frame, other, twin):
            self.old.pass_by(pair.old, old.node)
            self.new.pass_by(pair.new, new.node)
            return
        self.old.enter(pair.old, old.node, callee, frame.copy())
        self.new.enter(pair.new, new.node, other, twin.copy())
        pair.facts = self._without(pair.facts, self._span(callee))

    def _property_alone(self, pair: _Pair, old: Event, new: Event) -> bool:
        """A property that only one program reads here: it goes in on its own, and what that does of note, the other
        has to do as well."""
        reads = [e.kind == "enter" and isinstance(e.node, ast.Attribute) for e in (old, new)]
        if not any(reads) or (all(reads) and self.old.side.place(old.node) == self.new.side.place(new.node)):
            return False
        runner, state, event = (self.old, pair.old, old) if reads[0] else (self.new, pair.new, new)
        callee, frame = event.about
        runner.enter(state, event.node, callee, frame.copy())
        if reads[0]:
            pair.event_old = None
        else:
            pair.event_new = None
        return True

    def _aside(self, pair: _Pair, old: Event, new: Event) -> list[_Pair]:
        """A condition on which only evaluation hangs: both ways once for each state of the casts, else past it."""
        assert isinstance(old.node, ast.If)
        holds = self.old.known(pair.old, old.node.test, pair.facts)
        ways = [True, False] if holds is None else [holds]
        key = (old.node, pair.old.casts, pair.new.casts, pair.new.stopped, frozenset(pair.new.scalers.items()))
        if holds is None and key in self._evaluated:
            ways = [False]
        self._evaluated.add(key)
        found: list[_Pair] = []
        for way in ways:
            one = pair.copy()
            for state, event in ((one.old, old), (one.new, new)):
                frame = state.frames[-1]
                frame.pc = frame.pc + 1 if way else event.about
            found.append(one)
        return found

    def _seen_before(self, pair: _Pair, callee: ast.AST, frame: Frame, other: ast.AST, twin: Frame) -> bool:
        """Whether a function that only evaluates has been followed with the same casts, scalers and arguments."""
        if not self.old.side.evaluates_only(callee) or not self.new.side.evaluates_only(other):
            return False
        scalers = frozenset(pair.new.scalers.items())
        key = (callee, frame.frozen(), twin.frozen(), pair.old.casts, pair.new.casts, pair.new.stopped, scalers)
        if key in self._evaluated:
            return True
        self._evaluated.add(key)
        return False

    def _compute(self, pair: _Pair, old: Event, new: Event) -> list[_Pair] | None:
        if pair.old.casts and not pair.new.casts and self.old.left_over(pair.old):
            raise LegacyRaises  # an earlier run in the same process left Apex's casts on: nobody means that
        if pair.old.casts != pair.new.casts and pair.new.stopped and pair.old.started == pair.new.started:
            raise LegacyRaises  # so it did here
        if pair.old.casts != pair.new.casts:
            what = "the model is called" if old.kind == "forward" else "the loss is computed"
            how = "under Apex's casts, now without autocast" if pair.old.casts else "without casts, now under autocast"
            trains = self._training(pair.old) and not self.old.side.beside(old.node)
            kind = "loss-casts" if old.kind == "loss" else "casts" if trains else "eval-casts"
            self._named(pair, _Differs(kind, old.node, f"{what} {how}"))
        return self._perhaps_failing(pair, old) if old.kind == "forward" else None

    def _perhaps_failing(self, pair: _Pair, old: Event) -> list[_Pair] | None:
        """Where an exception would be caught, one may be raised here."""
        if self.old.caught(pair.old) and self.new.caught(pair.new):
            failed = pair.copy()
            for state, runner in ((failed.old, self.old), (failed.new, self.new)):
                state.raising = "?"
                state.frames[-1].pc -= 1
                runner.unwind(state)
            failed.trail = _Trail(Note(_line(old.node), "raises an exception", happens=True), pair.trail)
            return [pair, failed]
        return None

    def _training(self, state: State) -> bool:
        """Whether what runs now may be differentiated: a backward stands in a function that is being run, and no
        ``no_grad`` in between."""
        side = self.old.side
        for frame in reversed(state.frames):
            op = frame.code.ops[min(frame.pc, len(frame.code.ops) - 1)]
            if side.without_gradients(op.node):
                return False
            if side.runs_backward(frame.code.node):
                return True
        return False

    # ------------------------------------------------------------ gradients

    def _backward(self, pair: _Pair, old: Event, new: Event) -> list[_Pair]:
        before, after = pair.old, pair.new
        native = old.about[0] == "scaled" and old.about[1] in before.scalers  # the old program's own GradScaler
        scaled_before = old.about[0] == "scaled" and (before.active or native)
        scaled_after = new.about[0] == "scaled"
        if after.casts and any(context[0] == "casts" for context in after.contexts):  # autocast's, not Apex's own
            raise _Differs("backward-casts", old.node, "this backward would run under autocast")
        if scaled_before and not scaled_after:
            raise _Differs("scale-lost", old.node, "this loss was scaled and is not any more")
        if scaled_after and not scaled_before:
            gained = _Differs("scale-gained", old.node, "this loss was not scaled and now is")
            if not before.active:
                raise gained
            self._named(pair, gained)
        place = self.old.side.place(old.node)
        affected = self.old.side.optimizers
        if scaled_before and not native:
            block = next((c for c in reversed(before.contexts) if c[0] == "scale"), None)
            if block is not None:
                reached = self.old.models_of.reached_from(block[1], block[5])
                affected = block[2] | (reached & before.made)
            if before.fresh != after.fresh:
                raise _Differs(
                    "fresh-scale", old.node,
                    "the loss scale begins anew here" if after.fresh else "Apex began with a new loss scale here",
                )
            before.fresh = after.fresh = False
        found: list[_Pair] = []
        for overflow in (False, True) if scaled_before else (False,):
            one = pair.copy()
            if native:
                one.old.scaled_by[place] = old.about[1]
            one.old.add(affected, (place, "S" if scaled_before else "1", overflow))
            if scaled_after:
                one.new.scaled_by[place] = new.about[1]
            one.new.add(affected, (place, "S" if scaled_after else "1", overflow))
            if overflow:
                one.trail = _Trail(Note(_line(old.node), "overflows", happens=True), pair.trail)
            found.append(one)
        return found

    def _read(self, pair: _Pair, old: Event) -> None:
        for one in sorted(old.about, key=str):
            before, after = pair.old.seen(one), pair.new.seen(one)
            if before == after:
                continue
            if any("S" in f for _, f in after):
                message = "gradients are read or changed here while they are still scaled"
                raise _Differs("read-scaled", old.node, message)
            raise _Differs("read-other", old.node, "gradients are read here that are not the same as before")

    def _unscaled(self, pair: _Pair, new: Event) -> None:
        if any("S" in f for one in new.about for _, f in pair.new.seen(one)):
            source = self._source(new.node) or new.node
            raise _Differs("read-scaled", source, "gradients are clipped while they are still scaled")

    def _clear(self, pair: _Pair, old: Event, new: Event) -> None:
        for state, event in ((pair.old, old), (pair.new, new)):
            optimizers, to_none = event.about if event.kind == "zero" else (event.about, True)
            state.clear(optimizers, to_none)

    def _step(self, pair: _Pair, old: Event, new: Event) -> None:
        key, optimizers = new.about
        own, stepped = old.about
        if key is not None and own is None and (old.closure or new.closure):
            raise _Differs("closure", old.node, "this step is handed a closure, which a GradScaler does not run")
        before = machines.torch_step(pair.old, own, stepped) if own else machines.apex_step(pair.old, stepped)
        try:
            after = machines.apex_step(pair.new, optimizers) if key is None else machines.torch_step(
                pair.new, key, optimizers
            )
        except Crash as crash:
            raise _Differs(crash.kind, new.node, crash.message) from crash
        for one in sorted(before, key=str):
            mine, theirs = before[one], after.get(one)
            if mine == theirs:
                continue
            if theirs is None:
                if any(known in after for known in before):
                    continue  # the same optimizer by another name
                raise _Differs("order", old.node, "another optimizer is stepped here")
            if mine == "skipped late":
                message = (
                    "the gradients of an overflow are thrown away before this step: Apex left it out all the same, a "
                    "GradScaler takes it"
                )
                self._named(pair, _Differs("skip-late", old.node, message))
                continue
            if "skipped" in (mine, theirs):
                message = (
                    "after an overflow Apex left this step out, now it is taken" if mine == "skipped" else
                    "after an overflow this step was taken, now it is left out"
                )
                self._named(pair, _Differs("skip", old.node, message))
                continue
            if "S" in theirs.partition(" ")[2]:
                raise _Differs("step-scaled", old.node, "this step would use gradients that are not unscaled rightly")
            raise _Differs("step-other", old.node, "this step would use other gradients than before")

    # ------------------------------------------------------------ facts

    def _span(self, node: ast.AST) -> tuple[int, int]:
        if node not in self._spans:
            m: Module = self.old.m
            self._spans[node] = (m.start(node), m.end(node))
        return self._spans[node]

    def _without(self, facts: Facts, span: tuple[int, int]) -> Facts:
        low, high = span
        return forget(facts, lambda term: any(low <= leaf[1] <= high for leaf in leaves(term)))

    def _forget(self, pair: _Pair, loop: ast.AST) -> None:
        """What a round of a loop makes anew has no answer yet, nor what a method called in it may have changed."""
        facts = self._without(pair.facts, self._span(loop))
        changed: set[Term] = set()
        for expr in self._objects(loop):
            try:
                term = self.old.value(pair.old, expr, facts)
            except Ask:
                continue
            if term[0] in ("v", "attr"):
                changed.add(term)
        if changed:
            facts = forget(facts, lambda term: any(part in changed for part in _bases(term)))
        pair.facts = facts

    def _collect(self, pair: _Pair) -> None:
        """Drop what nobody can read any more: dead local names, and answers about values that neither program holds."""
        for runner, state in ((self.old, pair.old), (self.new, pair.new)):
            runner.bury(state)
        if not pair.facts:
            return
        held: set[Term] = set()
        kept: set[Term] = set()
        for state in (pair.old, pair.new):
            for term in state.terms():
                held |= leaves(term)
                kept |= _inner(term)

        def gone(term: Term) -> bool:
            if any(leaf[1] and leaf not in held for leaf in leaves(term)):
                return True
            if self.kept is not None and not _called(term) & self.kept:
                return True
            return bool(_called(term) & self.once) and term not in kept

        pair.facts = forget(pair.facts, gone)

    def _objects(self, loop: ast.AST) -> list[ast.expr]:
        """Objects of which a loop calls a method for its effect."""
        if loop not in self._touched:
            self._touched[loop] = [
                n.value.func.value
                for n in ast.walk(loop)
                if isinstance(n, ast.Expr)
                and isinstance(n.value, ast.Call)
                and isinstance(n.value.func, ast.Attribute)
                and isinstance(n.value.func.value, (ast.Name, ast.Attribute))
            ]
        return self._touched[loop]

    # ------------------------------------------------------------ telling

    def _note(self, pair: _Pair) -> Note | None:
        """What a reader sees answered where one of the programs goes on; None where more is to be asked."""
        state, runner = (pair.old, self.old) if pair.event_old is None else (pair.new, self.new)
        frame = state.frames[-1]
        op = frame.code.ops[frame.pc]
        line = runner.side.line(op.node)
        if op.kind != "branch" or not line or not isinstance(op.node, ast.expr):
            return None
        holds = runner.known(state, op.node, pair.facts)
        if holds is None:
            return None
        text = " ".join(runner.m.src(op.node).split())
        return Note(line, text if len(text) < 70 else text[:67] + "...", holds)

    def _path(self, pair: _Pair) -> tuple[Note, ...]:
        notes: list[Note] = []
        at = pair.trail
        while at is not None and len(notes) < 4:
            if at.note.line and at.note not in notes:
                notes.append(at.note)
            at = at.before
        return tuple(reversed(notes))

    def _new_node(self, pair: _Pair) -> ast.AST | None:
        if pair.event_new is not None:
            return pair.event_new.node
        if not pair.new.frames:
            return None
        frame = pair.new.frames[-1]
        return frame.code.ops[min(frame.pc, len(frame.code.ops) - 1)].node

    def _line(self, node: ast.AST | None, pair: _Pair) -> int:
        """The line of the old text for a node of either program; for a new one that of what stands around it."""
        if node is None:
            return 0
        if node in self.old.m.parent or node is self.old.m.tree:
            return _line(node)
        side = self.new.side
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.Module):
            if line := side.line(at):
                return line
            at = None if isinstance(at, ast.stmt) else side.m.parent.get(at)
        # a statement that a rule wrote: the one that stands before it
        above = [s for s in side.m.place if side.m.start(s) < side.m.start(node) and side.line(s)]
        return side.line(max(above, key=side.m.start)) if above else 0

    def _new_line(self, event: Event) -> int:
        return self.new.side.line(event.node) or _line(event.node)


_GENERAL = {"zero": "clear", "scale": "state"}
_SAID = {
    "forward": "calls a model", "loss": "computes a loss", "backward": "runs a backward",
    "read": "reads gradients", "clear": "clears gradients", "zero": "clears gradients", "step": "steps an optimizer",
    "scale": "reads the loss scale", "state": "saves or loads the scaler's state", "round": "goes round a loop",
    "head": "goes round a loop", "enter": "calls a function", "choose": "waits for a call", "end": "ends",
}  # fmt: skip


@lru_cache(MEMORY)
def _inner(term: Term) -> frozenset[Term]:
    """A value and what it is made of, where it may be asked for its truth."""
    if term[0] not in ("op", "and", "or", "not", "attr", "sub", "v"):
        return frozenset()
    return frozenset({term}).union(*(_inner(part) for part in term if isinstance(part, tuple) and part))


@lru_cache(MEMORY)
def _called(term: Term) -> frozenset[str]:
    """The names by which a program reads what a term is made of: of an attribute its own, as what it is read of may
    go by several."""
    match term:
        case ("attr", _, str(name)) | ("v", _, str(name)) | ("sub", _, ("k", str(name))):
            return frozenset({name} if name else ())
        case _:
            return frozenset[str]().union(*(_called(part) for part in term if isinstance(part, tuple)))


def _bases(term: Term) -> Iterator[Term]:
    """What a term reads attributes and items of."""
    if term and term[0] in ("attr", "sub"):
        yield term[1]
    for part in term:
        if isinstance(part, tuple):
            yield from _bases(part)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)

