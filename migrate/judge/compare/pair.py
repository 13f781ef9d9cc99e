"""Both programs in mid-run, and the answers that brought them there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from ..program.hanging import hanging
from ..program.mattering import plain_name
from ..program.unlike import Comparison
from ..run.event import Event
from ..run.runner import Runner
from ..state import State
from ..terms import Facts, Term
from ..verdict import Note


@dataclass(frozen=True)
class Both:
    """The two programs, each with what runs it."""

    old: Runner
    new: Runner
    followed: set[str] = field(default_factory=set)  # what was compared on any path: losses that Apex scales
    again: set[str] = field(default_factory=set)  # names of what was asked again on the way to a difference

    @cached_property
    def comparison(self) -> Comparison:
        """What the text of each gives names, side by side."""
        return Comparison(self.old.program.mattering, self.new.program.mattering)

    @property
    def switch(self) -> frozenset[str]:
        """The names of what chooses one of two backends."""
        sides = self.old.evaluator.sides
        return frozenset({sides.switch.name, sides.switch.flag}) if sides is not None else frozenset()

    @cached_property
    def hanging(self) -> frozenset[str]:
        """The names that hang on changed flags. From now on values say what they hang on."""
        found = hanging(self.comparison, self.switch)
        if found is None:
            return frozenset()
        self.old.evaluator.hanging, self.new.evaluator.hanging = found
        return frozenset(map(plain_name, found[0].names))

    def remember(self, names: frozenset[str], rough: bool = False, values: frozenset[Term] = frozenset()) -> None:
        """From now on both keep the values of these names, and objects, as `Memory` says."""
        for runner in (self.old, self.new):
            runner.remember(names, rough, values)

    @property
    def done(self) -> int:
        """How many operations both have run."""
        return self.old.done + self.new.done

    def source(self, node: ast.AST) -> ast.AST | None:
        """The node of the old program that one of the new program was."""
        origin = self.new.program.naming.origin
        assert origin is not None
        return origin.of(node)

    def stands(self, node: ast.AST) -> bool:
        """Whether a node of the old program is one of the new one, too."""
        origin = self.new.program.naming.origin
        return origin is not None and node in origin.kept

    def line(self, node: ast.AST) -> int:
        """The line of the old text that a node of the new program comes from; 0 where a rule wrote it."""
        return self.new.program.naming.line(node)


@dataclass(eq=False)
class Trail:
    note: Note
    before: Trail | None


@dataclass(eq=False)
class Turn:
    """One of the ways that parted, and those taken before it: ``kind`` is what they parted by (an event, or a
    question), ``at`` where they did, ``taken`` where this one leads. ``term`` is what was asked, None where nothing
    was."""

    kind: str
    at: object
    taken: object
    term: Term | None
    before: Turn | None


@dataclass(eq=False)
class Pair:
    old: State
    new: State
    facts: Facts
    event_old: Event | None = None
    event_new: Event | None = None
    trail: Trail | None = None
    turn: Turn | None = None
    idle: bool = False  # a loop with a backward in it was left before its first round

    def copy(self) -> Pair:
        other = Pair.__new__(Pair)
        other.__dict__ = {**self.__dict__, "old": self.old.copy(), "new": self.new.copy()}
        return other

    def asks(self) -> object:
        """Which program asks a question, and where."""
        return (self.event_old is None, (self.old if self.event_old is None else self.new).stands())

    def stands(self) -> object:
        """Where both programs stand, whatever they hold."""
        return (self.old.stands(), self.new.stands())

    def turns(self) -> list[Turn]:
        """The turns on the way here, the first one first."""
        found, at = [], self.turn
        while at is not None:
            found.append(at)
            at = at.before
        return found[::-1]

    def key(self) -> object:
        lag = max(-2, min(2, self.old.halved - self.new.halved))
        return (self.old.frozen(), self.new.frozen(), frozenset(self.facts.items()), lag)


class Differs(Exception):
    """The two programs part here."""

    def __init__(self, kind: str, node: ast.AST | None, message: str) -> None:
        super().__init__(message)
        self.kind, self.node, self.message = kind, node, message
