"""Calls of mixed precision: what Apex and GradScaler do at once, and what both programs have to do."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...facts.scopes import Scope
from ...flow.arguments import argument
from ...nodes import walk
from .. import machines
from ..code import Op
from ..owners import Owners
from ..program.program import Program
from ..program.syntax import last_name
from ..state import Crash, Frame, Key, LegacyRaises, State
from ..terms import NONE, TRUE, Facts, Term, compared, truth
from .calls import Calls
from .clearing import Clearing
from .contexts import Contexts
from .event import Event
from .results import MARK
from .values import Evaluator, switched_by
from .variables import CHANGED


class Training:
    """The calls of one program that training is made of.

    ``maybe_o0`` says of an initialize whether its level may be O0; where not ``scaled``, Apex scales nothing.
    """

    def __init__(
        self,
        program: Program,
        evaluator: Evaluator,
        contexts: Contexts,
        calls: Calls,
        owners: Owners,
        legacy: bool,
        maybe_o0: Callable[[ast.Call], bool],
        scaled: bool,
    ) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.evaluator, self.lookup, self.contexts, self.calls = evaluator, evaluator.lookup, contexts, calls
        self.owners, self.legacy, self.maybe_o0, self.scaled = owners, legacy, maybe_o0, scaled
        self.clearing = Clearing(program, owners, evaluator)
        self._inner: dict[ast.ClassDef, set[str]] = {}

    def call(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        call = op.node
        assert isinstance(call, (ast.Call, ast.Attribute))
        kind = self.program.marks.kind[call]
        if kind == "call":
            return self.calls.inline(state, frame, call, facts)
        if kind in ("state", "scale") and self.legacy:
            if not state.initialized:
                raise LegacyRaises  # AttributeError: no loss scaler was made
            if self._asked_of_none(state, call):
                raise LegacyRaises  # AttributeError: 'NoneType' object has no attribute 'load_state_dict'
        event = Event(kind, call) if isinstance(call, ast.Attribute) else self._done(state, frame, call, kind, facts)
        frame.pc += 1
        return event

    def _done(self, state: State, frame: Frame, call: ast.Call, kind: str, facts: Facts) -> Event | None:
        """What a call comes to: something that both programs have to do, or done at once."""
        match kind:
            case "forward" if self.legacy and self._unset(state, call.func, facts):
                raise LegacyRaises  # AttributeError: nobody has set this model yet
            case "forward" | "loss" | "state" | "scale" | "foreign":
                return Event(kind, call)
            case "zero":
                return Event("zero", call, self._zeroed(state, call, facts))
            case "gradients":  # of a scaled loss: whoever takes them puts them into ``.grad``
                loss = self._loss(state, call, facts)
                return Event("backward", call, loss) if loss[0] == "scaled" else None
            case "backward":
                return Event("backward", call, self._loss(state, call, facts))
            case "step":
                assert isinstance(call.func, ast.Attribute)
                closure = self._closure(state, call, 0, facts)
                stepped = self.lookup.optimizers(state, call.func.value, facts)
                return Event("step", call, (None, stepped), closure)
            case "entered":
                self.contexts.enter_on_stack(state, frame, call, facts)
            case "initialize":
                self._initialize(state, call, facts)
            case "create":
                self._create(state, frame, call, facts)
            case "scaler":
                return self._of_scaler(state, frame, call, facts)
            case _:
                pass
        return None

    def _of_scaler(self, state: State, frame: Frame, call: ast.Call, facts: Facts) -> Event | None:
        """A method of a GradScaler."""
        assert isinstance(call.func, ast.Attribute)
        key = self.lookup.scaler(state, call.func.value, facts)
        name = call.func.attr
        if name == "scale" and call.args:
            loss = self.evaluator.value(state, call.args[0], facts)
            scaled = machines.torch_scale(state, key)
            frame.give(self.naming.place(call), ("scaled", key) if scaled else loss)
        elif name in ("unscale_", "step") and call.args and self._is_list(call.args[0]):
            raise Crash(f"{name}() is handed a list of optimizers")
        elif name == "unscale_" and call.args:
            machines.torch_unscale(state, key, self.lookup.optimizers(state, call.args[0], facts))
        elif name == "step" and call.args:
            closure = self._closure(state, call, 1, facts)
            return Event("step", call, (key, self.lookup.optimizers(state, call.args[0], facts)), closure)
        elif name == "update":
            machines.torch_update(state, key)
        elif name == "get_scale":
            return Event("scale", call)
        elif name in ("state_dict", "load_state_dict"):
            return Event("state", call)
        return None

    def _is_list(self, expr: ast.expr) -> bool:
        held = self.v.of(expr)
        return bool(held) and all(o.kind in ("seq", "dict") or self.v.is_container(o) for o in held)

    def _asked_of_none(self, state: State, call: ast.expr) -> bool:
        """Whether a statement that ran before this one in its function called a method of a parameter that is None:
        ``optimizer.load_state_dict(…)``, where whoever only evaluates hands over no optimizer."""
        function = self.m.function(call)
        missing = self._none_handed(state, function)
        for outer in self.m.spine(call) if missing else ():
            before = self.m.block(outer).body[: self.m.index(outer)]
            if any(_method_of(stmt) in missing for stmt in before):
                return True
        return False

    def _none_handed(self, state: State, function: Scope) -> set[str]:
        """The parameters of the function that runs which its call gives None, and nothing else later."""
        caller = state.frames[-2] if len(state.frames) > 1 else None
        op = caller.code.ops[caller.pc] if caller is not None and caller.pc < len(caller.code.ops) else None
        if op is None or not isinstance(op.node, ast.Call) or function.node not in self.v.callees(op.node):
            return set()
        shift = int(self.m.self_name(function) is not None)
        given = {name: argument(op.node, at - shift, name) for at, name in enumerate(function.params)}
        none = (n for n, one in given.items() if isinstance(one, ast.Constant) and one.value is None)
        return {name for name in none if not self.m.stores(name, function)}

    def _closure(self, state: State, call: ast.Call, first: int, facts: Facts) -> bool:
        """Whether a step is handed anything but None."""
        given = [*call.args[first:], *(k.value for k in call.keywords)]
        return any(self.evaluator.value(state, one, facts) != NONE for one in given)

    def _unset(self, state: State, func: ast.expr, facts: Facts) -> bool:
        """Whether ``self.model`` is read of an object that has no such attribute yet, though this file sets it."""
        if not isinstance(func, ast.Attribute) or not self.naming.keys(func) & self.program.objects.models:
            return False
        owner = self.evaluator.value(state, func.value, facts)
        if owner[0] != "obj" or len(owner[1]) != 1 or not self.program.definitions.sets(func.attr):
            return False
        if self.evaluator.memory.loses(func.attr):
            return False  # what was not kept may have been set
        (key,) = owner[1]
        return state.is_made(key) and (key, func.attr) not in state.heap and (CHANGED, func.attr) not in state.heap

    def _zeroed(self, state: State, call: ast.Call, facts: Facts) -> tuple[frozenset[Key], bool]:
        assert isinstance(call.func, (ast.Attribute, ast.Name))
        given = next((k.value for k in call.keywords if k.arg == "set_to_none"), call.args[0] if call.args else None)
        to_none = not (isinstance(given, ast.Constant) and given.value is False)
        if isinstance(call.func, ast.Attribute):
            mine = self.lookup.optimizers(state, call.func.value, facts)
            mine |= self._around(state, call.func.value, facts)
            return mine or self.clearing.cleared(state, call.func.value, facts), to_none
        return self.program.objects.optimizers, to_none

    def _around(self, state: State, receiver: ast.expr, facts: Facts) -> frozenset[Key]:
        """The optimizer that is itself around the only one which its methods step or clear: ``self.optimizer`` of a
        LARS has the gradients of the LARS."""
        function = self.m.function(receiver)
        cls = self.m.class_of(function)
        if cls is None or not isinstance(receiver, ast.Attribute) or not isinstance(receiver.value, ast.Name):
            return frozenset()
        if receiver.value.id != self.m.self_name(function):
            return frozenset()
        owner = self.evaluator.value(state, receiver.value, facts)
        mine = owner[1] & self.program.objects.optimizers if owner[0] == "obj" else frozenset()
        return mine if mine and self._served(cls) == {receiver.attr} else frozenset()

    def _served(self, cls: ast.ClassDef) -> set[str]:
        """The attributes of its objects that methods of a class step, or clear the gradients of."""
        if cls not in self._inner:
            called = (n for n in walk(cls) if isinstance(n, ast.Attribute) and n.attr in ("step", "zero_grad"))
            self._inner[cls] = {n.value.attr for n in called if isinstance(n.value, ast.Attribute)}
        return self._inner[cls]

    def _loss(self, state: State, call: ast.Call, facts: Facts) -> Term:
        """What is differentiated: a scaled loss or another one."""
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        candidates = [*owner, *call.args, *(k.value for k in call.keywords if k.arg == "tensors")]
        for one in candidates:
            term = self.evaluator.value(state, one, facts)
            if term[0] == "scaled":
                return term
            if term[0] == "seq" and any(t[0] == "scaled" for t in term[1]):
                return next(t for t in term[1] if t[0] == "scaled")
        return NONE

    # ------------------------------------------------------------ mixed precision is switched on

    def _initialize(self, state: State, call: ast.Call, facts: Facts) -> None:
        old_api = last_name(call.func) == "init"
        enabled = argument(call, 0 if old_api else 2, "enabled")
        if enabled is not None and not truth(self.evaluator.value(state, enabled, facts), facts):
            state.initialized = True
            return
        optimizers = argument(call, 1, "optimizers")
        for key in self.program.objects.known(optimizers) if optimizers is not None and not old_api else ():
            state.heap_to_set()[(key, MARK)] = TRUE
        tables = [k.value for k in call.keywords if k.arg is None]
        level = argument(call, 3, "opt_level")
        on = all(truth(switched_by(self.m.src(table)), facts) for table in tables)
        if not tables and level is not None and self.maybe_o0(call):
            on = not truth(compared("eq", self.evaluator.value(state, level, facts), ("k", "O0")), facts)
        scale = next((k.value for k in call.keywords if k.arg == "loss_scale"), None)
        term = self.evaluator.value(state, scale, facts) if scale is not None else NONE
        plain = level is not None and self.evaluator.value(state, level, facts) == ("k", "O3") and term == NONE
        active = on and self.scaled and not plain and term not in (("k", 1.0), ("k", 1))
        machines.apex_initialize(state, on, active)
        for frame in state.frames:
            if self.program.entries.initializes(frame.code.node):
                frame.env[("switched",)] = TRUE

    def _create(self, state: State, frame: Frame, call: ast.Call, facts: Facts) -> None:
        enabled = argument(call, 6, "enabled")
        on = truth(self.evaluator.value(state, enabled, facts), facts) if enabled is not None else True
        key: Key = ("call", self.naming.place(call))
        within = any(("scaling",) in one.env for one in state.frames if one is not frame)  # a base's constructor, say
        state.stopped = not on and state.started > 0 and not within
        state.started += on
        if on:
            frame.env[("scaling",)] = TRUE
        machines.torch_begin(state, key, on)
        state.fresh = True
        frame.give(self.naming.place(call), ("scaler", key))

    def left_over(self, state: State) -> bool:
        """Whether casts are on only because a function ran before that switches them on further down."""
        for frame in state.frames:
            sites = self.program.entries.switches(frame.code.node)
            if not sites or ("switched",) in frame.env or isinstance(frame.code.node, ast.Module):
                continue
            here = frame.code.ops[frame.pc].node
            start = self.m.start(self.m.statement(here))  # an item of a `with` has no place of its own
            loops = set(self.m.loops(here))
            if all(start < self.m.start(s) and not loops & set(self.m.loops(s)) for s in sites):
                return True
        return False


def _method_of(stmt: ast.stmt) -> str | None:
    """The name whose method a statement does nothing but call."""
    match stmt:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name
        case _:
            return None
