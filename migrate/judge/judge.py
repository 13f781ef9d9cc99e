"""Is a migrated module the same program? Every path of both is followed and compared."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from migrate.facts.module import Module
from migrate.facts.sites import Facts
from migrate.flow.values import Values
from migrate.judge.compare.pair import Both
from migrate.judge.compare.search import Search
from migrate.judge.compare.telling import Allows
from migrate.judge.origin import Origin
from migrate.judge.run import Runner
from migrate.judge.side import Side
from migrate.judge.verdict import Verdict
from migrate.rewrite.trace import Run


def judge(
    m: Module,
    v: Values,
    facts: Facts,
    text: str,
    runs: Sequence[Run],
    *,
    maybe_o0: Callable[[ast.Call], bool] = lambda call: True,
    scaled: bool = True,
    moved: frozenset[ast.stmt] = frozenset(),
    rescaled: frozenset[ast.AST] = frozenset(),
    allows: Allows = lambda difference, node: False,
) -> Verdict:
    """Compare the module ``m`` with its migrated ``text``; ``runs`` say which characters come from where.

    ``maybe_o0`` says of an initialize whether its level may be O0; where not ``scaled`` the new type needs no loss
    scale, and the old program is taken as if its own had been 1. ``moved`` are readers of gradients that a rule
    moved under the step's condition, ``rescaled`` clips that got another threshold instead (and calls
    of functions of the file of which that is said). ``allows`` says of a
    difference (and the node it shows at) whether the unit's report names it.
    """
    new = Module(text)
    old_side = Side(m, v)
    old_side.prepare(facts)
    new_side = Side(new, Values(new), old_side, Origin(m, new, runs))
    new_side.prepare(None)
    new_side.find_asides()
    old, fresh = Runner(old_side, True, maybe_o0, scaled), Runner(new_side, False, maybe_o0)
    both = Both(old, fresh)
    asked = {name: places | new_side.asked.get(name, set()) for name, places in old_side.asked.items()}
    once = frozenset(name for name, places in asked.items() if len(places) == 1)
    # Roughly first: answers that have no part in mixed precision, and what they hang on, are forgotten at once. That
    # leaves fewer states, and paths that no run can take: what differs on one of those proves nothing.
    kept = old_side.deciding | new_side.deciding
    old.mattering = fresh.mattering = old_side.mattering_most | new_side.mattering_most
    rough = Search(both, moved, rescaled, lambda difference, node: False, once, kept).run()
    if rough.unknown is None and not rough.differences:
        return rough
    old.mattering = fresh.mattering = old_side.mattering | new_side.mattering
    return Search(both, moved, rescaled, allows, once).run()
