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
from ..terms import Ask, Term
from ..verdict import Verdict
from .forgetting import Forgetting, Kept
from .joint import Joint
from .pair import Asked, Both, Differs, Pair, Trail
from .telling import Allows, Teller

MAX_PAIRS = 8_000
_MERGING = frozenset({"head", "enter", "step"})  # what both do together may lead to a pair met before


class Search:
    """The exploration of one pair of programs that begin with the file ``root``.

    ``once`` and ``kept`` are as `Forgetting` takes them."""

    def __init__(
        self,
        both: Both,
        root: int,
        moved: frozenset[ast.stmt],
        rescaled: frozenset[ast.AST],
        dropped: frozenset[ast.AST],
        once: frozenset[str],
        allows: Allows,
        kept: Kept | None = None,
    ) -> None:
        self.both, self.root = both, root
        self.forgetting = Forgetting(both, once, kept)
        self.teller = Teller(both, allows)
        self.joint = Joint(both, self.forgetting, self.teller, moved, rescaled, dropped)
        self._met: dict[object, bool] = {}  # and whether only behind a loop that was left at once
        self.questions: tuple[Term, ...] = ()  # on the way to the difference that was found
        self.at: ast.AST | None = None  # the node that it shows at

    def run(self) -> Verdict:
        """Follow all paths, or as many as the bound allows."""
        old, new = self.both.old, self.both.new
        begun = Pair(old.start(old.m.files[self.root]), new.start(new.m.files[self.root]), {})
        waiting, later = deque([begun]), deque[Pair]()  # later: behind a loop that was left at once, see `_is_new`
        count = 0
        while waiting or later:
            pair = (waiting or later).popleft()
            count += 1
            if count > MAX_PAIRS:
                why = f"it has more paths than can be followed; the first {MAX_PAIRS:,} states of both were the same"
                return Verdict((), why, count)
            try:
                for following in self._advance(pair):
                    (later if following.idle else waiting).append(following)
            except (LegacyRaises, Stopped):
                continue
            except Unfollowed as reason:
                return Verdict((), str(reason), count)
            except (Crash, Differs) as differs:
                differs.__traceback__ = None  # its frames hold it in turn, and all pairs: they would never go
                found = self.teller.found(pair, differs)
                if found is not None:
                    self.questions, self.at = tuple(_asked(pair)), self.teller.node_of(pair, differs)
                    return Verdict((found,), None, count)
        return Verdict(pairs=count)

    def asked_again(self) -> list[Term]:
        """The questions that were asked more than once on the way to the difference that was found."""
        times = Counter(self.questions)
        return [term for term in times if times[term] > 1]

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
                yield from self._fork(pair, question)
                return
            kind = pair.event_old.kind
            following = self.joint.together(pair)
            if following is not None:
                yield from (one for one in following if self._is_new(one))
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
        other = pair.copy()
        for one, answer in ((pair, True), (other, False)):
            one.facts = {**one.facts, question.term: answer}
            one.asked = Asked(question.term, one.asked)
            note = self.teller.note(one, question)
            if note is not None:
                one.trail = Trail(note, one.trail)
            yield one


def _asked(pair: Pair) -> Iterator[Term]:
    at = pair.asked
    while at is not None:
        yield at.term
        at = at.before
