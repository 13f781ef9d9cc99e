"""All paths that the two programs can take, both at once.

They share one oracle: the same question gets the same answer in both. Each runs until it comes to
something that the other has to do as well; there they are compared. Pairs of states that were met
before end the search, so loops and helper functions are explored until nothing new comes.
"""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterator

from ..run.event import Event
from ..state import Crash, LegacyRaises, Stopped, Unfollowed
from ..terms import Ask
from ..verdict import Verdict
from .forgetting import Forgetting, Kept
from .joint import Joint
from .pair import Both, Differs, Pair, Trail, Turn
from .telling import Grants, Teller

MAX_PAIRS = 8_000
MAX_OPEN = 600  # ways that wait at one time; in 80 long files searches that ended had 440 at most, and one 1,180
MAX_DONE = 1_000_000  # operations of both programs; searches in 25 public repositories took 106,076 at most
_MERGING = frozenset({"head", "enter", "step"})  # what both do together may lead to a pair met before


class Search:
    """The exploration of one pair of programs that begin with the file ``root``.

    ``once`` and ``kept`` are as `Forgetting` takes them, ``grants`` as `Teller` does."""

    def __init__(
        self,
        both: Both,
        root: int,
        moved: frozenset[ast.stmt],
        rescaled: frozenset[ast.AST],
        dropped: frozenset[ast.AST],
        once: frozenset[str],
        grants: Grants,
        kept: Kept | None = None,
    ) -> None:
        self.both, self.root = both, root
        self.forgetting = Forgetting(both, once, kept)
        self.teller = Teller(both, grants)
        self.joint = Joint(both, self.forgetting, self.teller, moved, rescaled, dropped)
        self._met: dict[object, bool] = {}  # and whether only behind a loop that was left at once
        self.pairs = 0  # how many were followed
        self.bounded = False  # whether it gave up

    def begun(self) -> Pair:
        """Both programs before their first statement."""
        old, new = self.both.old, self.both.new
        return Pair(old.start(old.m.files[self.root]), new.start(new.m.files[self.root]), {})

    def run(self, most: int) -> Verdict:
        """Follow all paths, or as many as the bound allows."""
        most_done = self.both.done + MAX_DONE
        waiting, later = deque([self.begun()]), deque[Pair]()  # later: behind a loop left at once, see `_is_new`
        while waiting or later:
            pair = (waiting or later).popleft()
            self.pairs += 1
            if self.pairs > most or len(waiting) + len(later) > MAX_OPEN or self.both.done > most_done:
                self.bounded = True
                return Verdict((), "it has more paths than can be followed", self.pairs)
            try:
                for following in self._advance(pair):
                    (later if following.idle else waiting).append(following)
            except (LegacyRaises, Stopped):
                continue
            except Unfollowed as reason:
                return Verdict((), str(reason), self.pairs)
            except (Crash, Differs) as differs:
                differs.__traceback__ = None  # its frames hold it in turn, and all pairs: they would never go
                found = self.teller.found(pair, differs)
                if found is not None:
                    return Verdict((found,), None, self.pairs)
        return Verdict(pairs=self.pairs)

    def _advance(self, pair: Pair) -> Iterator[Pair]:
        """Both go on together until their ways part; what has not been met before.

        Of steps one behind the other only some are compared with what was met, the first, second, fourth, …: there may
        be hundreds, each with the gradients of all."""
        steps = 0
        sides = self.both.new.evaluator.sides
        while True:
            try:
                if pair.event_old is None:
                    pair.event_old = self._old(pair)
                if pair.event_new is None:
                    if sides is not None:
                        sides.beside = pair.old
                    pair.event_new = self.both.new.run(pair.new, pair.facts)
            except Ask as question:
                if pair.event_old is None and pair.event_new is None and sides is None:
                    self._follow(pair, question)
                yield from self._fork(pair, question)
                return
            kind, node, before = pair.event_old.kind, pair.event_old.node, pair.turn
            following = self.joint.together(pair)
            if following is not None:
                landed = Counter[object]()
                for one in following:
                    place = one.stands()
                    one.turn = Turn(kind, node, (place, landed[place]), None, before)
                    landed[place] += 1
                    if self._is_new(one):
                        yield one
                return
            if kind in _MERGING and pair.event_old is None and pair.event_new is None:
                steps += kind == "step"
                if kind == "step" and steps & (steps - 1):
                    self.forgetting.collect(pair)
                elif not self._is_new(pair):
                    return

    def _old(self, pair: Pair) -> Event:
        """The next event of the old program; a scaler of its own that is not there ends the path, whatever became of
        the rest."""
        try:
            return self.both.old.run(pair.old, pair.facts)
        except Crash as crash:
            raise LegacyRaises from crash

    def _follow(self, pair: Pair, question: Ask) -> None:
        """Before the ways of the old program part, the new one goes on to the same question at the same place: else it
        would come to each of many exits, one below the other, from the event before the first of them. A question at
        another place it may not have to ask, once it is answered."""
        new = pair.new.copy()
        try:
            self.both.new.run(new, pair.facts)
        except Ask as other:
            if other.term == question.term and self.both.source(new.at()) is pair.old.at():
                pair.new, new.condition = new, None  # the old program's answer may say more of what it is a part of
        except (Crash, LegacyRaises, Stopped, Unfollowed, Differs):
            pass  # it comes to that again

    def _is_new(self, pair: Pair) -> bool:
        """Whether a pair of states has not been met before. Behind a loop that was left at once less is a difference:
        met without one, a pair has been met with one as well."""
        self.forgetting.collect(pair)
        key = pair.key()
        met = self._met.get(key)
        if met is None or (met and not pair.idle):
            self._met[key] = pair.idle
            return True
        return False

    def _fork(self, pair: Pair, question: Ask) -> Iterator[Pair]:
        """Both answers to a question."""
        other, at, before = pair.copy(), pair.asks(), pair.turn
        for one, answer in ((pair, True), (other, False)):
            one.facts = {**one.facts, question.term: answer}
            one.turn = Turn("question", at, answer, question.term, before)
            note = self.teller.note(one, question)
            if note is not None:
                one.trail = Trail(note, one.trail)
            yield one

