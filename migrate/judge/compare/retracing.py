"""A way that a rough search took, gone once more with all that may be asked for remembered: can a run take it?"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..state import Crash, LegacyRaises, Stopped, Unfollowed
from ..verdict import Difference
from .pair import Differs, Pair, Turn
from .search import Search

_MOST = 400  # pairs, of a way that is not to be found again
_AHEAD = 40  # turns that are looked through for one that fits: what is remembered is not asked again


@dataclass(frozen=True)
class Shown:
    """A difference, the node that it shows at, and the turns on the way there."""

    difference: Difference
    node: ast.AST | None
    turns: Sequence[Turn]

    def is_also(self, difference: Difference, node: ast.AST | None) -> bool:
        return self.node is node and self.difference.kind == difference.kind


class Retracing(Search):
    """Goes one way, where it parts by the turns that were taken; in both directions where it did not part there.
    ``lost``: it came to no end."""

    lost = False

    def along(self, turns: Sequence[Turn]) -> Shown | None:
        """The first difference on that way that is not announced; None where it ends without one, or is lost."""
        waiting = [(self.begun(), 0)]
        for _ in range(_MOST):
            if not waiting:
                break
            pair, gone = waiting.pop()
            try:
                ways = list(self._advance(pair))
            except (LegacyRaises, Stopped):
                continue
            except Unfollowed:
                self.lost = True
                return None
            except (Crash, Differs) as differs:
                found, node = self.teller.found(pair, differs), self.teller.node_of(pair, differs)
                differs.__traceback__ = None  # see `Search.run`
                if found is not None:
                    return Shown(found, node, pair.turns())
                continue
            waiting += reversed(_taken(ways, turns, gone))
        self.lost = bool(waiting)
        return None


def _taken(ways: list[Pair], turns: Sequence[Turn], gone: int) -> list[tuple[Pair, int]]:
    """Of several ways the one that was taken, else all; and how many turns lie behind.

    A question may go by another name where more is remembered: then the next one that was asked there."""
    ahead = range(gone, min(len(turns), gone + _AHEAD))
    for fits in (_asks_the_same, _parts_there):
        for number in ahead:
            for way in ways:
                if way.turn is not None and fits(way.turn, turns[number]):
                    return [(way, number + 1)]
    return [(way, gone) for way in (ways[::-1] if all(map(_goes_past, ways)) else ways)]


def _goes_past(way: Pair) -> bool:
    """Whether the last of its ways goes past what need not run: a loop, an evaluation."""
    return way.turn is not None and way.turn.kind in ("round", "aside")


def _parts_there(turn: Turn, other: Turn) -> bool:
    return (turn.kind, turn.at, turn.taken) == (other.kind, other.at, other.taken)


def _asks_the_same(turn: Turn, other: Turn) -> bool:
    return _parts_there(turn, other) and turn.term == other.term
