"""A rough search first, that remembers more and more: counterexample-guided refinement (Clarke et al. 2000).

Most answers are forgotten at once, and all values that no condition of mixed precision hangs on. That leaves fewer
states, and paths that no run can take. What differs on one of those proves nothing: what was asked on that path is
remembered from then on, until nothing differs, or nothing is left to remember.
"""

from __future__ import annotations

from collections.abc import Callable

from ..verdict import Verdict
from .forgetting import Kept
from .pair import Both
from .search import MAX_PAIRS, Search
from .telling import Allows

MAX_ROUNDS = 20


def roughly(
    both: Both, begun: Callable[[Allows, Kept], Search], announced: Allows, allows: Allows
) -> Verdict | None:
    """What rough searches prove, or that there are too many paths even for them; None where they do not help.

    ``allows`` puts what is worth a look into the report: it is asked when all is remembered that was asked on the way
    to a difference. If it does, all begins anew, and this one is ``announced``."""
    before, after = both.old.program.mattering, both.new.program.mattering
    first = kept = Kept(before.deciding | after.deciding)
    pairs = 0
    for _ in range(MAX_ROUNDS):
        names = before.those_behind(kept.names) | after.those_behind(kept.names)
        both.remember(names, rough=True, values=kept.values)
        search = begun(announced, kept)
        verdict = search.run()
        pairs += verdict.pairs
        if not verdict.differences and (verdict.unknown is None or verdict.pairs > MAX_PAIRS):
            return verdict
        if not verdict.differences or pairs > MAX_PAIRS:
            return None
        more, again = _more(kept, search), Kept.names_of(search.asked_again())
        if not again <= both.again:
            both.again.update(again)
        elif more == kept:
            if not allows(verdict.differences[0], search.at):
                return None
            more = first
        kept = more
    return None


def _more(kept: Kept, search: Search) -> Kept:
    """What to remember besides: what was asked more than once on the way to the difference, else all that was asked."""
    more = kept.with_those_of(search.asked_again())
    return more if more != kept else kept.with_those_of(search.questions)
