"""A rough search first, that remembers more and more: counterexample-guided refinement (Clarke et al. 2000).

Most answers are forgotten at once, and all values that no condition of mixed precision hangs on. That leaves fewer
states, and paths that no run can take. What differs on one of those proves nothing: the same way is gone once more with
all remembered. If nothing differs on it then, what was asked on it is remembered from then on, until nothing differs,
or nothing is left to remember.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Sequence

from ..program.unlike import unlike
from ..terms import Term
from ..verdict import Difference, Verdict
from .forgetting import Kept
from .pair import Both, Pair, Turn
from .retracing import Retracing, Shown
from .search import MAX_PAIRS, Search
from .telling import Allows, Grants, Marked

MAX_ROUNDS = 20
_MOST_LEAST = 12  # rounds in which as little more as possible is remembered
_MAX_SHOWN = 8  # differences on one way that only are worth a look

Begun = Callable[[type[Search], Grants, Kept | None], Search]


class _NoRun(Exception):
    """A difference shows on a way that no run can take; what to remember besides."""

    def __init__(self, more: Kept) -> None:
        super().__init__(more)
        self.more = more


class Refining:
    """Searches of two programs, begun with one file: rough ones, and if these prove nothing one that remembers all.

    ``allows`` puts what is worth a look into the report: it is asked of what a run can come to. If it does, that one is
    ``announced`` from then on. ``marked`` marks what the report says so far, and gives back what goes back to that: the
    last search finds for itself what rough ones could not prove."""

    def __init__(self, both: Both, begun: Begun, announced: Allows, allows: Allows, marked: Marked) -> None:
        self.both, self.begun, self.go_back = both, begun, marked()
        self.announced, self.allows = announced, allows
        self.before, self.after = both.old.program.mattering, both.new.program.mattering
        self.kept = Kept(
            self.before.beginning | self.after.beginning | unlike(both.comparison) | both.hanging | both.switch
            | both.old.program.objects_asked | both.new.program.objects_asked
        )  # fmt: skip
        self.deciding = self.before.deciding | self.after.deciding
        self.refined = 0  # how often more was to be remembered
        self.again: frozenset[str] = frozenset()  # names of which the search knows that they are asked again
        self.lost = False  # whether the last way that was gone again came to no end
        self.real: Difference | None = None  # what differs, on a way that a run can take

    def verdict(self) -> Verdict:
        """What the searches prove, as far as the bound allows: it is one for all of them."""
        pairs = 0
        for _ in range(MAX_ROUNDS):
            self._remember_little()
            self.again = frozenset(self.both.again)
            search = self.begun(Search, self._grants, self.kept)
            try:
                verdict = search.run(MAX_PAIRS - pairs)
            except _NoRun as found:
                pairs += search.pairs
                self.kept = found.more
                continue
            pairs += search.pairs
            if self.real is not None:
                return Verdict((self.real,), None, pairs)
            if search.bounded or (verdict.unknown is None and not verdict.differences):
                return Verdict((), verdict.unknown, pairs)
            break
        self.go_back()
        self._remember_all()
        search = self.begun(Search, lambda found, node, pair: self.allows(found, node), None)
        verdict = search.run(MAX_PAIRS - pairs)
        return Verdict(verdict.differences, verdict.unknown, pairs + verdict.pairs)

    def _remember_little(self) -> None:
        self.both.remember(self._behind(self.kept.names), rough=True, values=self.kept.values)

    def _remember_all(self, asked: frozenset[str] = frozenset()) -> None:
        """All that may be asked for, and what was ``asked``."""
        self.both.remember(self.before.names | self.after.names | self._behind(self.kept.names | asked))

    def _behind(self, names: frozenset[str]) -> frozenset[str]:
        return self.before.those_behind(names) | self.after.those_behind(names)

    def _grants(self, found: Difference, node: ast.AST | None, pair: Pair) -> bool:
        """Whether a rough search goes on behind a difference."""
        if self.real is not None:
            return False
        if self.announced(found, node):
            return True
        turns = pair.turns()
        self._asks_more_again(turns)
        for _ in range(_MAX_SHOWN):
            shown = self._retraced(turns)
            if shown is None:
                break
            if self._asks_more_again(shown.turns):
                continue
            if not self.allows(shown.difference, shown.node):
                self.real = found if shown.is_also(found, node) else shown.difference
                return False
            if shown.is_also(found, node) or self.announced(found, node):
                return True
        more = self._more(turns)
        if more is not None:
            raise _NoRun(more)
        return self.allows(found, node)

    def _retraced(self, turns: Sequence[Turn]) -> Shown | None:
        """What differs on the way of a rough search where all is remembered."""
        self._remember_all(Kept.names_of(turn.term for turn in turns if turn.term is not None))
        shown = self._gone_again(turns, None)
        self._remember_little()
        return shown

    def _gone_again(self, turns: Sequence[Turn], kept: Kept | None) -> Shown | None:
        sides = self.both.new.evaluator.sides
        beside = sides.beside if sides is not None else None
        again = self.begun(Retracing, lambda found, node, pair: self.announced(found, node), kept)
        assert isinstance(again, Retracing)
        shown = again.along(turns)
        self.lost = again.lost
        if sides is not None:
            sides.beside = beside
        return shown

    def _needed(self, turns: Sequence[Turn], asked: Sequence[Term], whole: bool) -> Kept | None:
        """What to remember besides, of what was asked on a way, so that no difference shows on it: as little as does
        (QuickXplain, Junker 2004). None where all of it does not do."""

        def with_those(terms: Sequence[Term]) -> Kept:
            return self.kept.with_those_of(terms, whole)

        def refutes(terms: Sequence[Term]) -> bool:
            kept = with_those(terms)
            self.both.remember(self._behind(kept.names), rough=True, values=kept.values)
            return self._gone_again(turns, kept) is None and not self.lost

        def least(given: list[Term], added: bool, terms: list[Term]) -> list[Term]:
            if added and refutes(given):
                return []
            if len(terms) == 1:
                return terms
            some, others = terms[: len(terms) // 2], terms[len(terms) // 2 :]
            later = least(given + some, True, others)
            return least(given + later, bool(later), some) + later

        found = [term for term in dict.fromkeys(asked) if with_those([term]) != self.kept]
        needed = with_those(least([], False, found)) if found and refutes(found) else None
        self._remember_little()
        return needed

    def _asks_more_again(self, turns: Sequence[Turn]) -> bool:
        """Whether something was asked more than once on a way of which that was not known; from now on it is."""
        again = Kept.names_of(_twice(turns))
        more = not again <= self.both.again
        self.both.again.update(again)
        return more

    def _more(self, turns: Sequence[Turn]) -> Kept | None:
        """What to remember besides, of what was asked on the way to the difference: as little as does, or where that is
        not known what decides on mixed precision, there and everywhere; what was asked more than once; all. None where
        all is remembered."""
        asked, twice = [turn.term for turn in turns if turn.term is not None], _twice(turns)
        decide = [term for term in asked if not self.deciding.isdisjoint(Kept.names_of([term]))]
        if self.refined < _MOST_LEAST and not self.lost:
            self.refined += 1
            for terms, whole in ((decide, False), (asked, False), (asked, True)):
                if (least := self._needed(turns, terms, whole)) is not None:
                    return least
        every = [self.kept.with_those_of(decide), Kept(self.kept.names | self.deciding, self.kept.values)]
        every += (self.kept.with_those_of(terms, whole) for whole in (False, True) for terms in (twice, asked))
        for more in every:
            if more != self.kept:
                return more
        return self.kept if self.both.again != self.again else None


def _twice(turns: Sequence[Turn]) -> list[Term]:
    """The questions that were asked more than once on a way."""
    times = Counter(turn.term for turn in turns if turn.term is not None)
    return [term for term in times if times[term] > 1]
