"""Where one of the two programs stands: its frames, its heap, and what training is about.

Gradients of an optimizer are a set of contributions since they were last cleared. A contribution is
``(backward, factor, overflowed)``: which backward it comes from, and what it is multiplied with:
``1``, the loss scale ``S``, ``old S`` (a scale that has moved since), or ``1/S`` (divided once too often).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from .code import Code
from .stores import Locals, Store
from .terms import MEMORY, TRUE, Term

Key = tuple[object, ...]
Contribution = tuple[int, str, bool]
ZEROS: Contribution = (0, "1", False)


class Gradients(dict[Key, frozenset[Contribution]]):
    """What each optimizer has. ``changed``, in order: of which ones it is not what it was when that was last cleared,
    as a step changes those of one optimizer of many. Changed by ``gradients[one] = …`` and ``drop`` alone."""

    __slots__ = ("changed",)

    def __init__(self, had: Mapping[Key, frozenset[Contribution]] = MappingProxyType({})) -> None:
        super().__init__(had)
        self.changed: dict[Key, None] = (had.changed if isinstance(had, Gradients) else dict.fromkeys(had)).copy()

    def __setitem__(self, one: Key, contributions: frozenset[Contribution]) -> None:
        self.changed[one] = None
        super().__setitem__(one, contributions)

    def drop(self, one: Key) -> frozenset[Contribution]:
        """Take away what an optimizer has."""
        self.changed[one] = None
        return super().pop(one, frozenset())


def together(every: frozenset[Contribution]) -> frozenset[Contribution]:
    """Contributions as one sum: what one backward overflowed hides what the same one gave before."""
    return every - {(backward, factor, False) for backward, factor, overflowed in every if overflowed}


@lru_cache(MEMORY)
def seen_of(contributions: frozenset[Contribution]) -> frozenset[tuple[int, str]]:
    """What a reader of them sees: backwards and factors."""
    return frozenset((backward, factor) for backward, factor, _ in contributions if backward)


@lru_cache(MEMORY)
def in_order(keys: frozenset[Key]) -> tuple[Key, ...]:
    """Objects in an order that is the same in every run."""
    return tuple(sorted(keys, key=str))


@dataclass(frozen=True)
class Scaler:
    """One GradScaler: switched on or not, whether it ever scaled, and what each optimizer has been through since
    the last update: ``unscaled``, ``stepped``; ``checked`` where gradients were looked at, ``found`` where they
    had overflowed."""

    enabled: bool
    used: bool = False
    marks: frozenset[tuple[Key, str]] = frozenset()


@dataclass(frozen=True)
class CastsBlock:
    """A block with casts switched on or off; what they were ``before``. ``native``: by autocast, which Apex's casts
    do not ask."""

    before: bool
    native: bool = False


@dataclass(frozen=True)
class ScaledBlock:
    """``with amp.scale_loss(…)``, by its place; ``row`` is the round of the loop that hands out its loss, ``by`` where
    the call stands that runs its function."""

    place: int
    optimizers: frozenset[Key]
    delay: bool
    on_stack: bool  # entered on the stack below it
    row: int | None
    by: int | None


@dataclass(frozen=True)
class StackBlock:
    """An ``ExitStack`` by its name."""

    name: str


@dataclass(frozen=True)
class PlainBlock:
    """A ``nullcontext`` in the place of a scaled block."""


@dataclass(frozen=True)
class Left:
    """Where some of an optimizer's gradients were cleared, and which were left, in the words of the text."""

    site: ast.AST
    kept: tuple[str, ...]


Context = CastsBlock | ScaledBlock | StackBlock | PlainBlock


_NO_NAMES: Store[object] = Store()


@dataclass(eq=False)
class Frame:
    """A function being run."""

    code: Code
    pc: int = 0
    env: Locals = field(default_factory=Locals)
    generators: dict[int, Frame] = field(default_factory=dict)
    results: list[object] = field(default_factory=list)  # the names in ``env`` of results that were not used yet

    def copy(self) -> Frame:
        generators = {k: f.copy() for k, f in self.generators.items()} if self.generators else {}
        return Frame(self.code, self.pc, Locals(self.env), generators, list(self.results))

    def stores(self) -> Iterator[Store[Any]]:
        yield self.env
        for made in self.generators.values():
            yield from made.stores()

    def give(self, place: int, result: Term) -> None:
        """The result of the call at a place, for the rest of its statement."""
        self.env["ret", place] = result
        self.results.append(("ret", place))

    def settle(self) -> None:
        """Forget results of calls that have been used."""
        for name in self.results:
            if name in self.env:
                del self.env[name]
        self.results.clear()

    def frozen(self) -> object:
        generators = tuple(sorted((k, f.frozen()) for k, f in self.generators.items())) if self.generators else ()
        return (id(self.code), self.pc, self.env.contents(), generators)


@dataclass(eq=False)
class State:
    """One program in mid-run."""

    frames: list[Frame]
    heap: Store[tuple[Term, str]] = field(default_factory=Store)
    names: dict[int, Store[object]] = field(default_factory=dict)  # of each file
    contexts: list[Context] = field(default_factory=list)
    closed: dict[int, Store[object]] = field(default_factory=dict)  # variables of functions that are done
    raising: str | None = None
    grads: Gradients = field(default_factory=Gradients)
    renewed: frozenset[Key] = frozenset()  # models made since the last backward
    zeroed: frozenset[Key] = frozenset()  # models and parts cleared since then, one by one
    left: dict[Key, Left] = field(default_factory=dict)  # where some of an optimizer's were cleared: to say so
    made: frozenset[Key] = frozenset()  # optimizers that were seen to be made
    casts: bool = False
    # Apex
    initialized: bool = False
    active: bool = False  # losses are scaled
    stash: Gradients = field(default_factory=Gradients)
    delayed: frozenset[Key] = frozenset()  # optimizers whose gradients wait to be unscaled
    armed: frozenset[Key] = frozenset()
    fresh: bool = True  # no loss has been scaled since the scale was made
    started: int = 0  # how often mixed precision was switched on
    stopped: bool = False  # the last scaler made is switched off, an earlier one was not
    condition: Term | None = None  # that of the branch it stands at, where a part of it has just been answered
    halved: int = 0  # how often the scale went down; only the difference of both programs counts
    own: set[tuple[str, int]] = field(default_factory=set)  # of `heap`, `names`, `closed` those that no copy shares
    frozen_names: frozenset[object] | None = None  # of `names` and `closed`, as long as none of them changes
    frozen_closed: frozenset[object] | None = None
    # torch
    scalers: dict[Key, Scaler] = field(default_factory=dict)
    scaled_by: dict[int, Key] = field(default_factory=dict)  # backward -> the scaler of its loss

    def copy(self) -> State:
        other = State.__new__(State)  # `replace` asks about each of two dozen fields
        self.own = set()
        other.__dict__ = {
            **self.__dict__,
            "frames": [f.copy() for f in self.frames],
            "names": dict(self.names),
            "contexts": list(self.contexts),
            "closed": dict(self.closed),
            "own": set(),
            "grads": Gradients(self.grads),
            "stash": Gradients(self.stash),
            "scalers": dict(self.scalers),
            "scaled_by": dict(self.scaled_by),
        }
        return other

    def frozen(self) -> object:
        if self.frozen_names is None:
            self.frozen_names = frozenset((file, env.contents()) for file, env in self.names.items())
        if self.frozen_closed is None:
            self.frozen_closed = frozenset((place, env.contents()) for place, env in self.closed.items())
        return (
            tuple(f.frozen() for f in self.frames),
            self.heap.contents(),
            self.frozen_names,
            tuple(self.contexts),
            self.frozen_closed,
            self.raising,
            frozenset(self.grads.items()),
            self.renewed,
            self.zeroed,
            self.made,
            self.casts,
            self.initialized,
            self.active,
            frozenset(self.stash.items()),
            self.delayed,
            self.armed,
            self.fresh,
            self.stopped,
            frozenset(self.scalers.items()),
            frozenset(self.scaled_by.items()),
        )

    def at(self) -> ast.AST:
        """What is to run next; there is something."""
        frame = self.frames[-1]
        return frame.code.ops[frame.pc].node

    def stands(self) -> object:
        """Where the program stands, whatever it holds."""
        return (tuple((frame.code, frame.pc) for frame in self.frames), self.raising)

    def stores(self) -> Iterator[Store[Any]]:
        """All that the program still holds."""
        for frame in self.frames:
            yield from frame.stores()
        yield self.heap
        yield from self.names.values()
        yield from self.closed.values()

    def close(self, place: int, variables: Store[object]) -> None:
        """A function is done, some variables of which outlive it."""
        self.frozen_closed = None
        self.closed[place] = variables
        self.own.add(("closed", place))

    def heap_to_set(self) -> Store[tuple[Term, str]]:
        """The attributes and items of objects, to be changed: copied first, where a copy shares them."""
        if ("heap", 0) not in self.own:
            self.heap = Store(self.heap)
            self.own.add(("heap", 0))
        return self.heap

    def names_to_set(self, file: int) -> Store[object]:
        """The same for the names of a file."""
        self.frozen_names = None
        if ("names", file) not in self.own:
            self.names[file] = Store(self.names.get(file, _NO_NAMES))
            self.own.add(("names", file))
        return self.names[file]

    def closed_to_set(self, place: int) -> Store[object] | None:
        """The same for variables of a function that is done."""
        self.frozen_closed = None
        if place in self.closed and ("closed", place) not in self.own:
            self.closed[place] = Store(self.closed[place])
            self.own.add(("closed", place))
        return self.closed.get(place)

    # ------------------------------------------------------------ objects and functions

    def is_made(self, key: Key) -> bool:
        """Whether the constructor of an object has run."""
        return (key, " made") in self.heap

    def make(self, key: Key) -> None:
        if not self.is_made(key):
            self.heap_to_set()[(key, " made")] = TRUE

    def has_run(self, place: int) -> bool:
        """Whether the function at a place has been chosen to run, though nothing here calls it."""
        return (("v", place, "entry"), " ran") in self.heap

    def note_run(self, place: int) -> None:
        if not self.has_run(place):
            self.heap_to_set()[(("v", place, "entry"), " ran")] = TRUE

    def runs_anew(self) -> None:
        """Whatever has been chosen to run may be chosen again."""
        if any(what == " ran" for _, what in self.heap):
            heap = self.heap_to_set()
            for name in [name for name in heap if name[1] == " ran"]:
                del heap[name]

    def let_go(self, optimizers: frozenset[Key], models: frozenset[Key], scalers: Iterable[Key]) -> None:
        """Nobody holds these any more, nor their gradients or scales."""
        for one in optimizers:
            self.grads.drop(one)
            self.stash.drop(one)
        self.made, self.armed, self.delayed = self.made - optimizers, self.armed - optimizers, self.delayed - optimizers
        self.renewed, self.zeroed = self.renewed - models, self.zeroed - models
        for one in scalers:
            self.scalers.pop(one, None)

    # ------------------------------------------------------------ gradients

    def add(self, optimizers: Iterable[Key], contribution: Contribution) -> None:
        self.renewed = self.zeroed = frozenset()
        for one in optimizers:
            self.grads[one] = together(self.grads.get(one, frozenset()) | {contribution})

    def clear(self, optimizers: Iterable[Key], to_none: bool) -> None:
        for one in optimizers:
            if one in self.left:
                self.left = {other: left for other, left in self.left.items() if other != one}
            had = self.grads.get(one, frozenset())
            self.grads[one] = frozenset() if to_none or not had else frozenset({ZEROS})

    def seen(self, optimizer: Key) -> frozenset[tuple[int, str]]:
        """What a reader of an optimizer's gradients sees: backwards and factors."""
        return seen_of(self.grads.get(optimizer, frozenset()))


# Kinds of differences: a scaler is asked that was not made on the way; it is to step, and nothing was scaled for it.
UNMADE, UNFED = "unmade", "no-gradients"


class Crash(Exception):
    """The new program would raise, or break a rule of GradScaler or autocast, here."""

    def __init__(self, message: str, kind: str = "crash") -> None:
        super().__init__(message)
        self.message, self.kind = message, kind


class Stopped(Exception):
    """The new program stops a run that chose Apex where a library decides: nothing comes behind that."""


class LegacyRaises(Exception):
    """The old program would have raised here: what the new one does on this path is nobody's concern."""


class Unfollowed(Exception):
    """Something that the judge cannot follow."""
