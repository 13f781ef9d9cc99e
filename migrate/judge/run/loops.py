"""Loops and generators."""

from __future__ import annotations

import ast

from ...nodes import walk
from ..code import Op
from ..listed import listed_part
from ..owners import Owners
from ..program.counting import LAST_ROUND
from ..program.program import Program
from ..program.syntax import generator_call
from ..state import Frame, Key, State, Unfollowed
from ..terms import NONE, TRUE, Facts, Term, opaque
from .arguments import Arguments
from .binding import Binding
from .event import Event
from .exits import unwind
from .values import Evaluator
from .variables import Variables

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Loops:
    """The loops of one program: over optimizers item by item, else round by round as long as anything is new."""

    def __init__(
        self,
        program: Program,
        variables: Variables,
        evaluator: Evaluator,
        binding: Binding,
        arguments: Arguments,
        owners: Owners,
    ) -> None:
        self.program, self.v, self.naming = program, program.v, program.naming
        self.variables, self.evaluator, self.binding, self.arguments = variables, evaluator, binding, arguments
        self.owners = owners
        self._groups: dict[ast.AST, frozenset[Key]] = {}

    def _group(self, node: ast.For | ast.AsyncFor | Comprehension) -> frozenset[Key]:
        """The optimizers that a loop goes over, if it goes over optimizers."""
        if node not in self._groups:
            self._groups[node] = self._found_group(node)
        return self._groups[node]

    def _found_group(self, node: ast.For | ast.AsyncFor | Comprehension) -> frozenset[Key]:
        targets = [node.target] if isinstance(node, (ast.For, ast.AsyncFor)) else [g.target for g in node.generators]
        named = [self._group_of(one, node) for t in targets for one in walk(t) if isinstance(one, ast.Name)]
        found = frozenset[Key]().union(*named)
        kinds = {self.program.marks.kind.get(n) for n in walk(node)} - {None}
        if kinds != {"zero"}:
            return found & self.program.objects.optimizers
        zeroed = (n.func.value for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
        parts = (listed_part(self.program.m, self.v, self.owners, one) for one in zeroed)
        return found.union(*(self.naming.keys(p.of) & self.program.objects.models for p in parts if p and p.each))

    def items(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, (ast.For, ast.AsyncFor))
        self._begin_anew(frame, op.node)  # an exception may have left it
        if self._group(op.node):
            term = self.evaluator.value(state, op.node.iter, facts)
            items = term if term[0] == "seq" and all(map(_says_which, term[1])) else ("seq", (TRUE,))
            frame.env[("items", self.naming.place(op.node))] = items
        frame.pc += 1

    def left(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """A loop is over, or a `break` has left it."""
        self._begin_anew(frame, op.node)
        frame.pc += 1

    def _begin_anew(self, frame: Frame, loop: ast.AST) -> None:
        """Forget how far a loop was."""
        for what in ("rounds", "items", "row"):
            slot = (what, self.naming.place(loop))
            if slot in frame.env:
                del frame.env[slot]

    def round(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        node = op.node
        assert isinstance(node, (ast.For, ast.AsyncFor)) and op.target is not None
        slot, row = ("items", self.naming.place(node)), ("row", self.naming.place(node))
        left = frame.env.get(slot)
        if left is None:
            frame.pc += 1
            return Event("round", node, op.target.at)
        if not left[1]:
            del frame.env[slot]
            frame.env.pop(row, None)
            frame.pc = op.target.at
            return None
        if left[1][0] != TRUE:
            frame.env[row] = ("k", frame.env[row][1] + 1 if row in frame.env else 0)
        first, frame.env[slot] = left[1][0], ("seq", left[1][1:])
        if first == TRUE:
            for one in walk(node.target):
                if isinstance(one, ast.Name):
                    group = self._group_of(one, node)
                    self.binding.bind(state, one, ("obj", group) if group else self.variables.unknown(one), facts)
        else:
            self.binding.bind(state, node.target, first, facts)
        frame.pc += 1
        return None

    def again(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        """A round of a comprehension or a ``map`` begins, or it is over. Over optimizers it goes once, for all of
        them."""
        node = op.node
        assert isinstance(node, (Comprehension, ast.Call)) and op.target is not None
        if isinstance(node, ast.Call) or not self._group(node):
            frame.pc += 1
            return Event("round", node, op.target.at)
        slot = ("once", self.naming.place(node))
        frame.pc = op.target.at if slot in frame.env else frame.pc + 1
        if frame.env.pop(slot, None) is None:
            frame.env[slot] = TRUE
        return None

    def _group_of(self, name: ast.Name, node: ast.AST) -> frozenset[Key]:
        """The models and optimizers that a name may be anywhere in a loop."""
        found: set[Key] = set()
        for use in walk(node):
            if isinstance(use, ast.Name) and use.id == name.id:
                found |= self.naming.keys(use)
        return frozenset(found & (self.program.objects.optimizers | self.program.objects.models))

    def begin_round(self, state: State, node: ast.AST, facts: Facts) -> None:
        """A round of a loop begins: its target is new, and what it counts. Those of a comprehension are its own and
        never kept."""
        if isinstance(node, (Comprehension, ast.Call)):
            return
        self.binding.begin_round(state, node)
        if isinstance(node, ast.While):
            return
        assert isinstance(node, (ast.For, ast.AsyncFor))
        if node in self.program.counted:
            place = self.naming.place(node)
            state.frames[-1].env[("last", place)] = opaque(place, LAST_ROUND)
        for one in walk(node.target):
            if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Store):
                self.binding.bind(state, one, self.variables.unknown(one), facts)

    # ------------------------------------------------------------ generators

    def generate(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event:
        assert op.value is not None
        call = generator_call(op.value)
        assert call is not None
        callee = next(c for c in self.v.callees(call) if c in self.program.marks.functions)
        frame.generators[self._slot(op)] = self.arguments.frame_for(state, call, callee, facts)
        frame.pc += 1
        return Event("head", callee)

    def resume(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        made = frame.generators.pop(self._slot(op), None)
        if made is None:
            raise Unfollowed("a generator that is resumed out of turn")
        state.frames.append(made)

    def _slot(self, op: Op) -> int:
        """Where a generator that waits is kept, by the loop or the block that reads it."""
        return self.naming.place(op.node.context_expr if isinstance(op.node, ast.withitem) else op.node)

    def thrown(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """An exception in the block of a context manager is raised where that yielded."""
        made = frame.generators.pop(self._slot(op), None)
        if made is not None:
            made.pc -= 1
            state.frames.append(made)
        unwind(state)

    def yield_value(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        if len(state.frames) < 2:
            raise Unfollowed("a generator that nobody here reads")
        below = state.frames[-2]
        at = below.code.ops[below.pc]
        if at.kind != "resume":
            raise Unfollowed("a generator that is read by hand")
        term = self.evaluator.value(state, op.value, facts) if op.value is not None else NONE
        frame.pc += 1
        state.frames.pop()
        if isinstance(at.node, ast.withitem):
            if at.name == "end":
                below.pc += 1
                return None
            below.generators[self._slot(at)] = frame
            if at.node.optional_vars is not None:
                self.binding.bind(state, at.node.optional_vars, term, facts)
            below.pc += 1
            return None
        below.generators[self._slot(at)] = frame
        if isinstance(at.node, (Comprehension, ast.Call)):  # names of its own, which are never kept
            below.pc += 1
            return Event("head", at.node)
        assert isinstance(at.node, (ast.For, ast.AsyncFor))
        target = at.node.target
        if isinstance(at.node.iter, ast.Call) and getattr(at.node.iter.func, "id", "") == "enumerate":
            term = ("seq", (opaque(self.naming.place(target)), term))
        self.binding.bind(state, target, term, facts)
        below.pc += 1
        return Event("head", at.node)


def _says_which(term: Term) -> bool:
    """Whether an item of a list is an object that is known, or a tuple with one."""
    return term[0] == "obj" or (term[0] == "seq" and any(map(_says_which, term[1])))
