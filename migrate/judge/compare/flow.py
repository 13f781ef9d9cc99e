"""Where control goes, in both programs alike: rounds of loops, functions, and what only evaluates."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from ...nodes import constructs, walk
from ..program.counting import LAST_ROUND
from ..program.hanging import hangs, plainly
from ..run.event import Event
from ..state import Frame, Key
from ..terms import TRUE, Ask, opaque
from .forgetting import Forgetting
from .later import left_behind
from .pair import Both, Differs, Pair

_Choices = list[tuple[ast.AST, ast.AST]]


class Flow:
    """Goes on in both programs at once. Calls in ``rescaled`` are not gone into: a rule made up for the scale there."""

    def __init__(self, both: Both, forgetting: Forgetting, rescaled: frozenset[ast.AST]) -> None:
        self.old, self.new = both.old, both.new
        self.forgetting, self.rescaled = forgetting, rescaled
        self._evaluated: set[object] = set()
        self._training_loops: dict[ast.AST, bool] = {}
        self._waiting: dict[tuple[ast.AST, ast.AST], tuple[_Choices, _Choices]] = {}

    def round(self, pair: Pair, old: Event, new: Event) -> list[Pair]:
        """A loop goes round once more in both, or is left; which of them, the round before may have been asked."""
        if self.old.program.naming.place(old.node) != self.new.program.naming.place(new.node):
            raise Differs("order", old.node, "the two programs are in different loops here")
        place = self.old.program.naming.place(old.node)
        slot = ("rounds", place)
        begun = slot in pair.old.frames[-1].env
        if not begun and isinstance(old.node, ast.For) and isinstance(new.node, ast.For):
            if self._hang_otherwise(pair, old.node.iter, new.node.iter):
                raise Differs("order", old.node, "this loop may go another number of rounds in the new program")
        last = pair.facts.get(opaque(place, LAST_ROUND)) if begun else None
        if not begun and self._counts(old.node):
            last = False
        self.forgetting.begin_round(pair, old.node)
        more, done = pair, pair.copy()
        if not begun and self._trains(old.node):
            done.idle = True
        pair.old.frames[-1].env[slot] = TRUE
        done.old.frames[-1].env.pop(slot, None)
        for state, event in ((done.old, old), (done.new, new)):
            state.frames[-1].pc = event.about
        for state, event, runner in ((more.old, old, self.old), (more.new, new, self.new)):
            runner.loops.begin_round(state, event.node, more.facts)
        return [more, done] if last is None else [done] if last else [more]

    def _hang_otherwise(self, pair: Pair, expr: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions hang on flags that are not the same in both programs."""
        if self.old.evaluator.hanging is None:
            return False
        try:
            before = plainly(self.old.evaluator.value(pair.old, expr, pair.facts))
            after = plainly(self.new.evaluator.value(pair.new, other, pair.facts))
        except Ask:
            return False
        return before != after and any(term is not None and hangs(term) for term in (before, after))

    def _counts(self, loop: ast.AST) -> bool:
        """Whether a loop has a round for certain: it goes over numbers, and says how many, or asks for the last; or it
        makes what trains later, each with an `initialize` of its own."""
        if self.old.program.begins_some(loop):
            return True
        match loop:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int() as number)])):
                return number > 0
            case ast.For(iter=ast.Call(func=ast.Name(id="range"))):
                return loop in self.old.program.counted
            case _:
                return False

    def _trains(self, loop: ast.AST) -> bool:
        if loop not in self._training_loops:
            kinds = (self.old.program.marks.kind.get(n) for n in walk(loop))
            self._training_loops[loop] = any(kind in ("backward", "call") for kind in kinds)
        return self._training_loops[loop]

    def choose(self, pair: Pair, old: Event, new: Event) -> list[Pair]:
        """One of the functions that nothing in the file calls runs, the same in both, or none any more."""
        if (old.node, new.node) not in self._waiting:
            self._waiting[old.node, new.node] = self._choices(old, new)
        every, later = self._waiting[old.node, new.node]
        if isinstance(old.node, ast.Module):
            self._let_go(pair)
        found: list[Pair] = []
        for which, other in [*(later if pair.old.initialized else every), (None, None)]:
            for number, cls in enumerate(self._classes(which)):
                if which is None or not (self._ran(pair, which, cls) or (number and self._has_its_own(cls, which))):
                    found.append(self._chosen(pair, which, other, number))
        return found

    def _let_go(self, pair: Pair) -> None:
        """What only names of functions hold is gone behind them. Where no optimizer lasts, and nothing is initialized,
        a function that ran runs as it did the first time."""
        for state, side in ((pair.old, self.old), (pair.new, self.new)):
            scalers = [key for key in state.scalers if side.program.lasting.gone(key)]
            state.let_go(self._gone, self._models_gone, scalers)
        if self._gone == self.old.program.objects.optimizers and not pair.old.initialized:
            pair.old.runs_anew()

    @cached_property
    def _models_gone(self) -> frozenset[Key]:
        """The models that do not outlive the functions which make them, in neither program."""
        old, new = self.old.program, self.new.program
        return frozenset(key for key in old.objects.models if old.lasting.gone(key) and new.lasting.gone(key))

    @cached_property
    def _gone(self) -> frozenset[Key]:
        """The optimizers of these: their gradients lie in the models."""
        old, new, models = self.old.program, self.new.program, self.old.owners.models
        return frozenset(
            key
            for key in old.objects.optimizers
            if old.lasting.gone(key) and new.lasting.gone(key) and models.get(key) and models[key] <= self._models_gone
        )

    def _chosen(self, pair: Pair, which: ast.AST | None, other: ast.AST | None, number: int) -> Pair:
        one = pair.copy()
        if which is not None:
            if self._once(which):
                one.old.note_run(self.old.program.naming.place(which))
            one.facts = self.forgetting.within(one.facts, which)
        if self.old.program.objects.begun or self.old.evaluator.sides is not None:
            self._clear_behind_a_step(one)
        self.old.calls.choose(one.old, which, number)
        self.new.calls.choose(one.new, other, number)
        return one

    def _classes(self, which: ast.AST | None) -> Sequence[ast.ClassDef | None]:
        """The classes whose objects a method may be run for."""
        owner = self.old.m.class_of(self.old.m.scope_of[which]) if which is not None else None
        return self.old.program.entries.classes(owner) if owner is not None else (None,)

    def _has_its_own(self, cls: ast.ClassDef | None, method: ast.AST) -> bool:
        """Whether a class has another method of that name in its own text."""
        own = self.old.m.method(cls, getattr(method, "name", "")) if cls is not None else None
        return own is not None and own is not method

    def _choices(self, old: Event, new: Event) -> tuple[_Choices, _Choices]:
        """The functions that both programs may choose, each with its twin; those of them that may run though mixed
        precision is on."""
        theirs = {self.new.program.naming.place(n): n for n in new.about}
        places = [(which, self.old.program.naming.place(which)) for which in old.about]
        every = [(which, theirs[place]) for which, place in places if place in theirs]
        if self.old.program.objects.begun:
            every = [pair for pair in every if not self._native_alone(*pair)]
        return every, [pair for pair in every if not self.old.program.entries.initializes(pair[0])]

    def _clear_behind_a_step(self, pair: Pair) -> None:
        """Who calls a class that scales is not here, nor always who calls what stands behind a switch: gradients of
        which a step was made are cleared there, as the native side needs it too; those of an open window are not."""
        stepped = frozenset(one for one in pair.new.grads if all("S" not in f for _, f in pair.new.seen(one)))
        for state in (pair.old, pair.new):
            state.clear(stepped, True)

    def _native_alone(self, which: ast.AST, other: ast.AST) -> bool:
        """Whether a method belongs to a class that scales natively, beside one that does by Apex, and has the same text
        in both: a process that was begun elsewhere trains with one of the two."""
        old, new = self.old.program, self.new.program
        was, now = old.m.class_of(old.m.scope_of[which]), new.m.class_of(new.m.scope_of[other])
        if was is None or now is None or ast.dump(was) != ast.dump(now):
            return False
        return old.makes_scaler(was)

    def _ran(self, pair: Pair, which: ast.AST, cls: ast.ClassDef | None) -> bool:
        """Whether a function that initializes would do so again: that is another process, with other optimizers. An
        object is made once."""
        if cls is not None and constructs(which):
            if pair.old.is_made(("instance", self.old.program.naming.place(cls))):
                return True
        if self.old.evaluator.sides is not None and self.old.program.makes_scaler(which):
            return pair.old.has_run(self.old.program.naming.place(which))
        if not self.old.program.entries.initializes(which):
            return False
        return pair.old.initialized or pair.old.has_run(self.old.program.naming.place(which))

    def _once(self, which: ast.AST) -> bool:
        """Whether a function may be one that does not run again."""
        program = self.old.program
        return program.entries.initializes(which) or (
            self.old.evaluator.sides is not None and program.makes_scaler(which)
        )

    def enter(self, pair: Pair, old: Event, new: Event) -> None:
        """Both call a function: they go into it, or past it where nothing new can come of that."""
        (callee, frame), (other, twin) = old.about, new.about
        if self.old.program.naming.place(callee) != self.new.program.naming.place(other):
            if self.old.program.naming.place(old.node) != self.new.program.naming.place(new.node):
                raise Differs("order", old.node, "the two programs call different functions here")
            # one call of two objects, such as scale in either way: what the one does of note, the other has to do too
            self.old.calls.enter(pair.old, old.node, callee, frame.copy())
            self.new.calls.enter(pair.new, new.node, other, twin.copy())
            for function in (callee, self.new.program.naming.twin(other)):
                pair.facts = self.forgetting.within(pair.facts, function) if function is not None else pair.facts
            return
        if old.node in self.rescaled or self._seen_before(pair, callee, frame, other, twin):
            self.old.calls.pass_by(pair.old, old.node)
            self.new.calls.pass_by(pair.new, new.node)
            return
        if left_behind(self.new.program, pair.new, new.node, other):
            raise Differs("casts", old.node, "under autocast a coroutine is made here, which may run behind that")
        self.old.calls.enter(pair.old, old.node, callee, frame.copy())
        self.new.calls.enter(pair.new, new.node, other, twin.copy())
        pair.facts = self.forgetting.within(pair.facts, callee)

    def property_alone(self, pair: Pair, old: Event, new: Event) -> bool:
        """A property that only one program reads here: it goes in on its own, and what that does of note, the other
        has to do as well."""
        reads = [e.kind == "enter" and isinstance(e.node, ast.Attribute) for e in (old, new)]
        if not any(reads) or (
            all(reads) and self.old.program.naming.place(old.node) == self.new.program.naming.place(new.node)
        ):
            return False
        runner, state, event = (self.old, pair.old, old) if reads[0] else (self.new, pair.new, new)
        callee, frame = event.about
        runner.calls.enter(state, event.node, callee, frame.copy())
        if reads[0]:
            pair.event_old = None
        else:
            pair.event_new = None
        return True

    def constructor_alone(self, pair: Pair, old: Event, new: Event) -> bool:
        """A constructor that only one program runs here: a rule wrote it for a class that had none, or an object of
        another class is made in the place of one. That program goes in on its own, and what the constructor does of
        note, the other one has to do as well."""
        if self._one_side_alone(pair, old, new):
            return True
        if not (_constructs(old) or _constructs(new)):
            return False
        same = self._same_call(old, new)
        if _constructs(new) and (not same or self.new.program.naming.twin(new.about[0]) is None):
            callee, frame = new.about
            self.new.calls.enter(pair.new, new.node, callee, frame.copy())
            pair.event_new = None
            return True
        if _constructs(old) and not same:
            callee, frame = old.about
            self.old.calls.enter(pair.old, old.node, callee, frame.copy())
            pair.event_old = None
            return True
        return False

    def _one_side_alone(self, pair: Pair, old: Event, new: Event) -> bool:
        """A function of one of two backends behind a switch: what only Apex's side ran is gone, what makes the native
        side's scaler runs in its place. The program that is at such a one goes in on its own."""
        if self.old.evaluator.sides is None:
            return False
        if old.kind == "enter" and self._twins.get(old.about[0]) is None:
            self.old.calls.enter(pair.old, old.node, old.about[0], old.about[1].copy())
            pair.event_old = None
            return True
        if new.kind == "enter" and not self._same_call(old, new) and self.new.program.makes_scaler(new.about[0]):
            self.new.calls.enter(pair.new, new.node, new.about[0], new.about[1].copy())
            pair.event_new = None
            return True
        return False

    def _same_call(self, old: Event, new: Event) -> bool:
        """Whether both are at one call of a function."""
        if old.kind != "enter" or new.kind != "enter":
            return False
        return self.old.program.naming.place(old.node) == self.new.program.naming.place(new.node)

    @cached_property
    def _twins(self) -> dict[ast.AST, ast.AST]:
        """The functions of the old program that are still there, each with what became of it."""
        program = self.new.program
        functions = (*program.m.all(ast.FunctionDef), *program.m.all(ast.AsyncFunctionDef))
        found = ((program.naming.twin(node), node) for node in functions)
        return {source: node for source, node in found if source is not None}

    def aside(self, pair: Pair, old: Event, new: Event) -> list[Pair]:
        """A condition on which only evaluation hangs: both ways once for each state of the casts, else past it."""
        assert isinstance(old.node, ast.If)
        holds = self.old.evaluator.known(pair.old, old.node.test, pair.facts)
        ways = [True, False] if holds is None else [holds]
        other = holds  # in the new program, where that may be on another side
        if isinstance(new.node, ast.If) and (self.old.evaluator.sides is not None or holds is not None):
            other = self.new.evaluator.known(pair.new, new.node.test, pair.facts)
            if self.old.evaluator.sides is None and other is not None and other is not holds:
                raise Differs("order", old.node, "what only evaluates runs in one of the two programs alone")
        if holds is None and isinstance(new.node, ast.If) and self._hang_otherwise(pair, old.node.test, new.node.test):
            raise Differs("order", old.node, "what only evaluates may run in one of the two programs alone")
        key = (old.node, pair.old.casts, pair.new.casts, pair.new.stopped, frozenset(pair.new.scalers.items()))
        if holds is None and key in self._evaluated:
            ways = [False]
        self._evaluated.add(key)
        found: list[Pair] = []
        for way in ways:
            one = pair.copy()
            for state, event, taken in ((one.old, old, way), (one.new, new, way if other is None else other)):
                frame = state.frames[-1]
                frame.pc = frame.pc + 1 if taken else event.about
            found.append(one)
        return found

    def _seen_before(self, pair: Pair, callee: ast.AST, frame: Frame, other: ast.AST, twin: Frame) -> bool:
        """Whether a function that only evaluates, and sets nothing that decides, has been followed with the
        same casts, scalers and arguments."""
        if not self.old.program.evaluation.evaluates_only(callee) or not self.new.program.evaluation.evaluates_only(
            other
        ):
            return False
        if self.old.program.sets_what_decides(callee) or self.new.program.sets_what_decides(other):
            return False
        scalers = frozenset(pair.new.scalers.items())
        key = (callee, frame.frozen(), twin.frozen(), pair.old.casts, pair.new.casts, pair.new.stopped, scalers)
        if key in self._evaluated:
            return True
        self._evaluated.add(key)
        return False


def _constructs(event: Event) -> bool:
    """Whether a program goes into a constructor."""
    return event.kind == "enter" and constructs(event.about[0])
