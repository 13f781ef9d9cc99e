"""What a call gives, as far as that is known without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...facts.predicates import looks_for_amp, predicate
from ...flow.arguments import argument, default_of
from ...knowledge.apex import OF_AMP
from ...knowledge.gradients import WRAPPED_OPTIMIZERS
from ...nodes import positional_parameters
from ..names import OF_WORDS, OPTIMIZERS, PURE, SELF_METHODS, WRAPPERS
from ..owners import Owners
from ..program.definitions import makes_record
from ..program.program import Program
from ..program.syntax import asked_for, finds_apex, last_name, of_process
from ..state import Frame, State
from ..terms import FALSE, NONE, TRUE, Facts, Term, inside, made_of, opaque, record, truth
from .lookup import Evaluate, Lookup
from .variables import Variables

MARK = "_amp_stash"  # an attribute that amp.initialize gives to an optimizer


class Results:
    """The results of one program's calls. ``value`` says what an expression stands for, ``item`` one in brackets."""

    def __init__(
        self,
        program: Program,
        variables: Variables,
        lookup: Lookup,
        owners: Owners,
        legacy: bool,
        value: Evaluate,
        item: Callable[[State, Term, Term], Term],
    ) -> None:
        self.program, self.v, self.naming = program, program.v, program.naming
        self.variables, self.lookup, self.owners, self.legacy = variables, lookup, owners, legacy
        self.value, self.item = value, item
        self._asked: set[ast.AST] = set()  # predicates whose answer is being worked out
        self._calls: dict[ast.Call, tuple[str, tuple[str, int], Term]] = {}

    def of(self, state: State, call: ast.Call, facts: Facts) -> Term:
        """The result of a call: of one that was run what it returned, of a known function what that makes."""
        if call not in self._calls:
            self._calls[call] = self._known_of(call)
        last, slot, made = self._calls[call]
        env = state.frames[-1].env if state.frames else {}
        done = env.get(slot)
        if done is not None:
            return done
        if last == "super" and state.frames and (own := self.variables.receiver(state.frames[-1])) in env:
            return env[own]
        for found_by in (self._of_amp, self._of_wrapper):
            found = found_by(state, call, last, facts)
            if found is not None:
                return found
        # once, as it may be a call of a method in turn: `words.lower().strip().startswith("adam")`
        owner = self.value(state, call.func.value, facts) if isinstance(call.func, ast.Attribute) else None
        if owner is not None and (owner[0] == "scaled" or (last in SELF_METHODS and owner[0] == "obj")):
            return owner
        found = self._of_builtin(state, call, last, owner, facts) or self._of_scaled(state, call, last, facts)
        return found or self._of_predicate(state, call, last, owner, facts) or made

    def _known_of(self, call: ast.Call) -> tuple[str, tuple[str, int], Term]:
        """What is the same whenever a call is made: its name, where its result is kept, and what it gives where nobody
        says more."""
        last, place = last_name(call.func), self.naming.place(call)
        instance = next((obj for obj in self.v.in_order(self.v.of(call)) if obj.kind == "instance"), None)
        made: Term = opaque(0, of_process(call)) if of_process(call) else opaque(self.naming.result(call))
        if instance is not None:
            made = ("obj", frozenset({self.naming.key(instance)}))
        elif last.endswith("Scaler") and not self.v.callees(call):
            made = ("made", place)
        return last, ("ret", place), made

    def _of_amp(self, state: State, call: ast.Call, last: str, facts: Facts) -> Term | None:
        """Calls of Apex and of a GradScaler."""
        if self.program.marks.kind.get(call) == "initialize":
            models, optimizers = argument(call, 0, "models"), argument(call, 1, "optimizers")
            first = self.value(state, models, facts) if models is not None else NONE
            if optimizers is None or (isinstance(optimizers, ast.Constant) and optimizers.value is None):
                return first
            return ("seq", (first, self.value(state, optimizers, facts)))
        func = call.func
        if isinstance(func, ast.Attribute) and last == "is_enabled" and self.program.scaling.scalers(func.value):
            return ("k", state.scalers[self.lookup.scaler(state, func.value, facts)].enabled)
        if call in self.program.objects.scales:
            return self._scaled_loss(state, call, facts)
        return None

    def _of_wrapper(self, state: State, call: ast.Call, last: str, facts: Facts) -> Term | None:
        """Functions and methods that hand back what they are given, namespaces and dictionaries."""
        if makes_record(call) and call not in self.program.definitions.changing:
            return record((k.arg, self.value(state, k.value, facts)) for k in call.keywords if k.arg)
        if last == "nullcontext":
            return ("null", self.value(state, call.args[0], facts) if call.args else NONE)
        entered = call.args[0] if last == "partial" and call.args else call.func if last == "autocast" else None
        if entered is not None and self.value(state, entered, facts)[0] == "autocast":
            enabled = argument(call, 2 if entered is call.func else -1, "enabled")
            return ("autocast", self.value(state, enabled, facts) if enabled is not None else TRUE)
        if last == "enter_context" and call.args:
            return inside(self.value(state, call.args[0], facts))
        if last in WRAPPERS and call.args:
            given = self.value(state, call.args[0], facts)
            return TRUE if last == "bool" and given[0] == "apex" else given
        return None

    def _of_builtin(self, state: State, call: ast.Call, last: str, owner: Term | None, facts: Facts) -> Term | None:
        """Functions of Python that make something of values alone."""
        by_name = isinstance(call.func, ast.Name)
        if by_name and last in ("vars", "dir") and len(call.args) == 1:
            of = self.value(state, call.args[0], facts)
            return ("apex", f"{of[1]}.__dict__") if of[0] == "apex" else None
        if by_name and last in PURE:
            terms = [self.value(state, a, facts) for a in call.args if not isinstance(a, ast.Starred)]
            if last == "getattr" and terms and terms[0][0] == "apex":
                return TRUE
            if last == "hasattr" and len(call.args) == 2 and self._wraps_nothing(*call.args):
                return FALSE
            if last == "hasattr" and len(terms) == 2:
                return self.has(state, *terms)
            if last == "getattr" and len(terms) >= 2 and terms[1][0] == "k":
                return self.variables.attribute(state, terms[0], str(terms[1][1]), call)
            return made_of(last, *terms)
        if last in OF_WORDS and owner is not None and not self.v.callees(call):
            if len(call.args) == OF_WORDS[last] and not call.keywords:
                return _of_word(last, owner, *(self.value(state, a, facts) for a in call.args))
        if last == "get" and owner is not None and owner[0] == "apex" and owner[1].endswith(".__dict__"):
            return TRUE  # what amp has
        if last == "get" and owner is not None and asked_for(call) and not self.v.callees(call):
            return self._of_get(state, call, owner, facts)
        if last == "getenv" and owner is not None and asked_for(call):
            environ = self.variables.attribute(state, owner, "environ", call)
            return self._of_get(state, call, environ, facts)
        if finds_apex(call):
            return TRUE
        if by_name and last in ("zip", "enumerate"):
            return _rows(last, [self.value(state, a, facts) for a in call.args], bool(call.keywords))
        return None

    def has(self, state: State, owner: Term, name: Term) -> Term:
        """Whether an object has an attribute."""
        if owner[0] == "apex":
            return FALSE if owner[1] == "apex.amp" and name[0] == "k" and name[1] not in OF_AMP else TRUE
        if name == ("k", MARK) and owner[0] == "obj":
            return ("k", self.legacy and all((key, MARK) in state.heap for key in owner[1]))
        return made_of("hasattr", owner, name)

    def _wraps_nothing(self, owner: ast.expr, name: ast.expr) -> bool:
        """Whether an attribute by which wrappers keep an optimizer is asked of one of torch's, which keeps none:
        ``opt = opt.optimizer if hasattr(opt, "optimizer") else opt``."""
        if not isinstance(name, ast.Constant) or name.value not in WRAPPED_OPTIMIZERS:
            return False
        held, m = self.v.of(owner), self.program.m
        given = (n for n in m.attributes(str(name.value)) if isinstance(n.ctx, ast.Store))
        plain = all(o.kind == "call" and o.label in OPTIMIZERS for o in held)
        return bool(held) and plain and not any(held & self.v.of(n.value) for n in given)

    def _of_scaled(self, state: State, call: ast.Call, last: str, facts: Facts) -> Term | None:
        """What is made of a scaled loss is taken to be one."""
        if last in ("zip", "enumerate") or any(
            self.value(state, a, facts)[0] == "scaled" for a in call.args if isinstance(a, ast.Name)
        ):
            scaled = [t for a in call.args if (t := self.value(state, a, facts))[0] == "scaled"]
            return scaled[0] if scaled else None
        return None

    def _of_predicate(self, state: State, call: ast.Call, last: str, owner: Term | None, facts: Facts) -> Term | None:
        """A function that only looks something up: ``def is_apex_available(): return _has_apex``."""
        asking = bool(state.frames) and state.frames[-1].code.node in self._asked
        if asking and last == "get" and call.args and owner is not None:
            return self._of_get(state, call, owner, facts)
        callees = [*self.v.callees(call)]
        if not callees and isinstance(call.func, ast.Name) and last in self.program.objects.asking:
            return TRUE  # where Apex was not there, training with it was an error
        if len(callees) == 1 and (there := looks_for_amp(callees[0])) is not None:
            return ("k", there)
        said = predicate(callees[0]) if len(callees) == 1 else None
        if said is None or callees[0] in self._asked:
            return None
        frame = self._frame(state, call, callees[0], owner, facts)
        if frame is None:
            return None
        state.frames.append(frame)
        self._asked.add(callees[0])
        try:
            return self.value(state, said, facts)
        finally:
            self._asked.discard(callees[0])
            state.frames.pop()

    def _frame(
        self, state: State, call: ast.Call, callee: ast.AST, owner: Term | None, facts: Facts
    ) -> Frame | None:
        """The parameters of a predicate in a call of it; None where an argument is not in its place."""
        assert isinstance(callee, ast.FunctionDef)
        scope = self.program.m.scope_of[callee]
        frame, own = Frame(self.program.code(callee)), self.program.m.self_name(scope)
        names = positional_parameters(callee)
        if own is not None:
            if owner is None or last_name(call.func) != callee.name:
                return None
            frame.env[own] = owner
            names.remove(own)
        for number, name in enumerate([*names, *(a.arg for a in callee.args.kwonlyargs)]):
            given = argument(call, number if number < len(names) else len(call.args), name)
            given = given if given is not None else default_of(callee, name)
            if given is None:
                return None
            frame.env[name] = self.value(state, given, facts)
        return frame

    def _of_get(self, state: State, call: ast.Call, owner: Term, facts: Facts) -> Term:
        """``cfg.get("fp16", False)``: the item, or what is there instead."""
        item = self.item(state, owner, self.value(state, call.args[0], facts))
        return made_of("get", item, *(self.value(state, a, facts) for a in call.args[1:])) if item[0] == "sub" else item

    def _scaled_loss(self, state: State, call: ast.Call, facts: Facts) -> Term:
        """What ``amp.scale_loss`` hands back: nothing happens before it is entered."""
        loss, given = argument(call, 0, "loss"), argument(call, 1, "optimizers")
        delayed = argument(call, 4, "delay_unscale")
        delay = truth(self.value(state, delayed, facts), facts) if delayed is not None else False
        known = self.program.objects.scales.get(call, self.program.objects.optimizers)
        optimizers = self.lookup.optimizers(state, given, facts) if given is not None else known
        term = self.value(state, loss, facts) if loss is not None else opaque(0)
        by = self._entered_by(state, call) if self.owners.takes_networks(call) else None
        return ("scaling", self.naming.place(call), optimizers or known, delay, term, self._row(state, loss), by)

    def _entered_by(self, state: State, call: ast.Call) -> int | None:
        """The place of the call that runs the function in which a loss is scaled."""
        inner = state.frames[-1].code.node is self.program.m.function(call).node
        if not inner or len(state.frames) < 2:
            return None
        below = state.frames[-2]
        node = below.code.ops[below.pc].node if below.pc < len(below.code.ops) else None
        runs = isinstance(node, ast.Call) and state.frames[-1].code.node in self.v.callees(node)
        return self.naming.place(node) if runs and node is not None else None

    def _row(self, state: State, loss: ast.expr | None) -> int | None:
        """The round of the loop that hands out a loss, where its items are followed one by one."""
        loop = self.owners.computed.loop_of(loss) if loss is not None else None
        if loop is None or not state.frames:
            return None
        row: Term = state.frames[-1].env.get(("row", self.naming.place(loop)), NONE)
        return row[1]  # type: ignore[no-any-return]


def _of_word(method: str, word: Term, *given: Term) -> Term:
    """What a method of words gives: the same wherever it is asked of the same word."""
    known = [t[1] for t in (word, *given) if t[0] == "k" and isinstance(t[1], str)]
    if len(known) == 1 + len(given):
        return ("k", getattr(str, method)(*known))
    return made_of(method, word, *given)


def _rows(name: str, given: list[Term], more: bool) -> Term | None:
    """What ``zip`` and ``enumerate`` make of lists that are written out."""
    if more or not given or any(term[0] != "seq" for term in given):
        return None
    lists: list[tuple[Term, ...]] = [term[1] for term in given]
    if name == "enumerate":
        if len(lists) != 1:
            return None
        lists.insert(0, tuple(("k", number) for number in range(len(lists[0]))))
    return ("seq", tuple(("seq", row) for row in zip(*lists, strict=False)))
