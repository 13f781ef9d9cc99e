"""Conditions of several calls of ``initialize`` as one: what holds in any of the cases, said as shortly as it goes."""

from __future__ import annotations

from itertools import permutations

from ...units.conditions import FALSE, Term, conjunction, conjuncts, negation


def without_opposites(cases: list[list[Term]]) -> list[list[Term]]:
    """Fewer cases that say the same, or shorter ones: one that says all that another says, and more, is that; and where
    a case says but one thing that another denies, the other need not deny it (``a or not a and b`` is ``a or b``, as
    in the arms of ``if … elif …``)."""
    for one, other in permutations(cases, 2):
        mine = _beyond(one, other)
        if not mine:
            return without_opposites([case for case in cases if case is not other])
        denied = [term for term in other if _opposites(mine[0], term)]
        if len(mine) == 1 and denied:
            rest = [term for term in other if term is not denied[0]]
            return without_opposites([rest if case is other else case for case in cases])
    return cases


def _beyond(one: list[Term], other: list[Term]) -> list[Term]:
    """The conditions of one case that another does not have."""
    return [term for term in one if term.value is None and term.text not in {x.text for x in other}]


def _opposites(one: Term, other: Term) -> bool:
    return negation(one).text == other.text or negation(other).text == one.text


def either(cases: list[list[Term]]) -> Term:
    """``a or b`` of the conditions of several initialize calls; what all have in common is said once."""
    live = [[t for t in case if t.value is None] for case in cases if not any(t.value is False for t in case)]
    if not live:
        return FALSE
    live = without_opposites([conjuncts(case) for case in without_opposites(live)])
    common = [t for t in live[0] if all(t.text in {x.text for x in case} for case in live)]
    texts = {t.text for t in common}
    rest = [conjunction([t for t in case if t.text not in texts]) for case in live]
    if any(t.value for t in rest) or any(negation(t).text in {x.text for x in rest} for t in rest):
        return conjunction(common)
    kept = list({t.text: t for t in rest}.values())
    if len(kept) == 1:
        return conjunction([*common, kept[0]])
    either = Term(" or ".join(t.inside(2) for t in kept), 1, boolean=all(t.boolean for t in kept))
    return conjunction([*common, either])
