"""A rough search first, that remembers more and more: counterexample-guided refinement (Clarke et al. 2000).

Most answers are forgotten at once, and all values that no condition of mixed precision hangs on. That leaves fewer
states, and paths that no run can take. What differs on one of those proves nothing: what was asked on that path is
remembered from then on, until nothing differs, or nothing is left to remember.
"""

from __future__ import annotations

from collections.abc import Callable

from migrate.judge.compare.forgetting import Kept
from migrate.judge.compare.pair import Both
from migrate.judge.compare.search import MAX_PAIRS, Search
from migrate.judge.compare.telling import Allows
from migrate.judge.verdict import Verdict

MAX_ROUNDS = 12


def roughly(
    both: Both, begun: Callable[[Allows, Kept], Search], announced: Allows, allows: Allows
) -> Verdict | None:
    """What rough searches prove, or that there are too many paths even for them; None where they do not help.

    ``allows`` puts what is worth a look into the report, so it is asked last, when all is remembered that was asked on
    the way."""
    before, after = both.old.program.mattering, both.new.program.mattering
    kept, says, pairs = Kept(before.deciding | after.deciding), announced, 0
    for _ in range(MAX_ROUNDS):
        both.remember(before.those_behind(kept.names) | after.those_behind(kept.names), slim=True)
        search = begun(says, kept)
        verdict = search.run()
        pairs += verdict.pairs
        if not verdict.differences and (verdict.unknown is None or verdict.pairs > MAX_PAIRS):
            return verdict
        more = _more(kept, search)
        if not verdict.differences or pairs > MAX_PAIRS or (more == kept and says is allows):
            return None
        if more == kept:
            says = allows
        kept = more
    return None


def _more(kept: Kept, search: Search) -> Kept:
    """What to remember besides: what was asked more than once on the way to the difference, else all that was asked."""
    more = kept.with_those_of(search.asked_again())
    return more if more != kept else kept.with_those_of(search.questions)
