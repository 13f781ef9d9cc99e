"""What a call gives, as far as that is known without running it."""

from __future__ import annotations

import ast

from ...flow.values import argument
from ..names import PURE, SELF_METHODS, WRAPPERS
from ..owners import Owners
from ..program.definitions import NAMESPACES
from ..program.program import Program
from ..program.syntax import last_name
from ..state import State
from ..terms import NONE, TRUE, Facts, Term, inside, made_of, opaque, record, truth
from .lookup import Evaluate, Lookup
from .variables import Variables

MARK = "_amp_stash"  # an attribute that amp.initialize gives to an optimizer


class Results:
    """The results of one program's calls. ``value`` says what an expression stands for."""

    def __init__(
        self,
        program: Program,
        variables: Variables,
        lookup: Lookup,
        owners: Owners,
        legacy: bool,
        value: Evaluate,
    ) -> None:
        self.program, self.v, self.naming = program, program.v, program.naming
        self.variables, self.lookup, self.owners, self.legacy, self.value = variables, lookup, owners, legacy, value

    def of(self, state: State, call: ast.Call, facts: Facts) -> Term:
        """The result of a call: of one that was run what it returned, of a known function what that makes."""
        env = state.frames[-1].env if state.frames else {}
        done = env.get(("ret", self.naming.place(call)))
        if done is not None:
            return done
        last = last_name(call.func)
        if last == "super" and state.frames and (own := self.variables.receiver(state.frames[-1])) in env:
            return env[own]
        for found_by in (self._of_amp, self._of_wrapper, self._of_builtin, self._of_scaled, self._of_flag):
            found = found_by(state, call, last, facts)
            if found is not None:
                return found
        for obj in self.v.of(call):
            if obj.kind == "instance":
                return ("obj", frozenset({self.naming.key(obj)}))
        return opaque(self.naming.place(call))

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
        """Functions and methods that hand back what they are given, and namespaces."""
        if last in NAMESPACES and not call.args and call not in self.program.definitions.changing:
            return record((k.arg, self.value(state, k.value, facts)) for k in call.keywords if k.arg)
        if last == "nullcontext":
            return ("null", self.value(state, call.args[0], facts) if call.args else NONE)
        if last == "enter_context" and call.args:
            return inside(self.value(state, call.args[0], facts))
        if last in WRAPPERS and call.args:
            return self.value(state, call.args[0], facts)
        if isinstance(call.func, ast.Attribute):
            owner = self.value(state, call.func.value, facts)
            if owner[0] == "scaled" or (last in SELF_METHODS and owner[0] == "obj"):
                return owner
        return None

    def _of_builtin(self, state: State, call: ast.Call, last: str, facts: Facts) -> Term | None:
        """Functions of Python that make something of values alone."""
        by_name = isinstance(call.func, ast.Name)
        if by_name and last in PURE:
            terms = [self.value(state, a, facts) for a in call.args if not isinstance(a, ast.Starred)]
            if last in ("getattr", "hasattr") and terms and terms[0][0] == "apex":
                return TRUE
            if last == "hasattr" and len(terms) == 2 and terms[1] == ("k", MARK) and terms[0][0] == "obj":
                return ("k", self.legacy and all((key, MARK) in state.heap for key in terms[0][1]))
            if last == "getattr" and len(terms) >= 2 and terms[1][0] == "k":
                return self.variables.attribute(state, terms[0], str(terms[1][1]), call)
            return made_of(last, *terms)
        if last == "find_spec" and call.args and isinstance(call.args[0], ast.Constant):
            if str(call.args[0].value).split(".")[0] == "apex":
                return TRUE
        if by_name and last in ("zip", "enumerate"):
            return _rows(last, [self.value(state, a, facts) for a in call.args], bool(call.keywords))
        return None

    def _of_scaled(self, state: State, call: ast.Call, last: str, facts: Facts) -> Term | None:
        """What is made of a scaled loss is taken to be one."""
        if last in ("zip", "enumerate") or any(
            self.value(state, a, facts)[0] == "scaled" for a in call.args if isinstance(a, ast.Name)
        ):
            scaled = [t for a in call.args if (t := self.value(state, a, facts))[0] == "scaled"]
            return scaled[0] if scaled else None
        return None

    def _of_flag(self, state: State, call: ast.Call, last: str, facts: Facts) -> Term | None:
        """A function that only says a name of its file: ``def is_apex_available(): return _has_apex``."""
        callees = [*self.v.callees(call)]
        flag = _flag(callees[0]) if len(callees) == 1 and not (call.args or call.keywords) else None
        if flag is None:
            return None
        home = self.program.m.binding_scope(flag.id, self.program.m.scope(flag))
        return self.value(state, flag, facts) if home is not None and home.parent is None else None

    def _scaled_loss(self, state: State, call: ast.Call, facts: Facts) -> Term:
        """What ``amp.scale_loss`` hands back: nothing happens before it is entered."""
        loss, given = argument(call, 0, "loss"), argument(call, 1, "optimizers")
        delayed = next((k.value for k in call.keywords if k.arg == "delay_unscale"), None)
        delay = truth(self.value(state, delayed, facts), facts) if delayed is not None else False
        known = self.program.objects.scales.get(call, self.program.objects.optimizers)
        optimizers = self.lookup.optimizers(state, given, facts) if given is not None else known
        term = self.value(state, loss, facts) if loss is not None else opaque(0)
        return ("scaling", self.naming.place(call), optimizers or known, delay, term, self._row(state, loss))

    def _row(self, state: State, loss: ast.expr | None) -> int | None:
        """The round of the loop that hands out a loss, where its items are followed one by one."""
        loop = self.owners.loop_of(loss) if loss is not None else None
        if loop is None or not state.frames:
            return None
        row: Term = state.frames[-1].env.get(("row", self.naming.place(loop)), NONE)
        return row[1]  # type: ignore[no-any-return]


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


def _flag(function: ast.AST) -> ast.Name | None:
    """The name that a function gives back which does nothing else."""
    match function:
        case ast.FunctionDef(decorator_list=[], body=[*said, ast.Return(value=ast.Name() as name)]):
            plain = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in said)
            return name if plain else None
        case _:
            return None
