"""What the parameters of a function hold when it is entered."""

from __future__ import annotations

import ast

from ...flow.objects import unbound
from ...nodes import positional_parameters
from ..program.program import Program
from ..state import Frame, State
from ..terms import Facts, Term, record
from .values import Evaluator
from .variables import Variables


class Arguments:
    """The arguments of one program's calls."""

    def __init__(self, program: Program, variables: Variables, evaluator: Evaluator) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.variables, self.evaluator = variables, evaluator

    def frame_for(self, state: State, call: ast.Call | ast.Attribute, callee: ast.AST, facts: Facts) -> Frame:
        """A frame of ``callee`` at its first operation, for a call or a property that runs it."""
        assert isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        frame = Frame(self.program.code(callee))
        for name in self.m.scope_of[callee].params:
            frame.env[name] = self.variables.param(callee, name)
        self._defaults(state, frame, callee.args, facts)
        if isinstance(call, ast.Attribute):  # a property
            owner = self.evaluator.value(state, call.value, facts)
            receiver = self.variables.receiver(frame)
            if receiver is not None and owner[0] == "obj":
                frame.env[receiver] = owner
            stmt, names = self.m.parent.get(call), positional_parameters(callee)
            if isinstance(stmt, ast.Assign) and call in stmt.targets and len(names) > 1:  # its setter
                frame.env[names[1]] = self.evaluator.value(state, stmt.value, facts)
        elif callee in self.v.callees(call):  # else it is handed to code that is not here
            names = positional_parameters(callee)
            names = self._partial(state, frame, call, names, facts)
            names = self._receiver(state, frame, call, names, facts)
            row, whole = self._row(state, call, facts)
            self._unsaid(state, frame, call, names[len(row) :], whole, callee.args, facts)
            frame.env.update(zip(names, row, strict=False))
            self._keywords(state, frame, call, callee.args, facts)
        for name in [n for n, term in frame.env.items() if isinstance(n, str) and self._lost(n, term)]:
            del frame.env[name]
        return frame

    def _lost(self, name: str, term: Term) -> bool:
        memory = self.variables.memory
        return memory.loses(name) and not memory.holds_objects(term)

    def _defaults(self, state: State, frame: Frame, args: ast.arguments, facts: Facts) -> None:
        names = [p.arg for p in (*args.posonlyargs, *args.args)]
        for name, default in zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True):
            if isinstance(default, (ast.Constant, ast.Name)):
                frame.env[name] = self.evaluator.value(state, default, facts)
        for param, kw_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if isinstance(kw_default, (ast.Constant, ast.Name)):
                frame.env[param.arg] = self.evaluator.value(state, kw_default, facts)

    def _partial(self, state: State, frame: Frame, call: ast.Call, names: list[str], facts: Facts) -> list[str]:
        """What ``functools.partial`` was given; the parameters that are left."""
        held = self.v.in_order(o for o in self.v.of(call.func) if o.kind == "partial")
        part = held[0].key if held else None
        if not isinstance(part, ast.Call):
            return names
        given = part.args[1:]
        for name, arg in zip(names, given, strict=False):
            frame.env[name] = self.evaluator.value(state, arg, facts)
        for keyword in part.keywords:
            if keyword.arg in self.m.scope_of[frame.code.node].params:
                frame.env[keyword.arg] = self.evaluator.value(state, keyword.value, facts)
        return names[len(given) :]

    def _receiver(self, state: State, frame: Frame, call: ast.Call, names: list[str], facts: Facts) -> list[str]:
        """The object whose method is called; the parameters that are left."""
        scope = self.m.scope_of[frame.code.node]
        receiver = self.m.self_name(scope)
        held = self.v.of(call.func)
        if any(unbound(o) for o in held):  # Base.method(self, x)
            return names
        if receiver is None:
            return names[1:] if self.m.class_name(scope) is not None else names
        if any(o.kind == "instance" for o in held):  # its __call__
            called = self.evaluator.value(state, call.func, facts)
            if called[0] != "obj":
                called = ("obj", frozenset(self.naming.key(o) for o in held if o.kind == "instance"))
            frame.env[receiver] = called
        elif isinstance(call.func, ast.Attribute):
            owner = self.evaluator.value(state, call.func.value, facts)
            if owner[0] != "obj" and isinstance(call.func.value, ast.Call):  # super().method()
                owner = self._receiver_below(state) or owner
            if owner[0] in ("obj", "v"):
                frame.env[receiver] = self._bound(call.func, frame.code.node, owner)
        elif name_called_by(call) is not None:
            callee = frame.code.node
            owners = [o.key[0] for o in held if o.kind == "method" and o.key[1] is callee]  # type: ignore[index]
            frame.env[receiver] = ("obj", frozenset(self.naming.key(o) for o in owners))
        return names[1:]

    def _bound(self, func: ast.Attribute, callee: ast.AST, owner: Term) -> Term:
        """The object of a method that an attribute of another one holds: ``self.backward = trainer.backward``."""
        objects = [o.key[0] for o in self.v.of(func) if o.kind == "method" and o.key[1] is callee]  # type: ignore[index]
        holders = [o for o in self.v.of(func.value) if owner[0] == "obj" and self.naming.key(o) in owner[1]]
        if not objects or not holders or any(o.kind != "instance" for o in (*objects, *holders)):
            return owner
        line = [cls for o in holders for cls in self.v.order(o.key)]  # type: ignore[arg-type]
        if any(self.m.method(cls, func.attr) is not None for cls in line):
            return owner
        return ("obj", frozenset(map(self.naming.key, objects)))

    def _receiver_below(self, state: State) -> Term | None:
        """The object of the innermost method that is being run."""
        for frame in reversed(state.frames):
            if name := self.variables.receiver(frame):
                return frame.env[name]
        return None

    def _unsaid(
        self,
        state: State,
        frame: Frame,
        call: ast.Call,
        left: list[str],
        whole: bool,
        args: ast.arguments,
        facts: Facts,
    ) -> None:
        """What ``*rows`` and ``**settings`` may say of the parameters that are ``left`` behind what is known of the row
        (``whole``: that is all of it): where nothing is known of these, a default is not certain."""
        for name in () if whole else left:
            frame.env[name] = self.variables.param(frame.code.node, name)
        for keyword in call.keywords:
            table = self.evaluator.value(state, keyword.value, facts) if keyword.arg is None else record(())
            if table[0] != "dict":
                for name in [*left, *(p.arg for p in args.kwonlyargs)]:
                    known = self.variables.param(frame.code.node, name)
                    frame.env[name] = known if known[0] == "obj" else ("sub", table, ("k", name))

    def _row(self, state: State, call: ast.Call, facts: Facts) -> tuple[list[Term], bool]:
        """What a call hands over by its place, as far as that is known, and whether it is all."""
        row: list[Term] = []
        for arg in call.args:
            if not isinstance(arg, ast.Starred):
                row.append(self.evaluator.value(state, arg, facts))
            elif (term := self.evaluator.value(state, arg.value, facts))[0] == "seq":
                row += term[1]
            else:
                return row, False
        return row, True

    def _keywords(self, state: State, frame: Frame, call: ast.Call, args: ast.arguments, facts: Facts) -> None:
        """Keywords, those of a dictionary that is written out as well; ``**kwargs`` gets what no parameter takes."""
        params = self.m.scope_of[frame.code.node].params
        rest: list[tuple[object, Term]] = []
        for keyword in call.keywords:
            term = self.evaluator.value(state, keyword.value, facts)
            for name, one in [(keyword.arg, term)] if keyword.arg else term[1] if term[0] == "dict" else ():
                if name in params:
                    frame.env[name] = one
                else:
                    rest.append((name, one))
        if args.kwarg is None or args.kwarg in self.program.definitions.changing:
            return
        if all(k.arg or self._is_record(state, k.value, facts) for k in call.keywords):
            frame.env[args.kwarg.arg] = record(rest)

    def _is_record(self, state: State, expr: ast.expr, facts: Facts) -> bool:
        return bool(self.evaluator.value(state, expr, facts)[0] == "dict")


def name_called_by(call: ast.Call) -> ast.expr | None:
    """The name by which ``getattr(obj, name)(…)`` finds what it calls."""
    got = call.func
    if isinstance(got, ast.Call) and isinstance(got.func, ast.Name) and got.func.id == "getattr":
        return got.args[1] if len(got.args) >= 2 else None
    return None
