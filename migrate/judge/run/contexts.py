"""Blocks: casts, scaled losses, and the stacks that they are entered on."""

from __future__ import annotations

import ast

from ...flow.arguments import argument
from .. import machines
from ..code import Op
from ..program.program import Program
from ..program.syntax import last_name
from ..state import CastsBlock, Context, Frame, Key, PlainBlock, ScaledBlock, StackBlock, State, Unfollowed
from ..terms import Facts, Term, inside, truth
from .binding import Binding
from .values import Evaluator


class Contexts:
    """The blocks of one program."""

    def __init__(self, program: Program, evaluator: Evaluator, binding: Binding) -> None:
        self.program, self.naming, self.evaluator, self.binding = program, program.naming, evaluator, binding

    def enter(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        item = op.node
        assert isinstance(item, ast.withitem)
        expr = item.context_expr
        call = expr if isinstance(expr, ast.Call) else None
        last = last_name(call.func if call is not None else expr)
        named = self._autocast_by_name(state, expr, facts)
        if last == "autocast" or named is not None:
            enabled = argument(call, 2, "enabled") if call is not None else None  # as a call of autocast takes it
            said = self.evaluator.value(state, enabled, facts) if enabled is not None else named
            apex = apex_casts(state)  # which no autocast switches off
            on = said is None or truth(said, facts)
            state.contexts.append(CastsBlock(state.casts, native=True))
            state.casts = on or apex
        elif self.program.scaling.disables(expr):
            state.contexts.append(CastsBlock(state.casts))
            state.casts = False
        elif (name := self.program.scaling.stack(item)) is not None:
            state.contexts.append(StackBlock(name))
        elif self.program.scaling.autocasting.enters(expr) and not self.program.scaling.may_scale(expr):
            state.contexts.append(PlainBlock())  # `suppress` in the place of autocast, or what nobody knows
        else:
            term = self._entered_context(state, self.evaluator.value(state, expr, facts))
            if item.optional_vars is not None:
                self.binding.bind(state, item.optional_vars, term, facts)
        frame.pc += 1

    def _autocast_by_name(self, state: State, expr: ast.expr, facts: Facts) -> Term | None:
        """Whether autocast is on that is entered by another name; None where the name holds something else."""
        if not self.program.scaling.autocasting.enters(expr):
            return None
        held = self.evaluator.value(state, expr.func if isinstance(expr, ast.Call) else expr, facts)
        return held[1] if held[0] == "autocast" else None

    def _entered_context(self, state: State, term: Term, on_stack: bool = False) -> Term:
        """Enter ``amp.scale_loss`` or the context that stands in for it; what that gives."""
        if term[0] == "null":
            if not on_stack:
                state.contexts.append(PlainBlock())
            return inside(term)
        if term[0] != "scaling":
            raise Unfollowed("a block of which it is not known whether it scales its loss")
        _, place, optimizers, delay, loss, row, by = term
        machines.apex_enter(state, optimizers, delay)
        state.contexts.append(ScaledBlock(place, optimizers, delay, on_stack, row, by))
        return ("scaled", place) if state.active else loss

    def enter_on_stack(self, state: State, frame: Frame, call: ast.Call, facts: Facts) -> None:
        """``stack.enter_context(amp.scale_loss(…))``, where nothing else was entered since the stack was."""
        assert isinstance(call.func, ast.Attribute)
        around = next((c for c in reversed(state.contexts) if not _is_on_stack(c)), None)
        if not isinstance(around, StackBlock) or around.name != getattr(call.func.value, "id", None):
            raise Unfollowed("a scaled loss that is entered on a stack from somewhere else")
        term = self._entered_context(state, self.evaluator.value(state, call.args[0], facts), on_stack=True)
        frame.give(self.naming.place(call), term)

    def leave(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        for context in _popped(state):
            if isinstance(context, CastsBlock):
                state.casts = context.before
            elif isinstance(context, ScaledBlock):
                machines.apex_leave(state, context.optimizers, context.delay, self._apart(state, context.place))
        frame.pc += 1

    def _apart(self, state: State, place: int) -> frozenset[Key]:
        """The optimizers of blocks that are still open and scale by another loss's scale."""
        blocks = [c for c in state.contexts if isinstance(c, ScaledBlock)]
        if not blocks:
            return frozenset()
        ids = {self.naming.place(call): _loss_id(call) for call in self.program.objects.scales}
        mine = ids.get(place)
        others = [c for c in blocks if mine is not None and ids.get(c.place) not in (mine, None)]
        return frozenset[Key]().union(*(c.optimizers for c in others))

    def abandon(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        for context in _popped(state):
            if isinstance(context, CastsBlock):
                state.casts = context.before
        frame.pc += 1


def apex_casts(state: State) -> bool:
    """Whether Apex's casts are on: outside of all blocks, and in none that disables them."""
    blocks = [context for context in state.contexts if isinstance(context, CastsBlock)]
    return (blocks[0].before if blocks else state.casts) and all(block.native for block in blocks)


def _loss_id(call: ast.Call) -> int | None:
    """Which loss scale a call of ``scale_loss`` asks for; None where that is not written out."""
    given = argument(call, 2, "loss_id")
    if given is None:
        return 0
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, int) else None


def _popped(state: State) -> list[Context]:
    """Take off what a block that ends has entered, innermost first: all that is on its stack, if it is one."""
    found = [state.contexts.pop()]
    while _is_on_stack(found[-1]):
        found.append(state.contexts.pop())
    return found


def _is_on_stack(context: Context) -> bool:
    return isinstance(context, ScaledBlock) and context.on_stack
