"""A difference told in the lines of the old text, with the answers on the way to it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..run.event import Event
from ..state import Crash
from ..terms import Ask, known
from ..verdict import Difference, Note
from .pair import Both, Differs, Pair, Trail

MAX_STEPS, MAX_TEXT = 4, 70  # of a path that is told, and of a condition in it

Allows = Callable[[Difference, "ast.AST | None"], bool]
Marked = Callable[[], Callable[[], None]]
Grants = Callable[[Difference, "ast.AST | None", Pair], bool]


class Teller:
    """Tells what differs. ``grants`` says of a difference (its node, and what stands there) whether the search goes on,
    as the unit announces it."""

    def __init__(self, both: Both, grants: Grants) -> None:
        self.both, self.grants = both, grants

    def found(self, pair: Pair, differs: Crash | Differs) -> Difference | None:
        """What ends the search; None where that is announced, or nobody's concern."""
        node = self.node_of(pair, differs)
        found = Difference(differs.kind, self.line(node), differs.message, self._path(pair))
        if (differs.kind == "no-gradients" and pair.idle) or self.grants(found, node, pair):
            return None
        return found

    def node_of(self, pair: Pair, differs: Crash | Differs) -> ast.AST | None:
        """Where a difference shows: a node of either program."""
        return differs.node if isinstance(differs, Differs) else self._new_node(pair)

    def go_on_if_announced(self, pair: Pair, differs: Differs) -> None:
        """A difference after which both go on, if it is one that the unit names."""
        found = Difference(differs.kind, self.line(differs.node), differs.message, self._path(pair))
        if not self.grants(found, differs.node, pair):
            raise differs

    def note(self, pair: Pair, question: Ask) -> Note | None:
        """What a reader sees answered where one of the programs goes on; None where more is to be asked."""
        state, runner = (pair.old, self.both.old) if pair.event_old is None else (pair.new, self.both.new)
        frame = state.frames[-1]
        op = frame.code.ops[frame.pc]
        line = runner.program.naming.line(op.node)
        if op.kind != "branch" or not line or not isinstance(op.node, ast.expr):
            return None
        if question.condition is not None:
            holds = known(question.condition, pair.facts)
        else:
            holds = runner.evaluator.known(state, op.node, pair.facts)
        if holds is None:
            return None
        text = " ".join(runner.m.src(op.node).split())
        return Note(line, text if len(text) < MAX_TEXT else text[: MAX_TEXT - 3] + "...", holds)

    def happens(self, pair: Pair, node: ast.AST, text: str) -> Trail:
        """The way so far, and what happens at a node of the old program."""
        return Trail(Note(_line(node), text, happens=True), pair.trail)

    def _path(self, pair: Pair) -> tuple[Note, ...]:
        notes: list[Note] = []
        at = pair.trail
        while at is not None and len(notes) < MAX_STEPS:
            if at.note.line and at.note not in notes:
                notes.append(at.note)
            at = at.before
        return tuple(reversed(notes))

    def _new_node(self, pair: Pair) -> ast.AST | None:
        if pair.event_new is not None:
            return pair.event_new.node
        if not pair.new.frames:
            return None
        frame = pair.new.frames[-1]
        return frame.code.ops[min(frame.pc, len(frame.code.ops) - 1)].node

    def line(self, node: ast.AST | None) -> int:
        """The line of the old text for a node of either program; for a new one that of what stands around it."""
        if node is None:
            return 0
        if node in self.both.old.m.parent or isinstance(node, ast.Module):
            return _line(node)
        program = self.both.new.program
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.Module):
            if line := program.naming.line(at):
                return line
            at = None if isinstance(at, ast.stmt) else program.m.parent.get(at)
        # a statement that a rule wrote: the one that stands before it
        start = program.m.start(program.m.statement(node))  # an item of a `with` has no place of its own
        above = [s for s in program.m.place if program.m.start(s) < start and program.naming.line(s)]
        return program.naming.line(max(above, key=program.m.start)) if above else 0

    def new_line(self, event: Event) -> int:
        return self.both.line(event.node) or _line(event.node)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
