"""Runs one program, operation by operation."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...facts.files import File
from ...nodes import walk
from .. import machines
from ..code import Code, Op
from ..liveness import Live, live_names
from ..owners import Owners
from ..program.program import Program
from ..sides import Switch
from ..state import Frame, Key, State, Unfollowed
from ..terms import Ask, Facts, Term, known, leaves, truth
from .arguments import Arguments
from .binding import Binding
from .calls import Calls
from .contexts import Contexts
from .event import Event
from .exits import ANYTHING, Exits, seen_on_the_way
from .loops import Loops
from .makers import Makers
from .training import Training
from .values import Evaluator
from .variables import Variables

MAX_OPS = 20_000


class Runner:
    """Runs one program: ``legacy`` is the old one. What it does is in the rooms beside this one."""

    def __init__(
        self,
        program: Program,
        legacy: bool,
        maybe_o0: Callable[[ast.Call], bool],
        scaled: bool = True,
        switch: Switch | None = None,
    ) -> None:
        self.program, self.m = program, program.m
        self.legacy, self.scaled = legacy, scaled
        self.root = program.m.files[0]
        self.owners = Owners(program)
        variables = Variables(program)
        self.memory = variables.memory
        self.evaluator = Evaluator(program, variables, self.owners, legacy, switch)
        makers = Makers(program, self.owners)
        self.binding = Binding(program, variables, self.evaluator, makers)
        arguments = Arguments(program, variables, self.evaluator)
        contexts = Contexts(program, self.evaluator, self.binding)
        exits = Exits(program, variables, self.evaluator)
        self.loops = Loops(program, variables, self.evaluator, self.binding, arguments, self.owners)
        self.calls = Calls(program, variables, self.evaluator, arguments, makers)
        self.training = Training(program, self.evaluator, contexts, self.calls, self.owners, legacy, maybe_o0, scaled)
        self._live: dict[Code, Live] = {}
        self.done = 0  # how many operations it has run
        self._inside: dict[ast.expr, frozenset[int]] = {}
        self._abouts: dict[ast.AST, frozenset[Key]] = {}
        self._put: dict[ast.stmt, frozenset[Key]] = {}
        self._do: dict[str, Callable[[State, Frame, Op, Facts], Event | None]] = {
            "bind": self.binding.assign, "havoc": self.binding.havoc, "count": self.binding.count,
            "import": self.binding.import_names, "define": self.binding.define, "changed": self.binding.change,
            "call": self.training.call,
            "items": self.loops.items, "left": self.loops.left, "round": self.loops.round, "again": self.loops.again,
            "generate": self.loops.generate, "resume": self.loops.resume, "yield": self.loops.yield_value,
            "thrown": self.loops.thrown,
            "enter": contexts.enter, "leave": contexts.leave, "abandon": contexts.abandon,
            "return": exits.return_value, "raise": exits.raise_exception, "handler": exits.handler,
            "epilogue": self.calls.epilogue, "case": self._case, "branch": self._branch, "jump": self._jump,
            "perhaps": self._perhaps, "known": self._known, "unknown": self._unknown,
            "settle": self._settle, "aside": self._aside,
            "read": self._event, "clear": self._event, "head": self._event, "fails": self._fails,
        }  # fmt: skip

    def start(self, root: File) -> State:
        """The program before its first statement, begun with one of its files."""
        self.root = root
        state = State([Frame(self.program.code(self.program.begun(root)))])
        if self.legacy and self.program.objects.begun:
            machines.apex_initialize(state, casts=False, active=self.scaled)  # what is cast there, nobody knows here
        return state

    def run(self, state: State, facts: Facts) -> Event:
        """Go on to the next event. Raises `Ask`, with the state at the question; `Crash`, `LegacyRaises`."""
        for _ in range(MAX_OPS):
            if not state.frames:
                return Event("end", self.m.tree, state.raising)
            self.done += 1
            frame = state.frames[-1]
            op = frame.code.ops[frame.pc]
            event = self._do[op.kind](state, frame, op, facts)
            if event is not None:
                return event
        raise Unfollowed("a loop that nothing ends")

    def remember(self, names: frozenset[str], rough: bool, values: frozenset[Term]) -> None:
        """From now on only the values of these names are kept, and objects, as `Memory` says."""
        self.memory.names, self.memory.rough, self.memory.values = names, rough, values

    def bury(self, state: State) -> None:
        """Forget local names that are not read again: those that were set since it was last asked, and those that an
        operation since then was the last to read."""
        for frame in state.frames:
            env, before, now = frame.env, frame.env.buried, frame.pc
            if before == now and not env.fresh:
                continue
            if isinstance(frame.code.node, ast.Module) or now >= len(frame.code.ops):
                continue
            live = self._live_names(frame.code)
            perhaps = env.fresh if before is None or before == now else env.fresh + live.died(before, now)
            if perhaps:
                outlived = self.program.definitions.outlived(frame.code.node)
                for name in perhaps:
                    if isinstance(name, str) and name in env and name not in outlived and not live.at(now, name):
                        if env[name][0] != "scaler":  # who holds no scaler is told from who has not made it yet
                            del env[name]
            env.buried, env.fresh = now, []

    def _live_names(self, code: Code) -> Live:
        if code not in self._live:
            self._live[code] = live_names(code)
        return self._live[code]

    # ------------------------------------------------------------ ways

    def _branch(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.expr) and op.target is not None
        if self.m.file(op.node) is self.root if _is_main(op.node) else self._holds(state, op.node, facts):
            frame.pc += 1
        else:
            frame.pc = op.target.at

    def _holds(self, state: State, test: ast.expr, facts: Facts) -> bool:
        """Whether a condition holds. Where nobody asks again for what it is made of, it is one question as a whole."""
        condition, state.condition = state.condition, None
        if condition is None:
            condition = self._condition(state, test, facts)
        try:
            return truth(condition, facts)
        except Ask as question:
            question.condition = state.condition = condition
            raise

    def _condition(self, state: State, test: ast.expr, facts: Facts) -> Term:
        """What decides a branch."""
        condition = self.evaluator.value(state, test, facts)
        if condition[0] in ("and", "or") and self.memory.passing(condition, self._places(test)):
            if known(condition, facts) is None and not self._met(condition, facts):
                return ("op", "holds", condition)
        return condition

    def _places(self, test: ast.expr) -> frozenset[int]:
        """Where the parts of a condition stand."""
        if test not in self._inside:
            parts = [node for node in walk(test) if isinstance(node, ast.expr)]
            self._inside[test] = frozenset(map(self.program.naming.place, parts))
        return self._inside[test]

    def _met(self, condition: Term, facts: Facts) -> bool:
        """Whether something is known of a part of a condition, by which the other program may have asked."""
        return any(not leaves(condition).isdisjoint(leaves(one)) and one[1] != "holds" for one in facts)

    def _case(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.match_case) and op.target is not None
        whole, place = self.m.parent[op.node], self.program.naming.place(op.node.body[0])
        assert isinstance(whole, ast.Match)
        term = self.evaluator.asked_of(state, whole.subject, ("v", place, "case"))
        rest = isinstance(op.node.pattern, ast.MatchAs) and op.node.pattern.pattern is None and op.node.guard is None
        frame.pc = frame.pc + 1 if rest or truth(term, facts) else op.target.at

    def _perhaps(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """Go into the arm of which it is known that it runs, without a question."""
        self._go_on_if(self._held(state, op, facts) is True, frame, op)

    def _known(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        self._go_on_if(self._held(state, op, facts) is not None, frame, op)

    def _unknown(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        self._go_on_if(self._held(state, op, facts) is None, frame, op)

    def _held(self, state: State, op: Op, facts: Facts) -> bool | None:
        assert isinstance(op.node, ast.expr)
        return self.evaluator.known(state, op.node, facts)

    def _go_on_if(self, holds: bool, frame: Frame, op: Op) -> None:
        assert op.target is not None
        frame.pc = frame.pc + 1 if holds else op.target.at

    def _jump(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert op.target is not None
        frame.pc = op.target.at

    def _settle(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """A statement begins: results of calls in earlier ones have been used."""
        frame.settle()
        frame.pc += 1

    # ------------------------------------------------------------ events

    def _aside(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event:
        assert op.target is not None
        return Event("aside", op.node, op.target.at)

    def _event(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event:
        frame.pc += 1
        about = None
        if op.kind in ("read", "clear"):
            assert isinstance(op.node, ast.stmt)
            about = self._about(op.node)
            if op.kind == "clear":
                about = self.training.clearing.by_loop(state, op.node, about)
            elif self.program.marks.puts:
                return Event(op.kind, op.node, about, puts=self._puts(op.node))
        return Event(op.kind, op.node, about)

    def _fails(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        """Something may raise here: of note where an exception would pass a reader of gradients, and there are some."""
        noted = seen_on_the_way(state) and any(map(state.seen, state.grads))
        frame.pc += 1
        raised = "SystemExit" if self.program.failing.exits(op.node) else ANYTHING
        return Event("fails", op.node, (op.name, raised)) if noted else None

    def _about(self, node: ast.AST) -> frozenset[Key]:
        """The optimizers whose gradients a piece of code is about: all of them where nothing says which."""
        if node not in self._abouts:
            self._abouts[node] = self._found_about(node)
        return self._abouts[node]

    def _puts(self, node: ast.stmt) -> frozenset[Key]:
        """The optimizers whose gradients a reader puts there, from elsewhere."""
        if node not in self._put:
            inside = walk(node) if self.program.only_reads(node) else (node,)
            each = [one for one in inside if isinstance(one, ast.stmt) and one in self.program.marks.puts]
            into = [self.training.clearing.put_into(one, self._about(one)) for one in each]
            self._put[node] = frozenset[Key]().union(*into)
        return self._put[node]

    def _found_about(self, node: ast.AST) -> frozenset[Key]:
        found: set[Key] = set()
        for one in walk(node):
            if isinstance(one, ast.expr):
                found |= self.program.naming.keys(one)
        named = found & self.program.objects.optimizers
        return frozenset(named) or self.program.objects.optimizers


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
