"""Functions of the program are entered: by a call, by a property, or from code that is not here."""

from __future__ import annotations

import ast

from ...flow.objects import Obj
from ...nodes import constructs, named_parameters
from ..code import Op
from ..program.program import Program
from ..state import Frame, Key, State, Unfollowed
from ..terms import TRUE, Facts, Term, made_of, opaque, truth
from .arguments import Arguments, name_called_by
from .event import Event
from .exits import AHEAD
from .makers import Makers
from .values import Evaluator
from .variables import Variables

_MAY_BE_ANY = ("v", "attr", "sub")  # terms of values that are not known


class Calls:
    """The calls of one program that go into its own functions."""

    def __init__(
        self, program: Program, variables: Variables, evaluator: Evaluator, arguments: Arguments, makers: Makers
    ) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.variables, self.evaluator, self.arguments, self.makers = variables, evaluator, arguments, makers

    # ------------------------------------------------------------ calls

    def inline(self, state: State, frame: Frame, call: ast.Call | ast.Attribute, facts: Facts) -> Event | None:
        """A call of a function of the program: which of those it may run is a question."""
        hanging = self.evaluator.hanging
        if hanging is not None and isinstance(call, ast.Call) and hanging.replaced(call):
            raise Unfollowed("a function that a decorator chooses by a flag which is another one now")
        made = self._made_class(call, facts)
        every = self._callees(state, call, facts) if made is None else self.v.functions(made)
        callees = [c for c in every if c in self.program.marks.functions]
        spared = len(callees) < len(every) and isinstance(call, ast.Call) and name_called_by(call) is not None
        callees = [c for c in callees if self._enters(state, c)]
        callees = [c for c in callees if not self.program.code(c).generator]
        if not callees:
            if made is not None:  # of a class without a constructor, or with one in which nothing happens
                self._made(state, frame, call, made)
            frame.pc += 1
            return None
        callees.sort(key=self.naming.place)
        for number, callee in enumerate(callees):
            runs = opaque(self.naming.place(call), f"runs {self.naming.place(callee)}")
            if (number == len(callees) - 1 and not spared) or truth(runs, facts):
                frame = self.arguments.frame_for(state, call, callee, facts)
                if made is not None:
                    frame.env[("made",)] = self._instance(made)
                self._arguments_made(state, call)
                return Event("enter", call, (callee, frame))
        frame.pc += 1
        return None

    def _instance(self, made: Obj) -> Term:
        return ("obj", frozenset({("instance", self.naming.place(made.key))}))  # type: ignore[arg-type]

    def _made(self, state: State, frame: Frame, call: ast.Call | ast.Attribute, made: Obj) -> None:
        """An object is there at once."""
        instance = self._instance(made)
        frame.give(self.naming.place(call), instance)
        for key in instance[1]:
            state.make(key)

    def _arguments_made(self, state: State, call: ast.Call | ast.Attribute) -> None:
        """``Trainer(Net(), …)``: a network is new before the constructor makes an optimizer of it."""
        for arg in (*call.args, *(k.value for k in call.keywords)) if isinstance(call, ast.Call) else ():
            if isinstance(arg, ast.Call):
                self.makers.made_anew(state, arg)

    def _enters(self, state: State, function: ast.AST) -> bool:
        """Whether a function is gone into: one that is running is not, but one that trains is once more, as what it
        leaves behind meets its own next round."""
        running = sum(f.code.node is function for f in state.frames)
        return not running or (running == 1 and self.program.entries.trains(function))

    def _made_class(self, call: ast.Call | ast.Attribute, facts: Facts) -> Obj | None:
        """The class that a call makes an instance of, where it may be one of several."""
        held = self.v.of(call.func) if isinstance(call, ast.Call) else frozenset()
        classes = [o for o in held if o.kind == "class" and isinstance(o.key, ast.ClassDef)]
        made = self.v.of(call) if held else frozenset()  # `policy = policy(config)` names what it makes so, too
        if len(classes) < 2 or not held <= made.union(classes):
            return None
        classes.sort(key=lambda o: self.naming.place(o.key))  # type: ignore[arg-type]
        for one in classes[:-1]:
            if truth(opaque(self.naming.place(call), f"makes {self.naming.place(one.key)}"), facts):  # type: ignore[arg-type]
                return one
        return classes[-1]

    def _callees(self, state: State, call: ast.Call | ast.Attribute, facts: Facts) -> list[ast.AST]:
        every = self.program.callees.runs(call)
        if isinstance(call, ast.Call) and (named := name_called_by(call)) is not None:
            term = self.evaluator.value(state, named, facts)
            others = [o for o in self.v.of(call.func) if o.kind == "method" and term[0] == "k" and o.label != term[1]]
            left_out = {o.key[1] for o in others}  # type: ignore[index]
            return [f for f in every if f not in left_out]
        if isinstance(call, ast.Attribute) or len(every) < 2:
            return every
        called = [o for o in self.v.of(call.func) if o.kind == "instance"]
        if called:  # their `__call__`
            term = self.evaluator.value(state, call.func, facts)
            meant = [o for o in called if term[0] == "obj" and self.naming.key(o) in term[1]]
            return [f for o in meant for f in self.v.functions(o)] or every
        if not isinstance(call.func, (ast.Name, ast.Attribute)):
            return every
        term = self.evaluator.value(state, call.func, facts)
        places = {key[1] for key in term[1] if key[0] == "function"} if term[0] == "obj" else set()
        if isinstance(call.func, ast.Name) or places:
            chosen = {f for g, others in self.v.dispatched.items() if self.naming.place(g) in places for f in others}
            return [f for f in every if f in chosen or self.naming.place(f) in places] or every
        owner = self.evaluator.value(state, call.func.value, facts)
        if owner[0] != "obj":
            return self._of_one_class(call, owner, every, facts)
        found: list[ast.AST] = []
        for obj in self.v.of(call.func):
            if obj.kind == "method" and self.naming.key(obj.key[0]) in owner[1]:  # type: ignore[index]
                found += self.v.functions(obj)
        return found or every

    def _of_one_class(self, call: ast.Call, owner: Term, every: list[ast.AST], facts: Facts) -> list[ast.AST]:
        """The methods of the class that an object is of: that is one question, whichever of its methods is called."""
        held = self.v.of(call.func)
        methods = [o for o in held if o.kind == "method" and o.key[0].kind == "instance"]  # type: ignore[index]
        classes = sorted({o.key[0] for o in methods}, key=self.naming.key)  # type: ignore[index]
        if owner[0] not in _MAY_BE_ANY or len(classes) < 2 or len(methods) < len(held):
            return every
        rest = (one for one in classes[:-1] if truth(made_of("of class", owner, ("k", self.naming.key(one))), facts))
        chosen = next(rest, classes[-1])
        return [f for o in methods if o.key[0] == chosen for f in self.v.functions(o)]  # type: ignore[index]

    def enter(self, state: State, call: ast.AST, callee: ast.AST, frame: Frame) -> None:
        """Go into a function of the program."""
        scope = self.m.scope_of[callee]
        if constructs(callee):
            owners = [o for o in self.v.of(call) if o.kind == "instance"]
            if owners:
                every: Term = ("obj", frozenset(self.naming.key(o) for o in owners))
                made = frame.env.pop(("made",), every)
                frame.env[scope.params[0]] = made
                state.frames[-1].give(self.naming.place(call), made)
                for key in made[1]:
                    state.make(key)
        state.frames.append(frame)

    def pass_by(self, state: State, call: ast.AST) -> None:
        """Leave a call out: nothing is known of its result."""
        frame = state.frames[-1]
        frame.give(self.naming.place(call), self.variables.unknown(call))
        frame.pc += 1

    # ------------------------------------------------------------ entries

    def epilogue(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        node = frame.code.node
        waiting = self.program.entries.of(node) if isinstance(node, ast.Module) else self.program.entries.nested(node)
        if not waiting:
            frame.pc += 1
            return None
        return Event("choose", node, waiting)

    def choose(self, state: State, which: ast.AST | None, number: int) -> None:
        """Run one of the functions that nobody here calls, or go on; a method for an object of that one of the classes
        that it may have."""
        if which is None:
            state.frames[-1].pc += 1
            return
        frame = Frame(self.program.code(which))
        scope = self.m.scope_of[which]
        assert isinstance(which, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for name in named_parameters(which):
            frame.env[name] = self.variables.param(which, name)
        owner = self.m.class_of(scope)
        first = self.m.self_name(scope)
        state.frames.append(frame)
        if owner is None or first is None:
            return
        concrete = self.program.entries.classes(owner)[number]
        key: Key = ("instance", self.naming.place(concrete))
        frame.env[first] = ("obj", frozenset({key}))
        init = self.v.callee(Obj("class", concrete, concrete.name))
        if init in self.program.marks.functions and init is not which and not state.is_made(key):
            assert init is not None
            made = Frame(self.program.code(init))
            for name in self.m.scope_of[init].params:
                made.env[name] = self.variables.param(init, name)
            made.env[self.m.scope_of[init].params[0]] = ("obj", frozenset({key}))
            made.env[AHEAD] = TRUE
            state.frames.append(made)
        state.make(key)
