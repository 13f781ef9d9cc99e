"""Ways out of a function: a value that is returned, and an exception up to where it is caught."""

from __future__ import annotations

import ast

from ...nodes import constructs
from ..code import Op
from ..names import NOT_ANY
from ..program.program import Program
from ..state import Frame, State, Stopped
from ..stores import Store
from ..terms import NONE, Facts, opaque, truth
from .values import Evaluator
from .variables import Variables

ANYTHING = "anything"  # what is raised by code of which nothing is known
AHEAD = ("ahead",)  # of a constructor that runs ahead of a method, where no call of it is known: nobody waits for it
_NO_ERRORS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})  # these are no ``Exception``


class Exits:
    """The ways out of one program's functions."""

    def __init__(self, program: Program, variables: Variables, evaluator: Evaluator) -> None:
        self.program, self.naming, self.variables, self.evaluator = program, program.naming, variables, evaluator

    def return_value(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        term = self.evaluator.value(state, op.value, facts) if op.value is not None else NONE
        state.frames.pop()
        if not state.frames or AHEAD in frame.env:
            return
        kept = self.program.definitions.outlived(frame.code.node)
        if kept:
            outliving = Store[object]({k: t for k, t in frame.env.items() if k in kept})
            state.close(self.naming.place(frame.code.node), outliving)
        below = state.frames[-1]
        at = below.code.ops[below.pc]
        if at.kind in ("resume", "thrown"):
            assert at.target is not None
            below.pc = at.target.at
        elif at.kind == "call":
            constructed = constructs(frame.code.node)
            if not (constructed and ("ret", self.naming.place(at.node)) in below.env):
                below.give(self.naming.place(at.node), term)
            below.pc += 1

    def raise_exception(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        if op.node in self.program.stops:
            raise Stopped
        if isinstance(op.node, ast.Raise) and op.node.exc is not None:
            exc = op.node.exc.func if isinstance(op.node.exc, ast.Call) else op.node.exc
            state.raising = exc.attr if isinstance(exc, ast.Attribute) else getattr(exc, "id", "?")
        elif isinstance(op.node, ast.Assert):
            state.raising = "AssertionError"
        elif state.raising is None:
            state.raising = "?"
        unwind(state)

    def handler(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        handler = op.node
        assert isinstance(handler, ast.ExceptHandler) and op.target is not None
        if self._handles(handler, state.raising or "?", facts):
            state.raising = None
            if handler.name is not None:
                env = self.variables.env_to_set(state, handler, handler.name)
                if env is not None:
                    env[handler.name] = opaque(self.naming.place(handler), handler.name)
            frame.pc += 1
        else:
            frame.pc = op.target.at

    def _handles(self, handler: ast.ExceptHandler, raised: str, facts: Facts) -> bool:
        if handler.type is None:
            return True
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names = {t.attr if isinstance(t, ast.Attribute) else getattr(t, "id", "?") for t in types}
        if names & ({"BaseException"} if raised in _NO_ERRORS else {"Exception", "BaseException"}) or raised in names:
            return True
        if raised == ANYTHING and not names <= _NO_ERRORS:
            return truth(("v", self.naming.place(handler), "handles"), facts)
        if raised == "?":
            if names <= NOT_ANY:
                return False
            return truth(("v", self.naming.place(handler), "handles"), facts)
        return raised == "FloatingPointError" and "ArithmeticError" in names


def unwind(state: State) -> None:
    """Carry an exception to the next handler or block that is left."""
    while state.frames:
        frame = state.frames[-1]
        op = frame.code.ops[min(frame.pc, len(frame.code.ops) - 1)]
        if op.pad is not None:
            frame.pc = op.pad.at
            return
        state.frames.pop()


def seen_on_the_way(state: State) -> bool:
    """Whether somebody reads gradients on the way of an exception that is raised now."""
    for frame in reversed(state.frames):
        pad = frame.code.ops[max(min(frame.pc, len(frame.code.ops) - 1), 0)].pad
        while pad is not None:
            if pad.looks:
                return True
            pad = frame.code.ops[pad.at].pad
    return False


def caught(state: State) -> bool:
    """Whether an exception raised now would be caught, or pass a block that is left, in this program."""
    for frame in reversed(state.frames):
        op = frame.code.ops[max(min(frame.pc, len(frame.code.ops) - 1), 0)]
        pad = op.pad
        while pad is not None:
            first = frame.code.ops[pad.at]
            if first.kind == "handler":
                return True
            pad = first.pad
    return False
